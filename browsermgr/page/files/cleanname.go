package files

import (
	"path"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	// maxName is how long a clean name may be, in characters.
	maxName = 200
	// maxNameBytes leaves room for what is put before a name: file systems take 255 bytes.
	maxNameBytes = 210
	// maxExtension is the longest ending, in bytes, that is kept when a name is cut.
	maxExtension = 16

	fallbackName = "download.bin"
)

// reservedNames matches names that mean a device on Windows, whatever ending they have.
var reservedNames = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])[ .]*(?:\.|$)`)
})

// CleanName makes a file name of what a page or server suggests: its last component, whichever slash it uses, in Unicode's
// normal form C, without control characters and such as cannot be seen or change the direction of writing, with one space
// where there are several, at most 200 characters and 210 bytes. It means nothing to a shell or to Windows: it begins with no
// dot, hyphen or tilde, ends with no dot, holds none of <>:"|?* and is no device. If nothing is left it is download.bin.
func CleanName(suggested string) string {
	name := strings.ToValidUTF8(suggested, "")
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	name = norm.NFC.String(strings.Map(cleanRune, name))
	name = trimName(shortenName(trimName(strings.Join(strings.Fields(name), " "))))
	if name == "" {
		return fallbackName
	}
	if strings.ContainsRune(".-~", rune(name[0])) {
		name = "_" + name[1:]
	}
	if reservedNames().MatchString(name) {
		name = trimName(shortenName("_" + name))
	}
	return name
}

// cleanRune returns the character of a name that stands for r; -1 for none.
func cleanRune(r rune) rune {
	switch {
	case unicode.IsSpace(r) && r != '\n' && r != '\r':
		return ' '
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Bidi_Control, unicode.Other_Default_Ignorable_Code_Point, unicode.Zl, unicode.Zp):
		return -1
	case strings.ContainsRune(`<>:"|?*`, r):
		return '_'
	}
	return r
}

// trimName takes off what a name may not end with, and the spaces before it. A name of dots alone is none.
func trimName(name string) string {
	return strings.TrimLeft(strings.TrimRight(name, " ."), " ")
}

// shortenName cuts a name to the limits, before its ending if that is a short one.
func shortenName(name string) string {
	if nameFits(name) {
		return name
	}
	ext := path.Ext(name)
	if len(ext) > maxExtension {
		ext = ""
	}
	stem := strings.TrimSuffix(name, ext)
	for stem != "" && !nameFits(stem+ext) {
		_, size := utf8.DecodeLastRuneInString(stem)
		stem = stem[:len(stem)-size]
	}
	return stem + ext
}

func nameFits(name string) bool {
	return len(name) <= maxNameBytes && utf8.RuneCountInString(name) <= maxName
}
