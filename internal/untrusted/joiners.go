package untrusted

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// joinerScripts are the scripts in which joiners and non-joiners change the shape of letters (RFC 5892, appendix A,
// and Unicode's UAX 31).
var joinerScripts = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko, unicode.Mandaic, unicode.Hanifi_Rohingya,
	unicode.Adlam,
	unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu,
	unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Tibetan, unicode.Balinese,
	unicode.Javanese,
}

// unspacedScripts are the scripts that put no spaces between words, and sometimes use zero-width spaces.
var unspacedScripts = []*unicode.RangeTable{
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan,
	unicode.Javanese, unicode.Balinese,
}

// leftwardScripts are the scripts written from right to left.
var leftwardScripts = []*unicode.RangeTable{
	unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko, unicode.Samaritan, unicode.Mandaic,
	unicode.Adlam, unicode.Hanifi_Rohingya,
}

// flagTags are the tag sequences of flags of regions, including their end.
var flagTags = []string{flagSequence("gbeng"), flagSequence("gbsct"), flagSequence("gbwls")}

func flagSequence(s string) string {
	return strings.Map(func(r rune) rune { return 0xE0000 + r }, s) + "\U000E007F"
}

const (
	joiner     = 0x200D
	textStyle  = 0xFE0E
	emojiStyle = 0xFE0F
)

// neededLength returns the number of bytes at s[at:], where the hidden character r of that size is, that normal
// writing needs; 0 if none. Except in emoji, two consecutive hidden characters are never needed, so that nothing can
// be encoded with them.
func neededLength(s string, at int, r rune, size int) int {
	before, _ := utf8.DecodeLastRuneInString(s[:at])
	after, n := utf8.DecodeRuneInString(s[at+size:])
	if r >= 0xE0020 {
		return flagLength(s, at, before)
	}
	if r == emojiStyle && after == joiner && isPictorial(before) && isPictorial(firstRune(s[at+size+n:])) {
		return size + n // as in the heart-on-fire emoji
	}
	if isHidden(before) || isHidden(after) {
		return 0
	}
	ok := false
	switch r {
	case 0x200C:
		ok = unicode.In(before, joinerScripts...)
	case joiner:
		ok = unicode.In(before, joinerScripts...) || isPictorial(before) && isPictorial(after)
	case 0x200B:
		ok = unicode.In(before, unspacedScripts...) && unicode.In(after, unspacedScripts...)
	case 0x200E, 0x200F, 0x061C:
		ok = besideLeftward(s, at, size)
	case textStyle, emojiStyle:
		ok = isPictorial(before) || strings.ContainsRune("0123456789#*", before)
	case 0x180B, 0x180C, 0x180D, 0x180E, 0x180F:
		ok = unicode.Is(unicode.Mongolian, before)
	case 0x115F, 0x1160:
		ok = isJamo(before) || isJamo(after)
	case 0x17B4, 0x17B5:
		ok = unicode.Is(unicode.Khmer, before)
	}
	if !ok {
		return 0
	}
	return size
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// flagLength returns the length of a flag's tag sequence at s[at:]; 0 if there is none.
func flagLength(s string, at int, before rune) int {
	const blackFlag = 0x1F3F4
	for _, tags := range flagTags {
		if before == blackFlag && strings.HasPrefix(s[at:], tags) {
			return len(tags)
		}
	}
	return 0
}

// isPictorial reports whether r is a pictograph used in emoji, or a skin tone modifier.
func isPictorial(r rune) bool {
	return unicode.In(r, unicode.So, unicode.Sm) || r >= 0x1F3FB && r <= 0x1F3FF || r == 0x203C || r == 0x2049 ||
		r == 0x3030 || r == 0x303D
}

func isJamo(r rune) bool {
	return r >= 0x1100 && r <= 0x11FF && r != 0x115F && r != 0x1160 || r >= 0xA960 && r <= 0xA97F || r >= 0xD7B0 &&
		r <= 0xD7FF
}

// besideLeftward reports whether the line of the mark at s[at:] contains a letter of a right-to-left script before
// the next hidden characters on either side.
func besideLeftward(s string, at, size int) bool {
	for i := at; i > 0; {
		r, n := utf8.DecodeLastRuneInString(s[:i])
		switch {
		case r == '\n' || isHidden(r):
			i = 0
		case unicode.In(r, leftwardScripts...):
			return true
		}
		i -= n
	}
	for _, r := range s[at+size:] {
		switch {
		case r == '\n' || isHidden(r):
			return false
		case unicode.In(r, leftwardScripts...):
			return true
		}
	}
	return false
}
