package vault

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// minFolded is the minimum length, in characters, of secrets that are also searched with separators, with invisible
// characters, and backwards: shorter ones would match across words by chance.
const minFolded = 8

// isSeparator reports whether readers ignore a character between two letters of a word.
func isSeparator(r rune) bool {
	return unicode.IsSpace(r) || unicode.In(r, unicode.Cf, unicode.Variation_Selector) ||
		strings.ContainsRune("\u034f\u115f\u1160\u3164\uffa0", r)
}

// foldedSpellings returns a secret in the form of [foldText], forwards and backwards; nothing if it is too short.
func foldedSpellings(n namedSecret) []namedSecret {
	runes := []rune(string(foldText(n.value, false).text))
	ours := foldText("[secret "+n.name+"]", false).text
	if len(runes) < minFolded || bytes.Contains(ours, []byte(string(runes))) {
		return nil
	}
	forwards := namedSecret{n.name, string(runes)}
	slices.Reverse(runes)
	return []namedSecret{forwards, {n.name, string(runes)}}
}

// foldText removes separators from a text, and converts it to lower case where that keeps the length. If places is
// set it returns the original positions.
func foldText(t string, places bool) decodedText {
	d := decodedText{text: make([]byte, 0, len(t))}
	for i, r := range t {
		if isSeparator(r) {
			continue
		}
		size := utf8.RuneLen(r)
		if r == utf8.RuneError {
			size = 1
		}
		for j := i; j < i+size; j++ {
			c := t[j]
			if c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
			d.text = append(d.text, c)
			if places {
				d.start, d.end = append(d.start, j), append(d.end, j+1)
			}
		}
	}
	return d
}

// replaceFolded replaces secrets that contain separators or invisible characters, or are reversed.
func (k *secretReplacer) replaceFolded(t string) string {
	if len(k.folded) == 0 || len(t) < minFolded {
		return t
	}
	text := foldText(t, false).text
	for _, word := range k.folded {
		if bytes.Contains(text, []byte(word.value)) {
			t, _ = k.replaceDecoded(t, foldText(t, true), []namedSecret{word})
		}
	}
	return t
}
