package keyword

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	dictFile = "words.dict"
	listFile = "phrases.list"

	englishDict = "cmudict-en-us.dict" // of the package pocketsphinx-en-us, beside the model

	phoneWeight = 5  // powers of ten of a name's threshold for each of its phones
	minPhones   = 3  // of a name; a shorter one is in everything that is said
	maxPhones   = 12 // that count
)

// vocabulary is what a process looks for. It is not changed once it is made.
type vocabulary struct {
	names    []string
	language string // in addition to English
	dir      string // with the files for the process
	phrases  []phrase
}

// find returns the phrase that the process prints as words.
func (v *vocabulary) find(words string) (phrase, bool) {
	i := slices.IndexFunc(v.phrases, func(p phrase) bool { return p.words == words })
	if i < 0 {
		return phrase{}, false
	}
	return v.phrases[i], true
}

// vocabulary returns what processes look for that are started now.
func (s *Spotter) vocabulary() (*vocabulary, error) {
	var names []string
	var language string
	if s.speech != nil {
		names, language = s.speech()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.words != nil && s.words.language == language && slices.Equal(s.words.names, names) {
		return s.words, nil
	}
	s.vocabularies++ // processes may still be about to read the files of the one before
	also := languages[language]
	v := &vocabulary{
		names: slices.Clone(names), language: language, dir: filepath.Join(s.dir, strconv.Itoa(s.vocabularies)),
		phrases: slices.Concat(phrases, also.phrases),
	}
	known, unknown, err := v.addNames(filepath.Join(filepath.Dir(s.model), englishDict))
	if err != nil {
		return nil, err
	}
	if len(unknown) > 0 {
		s.log.Warn("names are heard only where words are understood: their sound is not known", "names", unknown)
	}
	if err := v.write(slices.Concat(pronunciations, also.spoken, known)); err != nil {
		return nil, fmt.Errorf("write the phrases: %w", err)
	}
	s.words = v
	return v, nil
}

// addNames adds the names to the phrases and returns how their words are spoken, by a dictionary of English, and which
// names have words that are not in it, or are too short.
func (v *vocabulary) addNames(dictionary string) (spoken [][2]string, unknown []string, err error) {
	if len(v.names) == 0 {
		return nil, nil, nil
	}
	var wanted []string
	for _, name := range v.names {
		wanted = append(wanted, strings.Fields(strings.ToLower(name))...)
	}
	ways, err := lookUp(dictionary, wanted)
	if err != nil {
		return nil, nil, fmt.Errorf("look up how names are spoken: %w", err)
	}
	for _, name := range v.names {
		words := strings.Fields(strings.ToLower(name))
		phones := 0
		for _, w := range words {
			if len(ways[w]) == 0 {
				phones = 0
				break
			}
			phones += len(strings.Fields(ways[w][0][1]))
		}
		if phones < minPhones {
			unknown = append(unknown, name)
			continue
		}
		forms := []string{strings.Join(words, " ")}
		if len(words) == 1 {
			for _, way := range ways[words[0]][1:] {
				forms = append(forms, way[0])
			}
		}
		for _, form := range forms {
			old, had := v.find(form)
			if had && old.kind != decoyPhrase {
				continue
			}
			v.phrases = slices.DeleteFunc(v.phrases, func(p phrase) bool { return p.words == form })
			v.phrases = append(v.phrases, phrase{form, wakePhrase, -1 - phoneWeight*min(phones, maxPhones), false})
		}
	}
	for _, w := range wanted {
		for _, way := range ways[w] {
			same := func(p [2]string) bool { return p[0] == way[0] }
			if !slices.ContainsFunc(pronunciations, same) && !slices.ContainsFunc(spoken, same) {
				spoken = append(spoken, way)
			}
		}
	}
	return spoken, unknown, nil
}

// lookUp returns all pronunciations of words, by word: each with its number and its phones.
func lookUp(dictionary string, words []string) (map[string][][2]string, error) {
	f, err := os.Open(dictionary)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	ways := map[string][][2]string{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		entry, phones, _ := strings.Cut(lines.Text(), " ")
		word, _, _ := strings.Cut(entry, "(")
		if slices.Contains(words, word) {
			ways[word] = append(ways[word], [2]string{entry, phones})
		}
	}
	return ways, lines.Err()
}

// write writes the files for the process.
func (v *vocabulary) write(spoken [][2]string) error {
	if err := os.Mkdir(v.dir, 0o700); err != nil {
		return err
	}
	var dict, list strings.Builder
	for _, p := range spoken {
		fmt.Fprintf(&dict, "%s %s\n", p[0], p[1])
	}
	for _, p := range v.phrases {
		fmt.Fprintf(&list, "%s /1e%d/\n", p.words, p.threshold)
	}
	if err := os.WriteFile(filepath.Join(v.dir, dictFile), []byte(dict.String()), 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(v.dir, listFile), []byte(list.String()), 0o600)
}
