package wording

import (
	"strings"
	"unicode"
)

// longestSentence is where a sentence is cut, in characters: at a comma or a space if there is one.
const longestSentence = 240

// abbreviations end with a full stop that ends no sentence.
var abbreviations = map[string]bool{
	"mr": true, "mrs": true, "ms": true, "dr": true, "prof": true, "st": true, "vs": true, "etc": true, "e.g": true, "i.e": true,
	"no": true, "nr": true, "z.b": true, "u.a": true, "d.h": true, "bzw": true, "ca": true, "approx": true, "fig": true, "jr": true, "sr": true,
	"inc": true, "ltd": true, "sra": true, "mme": true, "p.ej": true, "jan": true, "feb": true, "aug": true, "sept": true, "oct": true, "nov": true, "dec": true,
}

// Sentences cuts text into sentences, in order. None is empty, and none is longer than 240 characters. Joined, they have all
// that the text has, but for space.
func Sentences(text string) []string {
	var out []string
	runes := []rune(strings.TrimSpace(text))
	begin := 0
	for i := 0; i < len(runes); i++ {
		end := i + 1
		switch {
		case runes[i] == '\n':
		case strings.ContainsRune("。！？", runes[i]):
			end = closing(runes, end)
		case strings.ContainsRune(".!?…", runes[i]):
			end = closing(runes, end)
			if end < len(runes) && !unicode.IsSpace(runes[end]) || runes[i] == '.' && goesOn(runes, begin, i, end) {
				continue
			}
		case i-begin+1 >= longestSentence:
			end = cut(runes, begin, end)
		default:
			continue
		}
		out = add(out, runes[begin:end])
		begin, i = end, end-1
	}
	return add(out, runes[begin:])
}

func add(out []string, runes []rune) []string {
	for len(runes) > longestSentence {
		n := cut(runes, 0, longestSentence)
		out = add(out, runes[:n])
		runes = runes[n:]
	}
	if s := strings.TrimSpace(string(runes)); s != "" {
		out = append(out, s)
	}
	return out
}

// closing goes over marks and quotes that belong to the sentence that has ended.
func closing(runes []rune, end int) int {
	for end < len(runes) && strings.ContainsRune(".!?…。！？\"')”’」』", runes[end]) {
		end++
	}
	return end
}

// goesOn says whether the full stop at i is part of an abbreviation, an initial or a number, or is followed by a small letter.
func goesOn(runes []rune, begin, i, end int) bool {
	from := i
	for from > begin && !unicode.IsSpace(runes[from-1]) {
		from--
	}
	word := strings.ToLower(strings.TrimLeft(string(runes[from:i]), `("'“„`))
	next := end
	for next < len(runes) && unicode.IsSpace(runes[next]) {
		next++
	}
	if next == len(runes) {
		return false
	}
	if word == "no" || word == "nr" { // an answer, or a number
		return unicode.IsDigit(runes[next])
	}
	initial := len([]rune(word)) == 1 && unicode.IsLetter([]rune(word)[0]) && unicode.IsUpper(runes[from]) && word != "i"
	return abbreviations[word] || initial || unicode.IsLower(runes[next])
}

// cut is the best place to end a sentence that is too long: after a mark, else a space, else anywhere.
func cut(runes []rune, begin, end int) int {
	space := 0
	for i := end - 1; i > begin+(end-begin)/2; i-- {
		if strings.ContainsRune(",;:，、；：", runes[i]) {
			return i + 1
		}
		if space == 0 && unicode.IsSpace(runes[i]) {
			space = i + 1
		}
	}
	if space > 0 {
		return space
	}
	return end
}
