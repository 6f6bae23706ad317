package vault

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// minFolded is the length, in characters, from which a secret is also looked for spaced out, with invisible characters in it, and
// backwards: a shorter one would be found where words happen to meet.
const minFolded = 8

// isSeparator reports whether a character between two others does not keep a reader from reading them as one word.
func isSeparator(r rune) bool {
	return unicode.IsSpace(r) || unicode.In(r, unicode.Cf, unicode.Variation_Selector) || strings.ContainsRune("\u034f\u115f\u1160\u3164\uffa0", r)
}

// foldedSpellings returns a secret as [foldText] leaves it, forwards and backwards; nothing if it is too short to tell.
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

// foldText takes separators out of a text and makes it lower case where that changes no lengths. Places are told if they are asked for.
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

// replaceFolded replaces secrets that are spaced out, have invisible characters in them, and both of them backwards.
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
