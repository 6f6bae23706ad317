package files

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// FileKind classifies a file by its name and its first bytes.
type FileKind struct {
	// Type is the media type of the content (WHATWG MIME Sniffing), without parameters.
	Type string
	// Executable says that opening the file may run it: by its content or by its name.
	Executable bool
	// Mismatch says, in words for people, how name and content differ; "" if they do not.
	Mismatch string
}

// headSize is how much of a file is looked at.
const headSize = 512

// programTypes are the beginnings of files that are run.
var programTypes = []struct{ head, mediaType string }{
	{"\x7fELF", "application/x-executable"},
	{"MZ", "application/x-msdownload"},
	{"#!", "text/x-script"},
	{"\xfe\xed\xfa\xce", "application/x-mach-binary"},
	{"\xfe\xed\xfa\xcf", "application/x-mach-binary"},
	{"\xce\xfa\xed\xfe", "application/x-mach-binary"},
	{"\xcf\xfa\xed\xfe", "application/x-mach-binary"},
	{"\xca\xfe\xba\xbe", "application/x-mach-binary"},
	{"dex\n", "application/x-dex"},
	{"!<arch>\ndebian", "application/vnd.debian.binary-package"},
	{"\xed\xab\xee\xdb", "application/x-rpm"},
	{"xar!", "application/x-xar"},
	{"\x4c\x00\x00\x00\x01\x14\x02\x00", "application/x-ms-shortcut"},
	{"[Desktop Entry]", "application/x-desktop"},
	{"[InternetShortcut]", "application/x-mswinurl"},
}

// runnableExtensions are the endings of files that a double click, a shell or an office program runs.
var runnableExtensions = strings.Fields(`.exe .com .scr .pif .msi .msp .msix .appx .dll .sys .cpl .ocx .bat .cmd .ps1 .psm1 .vbs .vbe .js .jse .mjs .ws .wsf .wsh
	.hta .lnk .url .reg .inf .chm .jar .jnlp .class .apk .aab .ipa .app .dmg .pkg .mpkg .command .workflow .scpt .applescript .terminal .webloc .sh .bash .zsh
	.fish .csh .ksh .run .elf .so .dylib .desktop .appimage .deb .rpm .snap .flatpak .flatpakref .py .pyw .pyc .pyz .pl .rb .php .lua .docm .dotm .xlsm
	.xltm .xlam .xll .pptm .potm .ppam .sldm .iso .img .vhd .vhdx .gadget .application .crx .xpi .settingcontent-ms .library-ms .search-ms .theme .diagcab`)

// contentExtensions are the media types that files with these endings may have, by their beginning.
var contentExtensions = map[string][]string{
	".png": {"image/png"}, ".jpg": {"image/jpeg"}, ".jpeg": {"image/jpeg"}, ".gif": {"image/gif"}, ".webp": {"image/webp"}, ".bmp": {"image/bmp"},
	".pdf": {"application/pdf"}, ".zip": {"application/zip"}, ".docx": {"application/zip"}, ".xlsx": {"application/zip"}, ".pptx": {"application/zip"},
	".odt": {"application/zip"}, ".ods": {"application/zip"}, ".epub": {"application/zip"}, ".gz": {"application/x-gzip"}, ".tgz": {"application/x-gzip"},
	".rar": {"application/x-rar-compressed"}, ".mp4": {"video/mp4"}, ".webm": {"video/webm"}, ".wav": {"audio/wave"}, ".ogg": {"application/ogg"},
	".txt": {"text/"}, ".csv": {"text/"}, ".md": {"text/"}, ".json": {"text/"}, ".log": {"text/"}, ".xml": {"text/"}, ".html": {"text/"}, ".htm": {"text/"},
	".svg": {"text/"}, ".ics": {"text/"}, ".yaml": {"text/"}, ".yml": {"text/"},
}

// IdentifyFile says what a file of this name is that begins with head; the first 512 bytes are enough.
func IdentifyFile(name string, head []byte) FileKind {
	head = head[:min(len(head), headSize)]
	ext := strings.ToLower(path.Ext(name))
	sniffed, _, err := mime.ParseMediaType(http.DetectContentType(head))
	if err != nil {
		sniffed = "application/octet-stream"
	}
	k := FileKind{Type: sniffed, Executable: slices.Contains(runnableExtensions, ext)}
	byContent := ""
	for _, p := range programTypes {
		if bytes.HasPrefix(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), []byte(p.head)) {
			byContent, k.Type = p.mediaType, p.mediaType
		}
	}
	switch wants, known := contentExtensions[ext]; {
	case len(head) == 0:
	case byContent != "" && !k.Executable:
		k.Mismatch = fmt.Sprintf("it is named %s, and its content is a program (%s)", extensionOrNone(ext), byContent)
	case known && !slices.ContainsFunc(wants, func(w string) bool { return strings.HasPrefix(k.Type, w) }):
		k.Mismatch = fmt.Sprintf("it is named %s, and its content is %s", ext, k.Type)
	}
	k.Executable = k.Executable || byContent != ""
	return k
}

func extensionOrNone(ext string) string {
	if ext == "" {
		return "without an ending"
	}
	return ext
}

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

// CleanName makes a file name of what a page or server suggests: its last component, whichever slash it uses, in
// Unicode's normal form C, without control characters and such as cannot be seen or change the direction of writing,
// with one space where there are several, at most 200 characters and 210 bytes. It means nothing to a shell or to
// Windows: it begins with no dot, hyphen or tilde, ends with no dot, holds none of <>:"|?* and is no device. If nothing
// is left it is download.bin.
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
