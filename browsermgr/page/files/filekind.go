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

// FileKind classifies a file by its name and first bytes.
type FileKind struct {
	// Type is the media type of the content (WHATWG MIME Sniffing), without parameters.
	Type string
	// Executable reports that opening the file may run it, by its content or its name.
	Executable bool
	// Mismatch describes, for people, how name and content differ; "" if they match.
	Mismatch string
}

// headSize is how many bytes of a file are inspected.
const headSize = 512

// programTypes are magic numbers of executable files.
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

// runnableExtensions are the extensions of files that a double click, a shell or an office program runs.
var runnableExtensions = strings.Fields(
	`.exe .com .scr .pif .msi .msp .msix .appx .dll .sys .cpl .ocx .bat .cmd .ps1 .psm1 .vbs .vbe .js .jse .mjs .ws .wsf .wsh
	.hta .lnk .url .reg .inf .chm .jar .jnlp .class .apk .aab .ipa .app .dmg .pkg .mpkg .command .workflow .scpt .applescript .terminal .webloc .sh .bash .zsh
	.fish .csh .ksh .run .elf .so .dylib .desktop .appimage .deb .rpm .snap .flatpak .flatpakref .py .pyw .pyc .pyz .pl .rb .php .lua .docm .dotm .xlsm
	.xltm .xlam .xll .pptm .potm .ppam .sldm .iso .img .vhd .vhdx .gadget .application .crx .xpi .settingcontent-ms .library-ms .search-ms .theme .diagcab`)

// contentExtensions are the prefixes of media types allowed for some extensions.
var contentExtensions = map[string][]string{
	".png": {"image/png"}, ".jpg": {"image/jpeg"}, ".jpeg": {"image/jpeg"}, ".gif": {"image/gif"}, ".webp": {"image/webp"},
	".bmp": {"image/bmp"},
	".pdf": {"application/pdf"}, ".zip": {"application/zip"}, ".docx": {"application/zip"}, ".xlsx": {"application/zip"},
	".pptx": {"application/zip"},
	".odt":  {"application/zip"}, ".ods": {"application/zip"}, ".epub": {"application/zip"}, ".gz": {"application/x-gzip"},
	".tgz": {"application/x-gzip"},
	".rar": {"application/x-rar-compressed"}, ".mp4": {"video/mp4"}, ".webm": {"video/webm"}, ".wav": {"audio/wave"},
	".ogg": {"application/ogg"},
	".txt": {"text/"}, ".csv": {"text/"}, ".md": {"text/"}, ".json": {"text/"}, ".log": {"text/"}, ".xml": {"text/"},
	".html": {"text/"}, ".htm": {"text/"},
	".svg": {"text/"}, ".ics": {"text/"}, ".yaml": {"text/"}, ".yml": {"text/"},
}

// IdentifyFile classifies a file by its name and head, its first bytes; 512 are enough.
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
	// maxName bounds a clean name, in characters.
	maxName = 200
	// maxNameBytes leaves room for a prefix: file systems allow 255 bytes.
	maxNameBytes = 210
	// maxExtension is the length, in bytes, of the longest extension that is kept when a name is truncated.
	maxExtension = 16

	fallbackName = "download.bin"
)

// reservedNames matches device names on Windows, with any extension.
var reservedNames = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])[ .]*(?:\.|$)`)
})

// CleanName returns a safe file name for one suggested by a page or server: its last component after any slash or
// backslash, in Unicode normalization form C, without control, invisible and bidirectional formatting characters, with
// single spaces, at most 200 characters and 210 bytes. It has no special meaning to a shell or to Windows: it does not
// begin with a dot, hyphen or tilde or end with a dot, contains none of <>:"|?* and is not a device name. If nothing is
// left it is download.bin.
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

// cleanRune returns the character that replaces r; -1 for none.
func cleanRune(r rune) rune {
	switch {
	case unicode.IsSpace(r) && r != '\n' && r != '\r':
		return ' '
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Bidi_Control, unicode.Other_Default_Ignorable_Code_Point,
		unicode.Zl, unicode.Zp):
		return -1
	case strings.ContainsRune(`<>:"|?*`, r):
		return '_'
	}
	return r
}

// trimName removes trailing dots and spaces. A name of dots only becomes empty.
func trimName(name string) string {
	return strings.TrimLeft(strings.TrimRight(name, " ."), " ")
}

// shortenName truncates a name to the limits, keeping a short extension.
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
