package place

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
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

// CleanName makes a file name of what a page or server suggests: its last component, whichever slash it uses, without
// control characters and such as change the direction of writing, at most 200 characters, never "." or "..". If nothing
// is left it is download.bin.
func CleanName(suggested string) string {
	name := strings.ToValidUTF8(suggested, "")
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	name = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, name))
	name = strings.TrimSpace(shorten(name))
	if name == "" || name == "." || name == ".." {
		return fallbackName
	}
	return name
}

// shorten cuts a name to the limits, before its ending if that is a short one.
func shorten(name string) string {
	if fits(name) {
		return name
	}
	ext := path.Ext(name)
	if len(ext) > maxExtension {
		ext = ""
	}
	stem := strings.TrimSuffix(name, ext)
	for stem != "" && !fits(stem+ext) {
		_, size := utf8.DecodeLastRuneInString(stem)
		stem = stem[:len(stem)-size]
	}
	return stem + ext
}

func fits(name string) bool {
	return len(name) <= maxNameBytes && utf8.RuneCountInString(name) <= maxName
}
