package untrusted

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// mediaWord at the start of a line makes some programs that read a tool's output attach the file named after it.
const mediaWord = "media"

// mediaPrefixes are the characters that may precede the word.
const mediaPrefixes = " \t`'\"*->#+~|(["

// defuseMedia writes MEDIA: at the start of a line as [MEDIA]: instead.
func defuseMedia(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r == ':' || r >= utf8.RuneSelf }) {
		return s
	}
	lines := strings.Split(s, "\n")
	changed := false
	for i, line := range lines {
		if from, to, ok := mediaAt(line); ok {
			lines[i] = line[:from] + "[MEDIA]" + line[to:]
			changed = true
		}
	}
	if !changed {
		return s
	}
	return strings.Join(lines, "\n")
}

// mediaAt finds the word MEDIA, in whatever form, that begins line and is
// followed by a colon. Quotes, bullets and blanks before it do not count.
func mediaAt(line string) (from, to int, ok bool) {
	if !mayBeMedia(line) {
		return 0, 0, false
	}
	head := strings.TrimLeftFunc(line, unicode.IsSpace)
	skipped := len(line) - len(head)
	line = head
	const enough = 256 // bytes; the word is not longer, however it is written
	if len(head) > enough {
		head = strings.ToValidUTF8(head[:enough], "")
	}
	f := fold(head)
	start := 0
	for start < len(f.runes) && strings.ContainsRune(mediaPrefixes, f.runes[start]) {
		start++
	}
	i := start
	for _, want := range mediaWord {
		for i < len(f.runes) && f.runes[i] == ' ' && i > start && !isBlank(line[f.at(i)]) {
			i++ // an invisible character within the word
		}
		if i == len(f.runes) || !sameMedia(max(f.runes[i], -f.runes[i]), want) {
			return 0, 0, false
		}
		i++
	}
	end := i
	for i < len(f.runes) && (f.runes[i] == ' ' || f.runes[i] == '\t') {
		i++
	}
	if i == len(f.runes) || !isColon(f.runes[i]) {
		return 0, 0, false
	}
	return skipped + f.at(start), skipped + f.at(end), true
}

// mayBeMedia reports whether line may be media. It looks only at the first letter, to rule out most lines
// quickly.
func mayBeMedia(line string) bool {
	for _, r := range line {
		switch {
		case r >= utf8.RuneSelf:
			return true
		case r <= ' ' || strings.ContainsRune(mediaPrefixes, r):
		default:
			return r == 'M' || r == 'm'
		}
	}
	return false
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' }

// sameMedia reports whether the folded rune got reads as the letter want of
// the word.
func sameMedia(got, want rune) bool {
	switch want {
	case 'm':
		return got == 'm' || got == 'м' || got == 'ᴍ' || got == 'ꮇ'
	case 'i':
		return got == 'i' || got == 'l' || got == '|'
	}
	return got == want
}

func isColon(r rune) bool { return strings.ContainsRune(":∶꞉ː։׃᛬⁚", r) }
