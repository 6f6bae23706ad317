package files

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"
)

// FileKind is what a file is, by its name and its first bytes.
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
