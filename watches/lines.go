package watches

import (
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Limits of what is kept of a page.
const (
	maxLines     = 1500
	maxLineChars = 500
	maxNoise     = 200
)

// lines are the pieces of a page's text that it is compared by.
func lines(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		line = strings.Join(strings.Fields(plain(line)), " ")
		if !says(line) || isLabel(line) {
			continue
		}
		if out = append(out, clip(line, maxLineChars)); len(out) == maxLines {
			break
		}
	}
	return out
}

// says reports whether there is a letter or a digit in a line.
func says(line string) bool {
	return strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// patterns are compiled once.
type patterns struct {
	link   *regexp.Regexp // of Markdown
	emph   *regexp.Regexp
	escape *regexp.Regexp
	clock  *regexp.Regexp
	ago    *regexp.Regexp
	count  *regexp.Regexp
	digits *regexp.Regexp
	label  *regexp.Regexp
}

var pattern = sync.OnceValue(func() *patterns {
	const (
		units = `(?:second|sec|minute|min|hour|hr|day|week|month|year|sekunde|minute|stunde|tag|tage|woche|monat|jahr|seconde|heure|jour|semaine|mois|an|segundo|minuto|hora|día|dia|semana|mes|año)\pL{0,2}`
		n     = `\d[\d.,]*\s?(?:k|m|mio|tsd)?\.?`
	)
	return &patterns{
		link:   regexp.MustCompile(`!?\[([^\[\]]*)\]\([^()\s]*(?:\s+"[^"]*")?\)|<https?://[^<>\s]*>`),
		emph:   regexp.MustCompile("[*_`]{1,3}"),
		escape: regexp.MustCompile(`\\([[:punct:]])`),
		clock:  regexp.MustCompile(`(?i)\b\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s?(?:am|pm|uhr|utc|gmt|cet|cest)\b)?`),
		ago:    regexp.MustCompile(`(?i)\b(?:(?:\d+|an?|one|einer?|einem) ` + units + ` ago|(?:vor|il y a|hace) (?:\d+|einer?|einem|une?|una?) ` + units + `|just now|gerade eben)\b`),
		count: regexp.MustCompile(`(?i)\b` + n + `\s(?:(?:people|persons|users|others|personen|leute)\s)?(?:(?:have|are|haben|sind)\s)?` +
			`(?:views?|viewing|viewers?|viewed|likes?|comments?|replies|shares?|followers?|online|watching|visitors?|votes?|upvotes?|points?|downloads?|` +
			`aufrufe|kommentare|besucher|zuschauer|gefällt|antworten|vues|commentaires|abonnés|visitas|comentarios|seguidores)\b`),
		digits: regexp.MustCompile(`\d+`),
		label:  regexp.MustCompile(`(?i)^(?:advertisement|advertising|sponsored|promoted|ad|ads|anzeige|werbung|publicité|annonce|publicidad|anuncio|pubblicità|reklama)[:.]?$`),
	}
})

// plain is a line of Markdown without its marks and the addresses of its links,
// which often carry numbers of the visit.
func plain(line string) string {
	p := pattern()
	line = p.link.ReplaceAllString(line, "$1")
	line = p.emph.ReplaceAllString(line, "")
	line = p.escape.ReplaceAllString(line, "$1")
	return strings.TrimLeft(line, "#>-+| \t")
}

func isLabel(line string) bool { return pattern().label.MatchString(line) }

// key is what has to differ for a line to be another: not the time of day, how
// long ago something was, or how many have seen it.
func key(line string) string {
	p := pattern()
	line = p.clock.ReplaceAllString(line, "§")
	line = p.ago.ReplaceAllString(line, "§")
	line = p.count.ReplaceAllString(line, "§")
	return strings.ToLower(line)
}

// shape is a line without its numbers.
func shape(line string) string { return pattern().digits.ReplaceAllString(key(line), "#") }

// delta is what differs between two looks at a page.
type delta struct {
	added, removed []string
}

func (d delta) empty() bool { return len(d.added) == 0 && len(d.removed) == 0 }

// compare tells what is in one of two looks only, without lines whose shape is
// noise. Lines that moved are no difference.
func compare(before, after, noise []string) delta {
	count := make(map[string]int)
	for _, l := range before {
		count[key(l)]++
	}
	var d delta
	for _, l := range after {
		if k := key(l); count[k] > 0 {
			count[k]--
		} else if !slices.Contains(noise, shape(l)) {
			d.added = append(d.added, l)
		}
	}
	for _, l := range slices.Backward(before) {
		if k := key(l); count[k] > 0 {
			count[k]--
			if !slices.Contains(noise, shape(l)) {
				d.removed = append(d.removed, l)
			}
		}
	}
	slices.Reverse(d.removed)
	return d
}

// noiseIn are the shapes of the lines that changed from one look to the next
// though hardly any time had gone by, added to those that are known. What stood
// in the place of such a line at an earlier look is noise as well.
func noiseIn(known []string, before, first, second []string) []string {
	out := slices.Clone(known)
	note := func(l string) {
		if s := shape(l); !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	d := compare(first, second, nil)
	for _, l := range slices.Concat(d.added, d.removed) {
		note(l)
	}
	places := make(map[string]bool)
	for _, look := range [][]string{first, second} {
		for l, place := range placed(look, out) {
			if slices.Contains(out, shape(l)) {
				places[place] = true
			}
		}
	}
	lost := compare(before, second, out).removed
	for l, place := range placed(before, out) {
		if places[place] && slices.Contains(lost, l) {
			note(l)
		}
	}
	if n := len(out); n > maxNoise {
		out = out[n-maxNoise:]
	}
	return out
}

// placed yields each line with the line before it that is no noise.
func placed(list, noise []string) iter.Seq2[string, string] {
	return func(yield func(l, place string) bool) {
		last := ""
		for _, l := range list {
			if !yield(l, last) {
				return
			}
			if !slices.Contains(noise, shape(l)) {
				last = key(l)
			}
		}
	}
}

// beside keeps the lines around the first that has the words, nil if none has.
// Empty words are beside everything.
func beside(all []string, words string) []string {
	words = strings.ToLower(strings.Join(strings.Fields(words), " "))
	if words == "" {
		return all
	}
	i := slices.IndexFunc(all, func(l string) bool { return strings.Contains(strings.ToLower(l), words) })
	if i < 0 {
		return nil
	}
	return all[max(0, i-2):min(len(all), i+8)]
}

func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
