package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
)

func isTextType(mediaType string) bool {
	switch mediaType {
	case "text/html", "application/xhtml+xml", "text/plain", "text/markdown", "text/x-markdown", "text/csv":
		return true
	}
	return isJSON(mediaType) || isXML(mediaType)
}

func isJSON(mediaType string) bool {
	return mediaType == "application/json" || mediaType == "text/json" || strings.HasSuffix(mediaType, "+json")
}

func isXML(mediaType string) bool {
	return mediaType == "application/xml" || mediaType == "text/xml" || strings.HasSuffix(mediaType, "+xml") &&
		mediaType != "image/svg+xml"
}

func unreadableError(a fetchedPage) error {
	return fmt.Errorf("%s is no text but %s: %w", a.url.Host, a.mediaType, ErrNeedsBrowser)
}

// toPage converts a response to a page.
func (a fetchedPage) toPage(ctx context.Context, whole bool) (Page, error) {
	p := Page{URL: a.url.String(), Type: a.mediaType}
	switch {
	case a.mediaType == "text/html" || a.mediaType == "application/xhtml+xml":
		if err := a.readHTML(ctx, &p, whole); err != nil {
			return Page{}, err
		}
	case isXML(a.mediaType):
		a.readXML(ctx, &p)
	case isJSON(a.mediaType):
		p.Text = indentJSON(a.text())
	default:
		p.Text = a.text()
	}
	p.Text = strings.TrimSpace(strings.ReplaceAll(p.Text, "\r\n", "\n"))
	if p.Text == "" {
		return Page{}, fmt.Errorf("%s sent nothing that can be read: %w", a.url.Host, ErrNeedsBrowser)
	}
	return p, nil
}

// text returns the body as UTF-8. The encoding comes from a byte order mark, the header or the document, in this
// order; otherwise it is UTF-8 if valid, else Windows-1252, as in browsers (HTML, "Determining the character
// encoding").
func (a fetchedPage) text() string {
	contentType := a.mediaType
	if a.charset != "" {
		contentType += "; charset=" + a.charset
	}
	enc, name, certain := charset.DetermineEncoding(a.body[:min(len(a.body), 1024)], contentType)
	if name == "utf-8" || !certain && utf8.Valid(a.body) {
		return strings.ToValidUTF8(strings.TrimPrefix(string(a.body), "\ufeff"), "\ufffd")
	}
	decoded, err := enc.NewDecoder().Bytes(a.body)
	if err != nil {
		return strings.ToValidUTF8(string(a.body), "\ufffd")
	}
	return strings.TrimPrefix(string(decoded), "\ufeff")
}

// maxIndentedJSON is the maximum size of JSON, in bytes, that is indented.
const maxIndentedJSON = 1 << 20

// maxJSONDepth is the maximum nesting of JSON that is indented, because the indented size grows with the depth.
const maxJSONDepth = 50

// indentJSON returns JSON with one member per line, or text unchanged if it is not JSON or nested too deeply.
func indentJSON(text string) string {
	var b bytes.Buffer
	if jsonDepth(text) > maxJSONDepth || len(text) > maxIndentedJSON || json.Indent(&b, []byte(text), "", " ") != nil {
		return text
	}
	return b.String()
}

// jsonDepth returns the nesting depth of JSON. It also counts brackets in strings.
func jsonDepth(text string) int {
	deepest, now := 0, 0
	for _, c := range []byte(text) {
		switch c {
		case '[', '{':
			now++
			deepest = max(deepest, now)
		case ']', '}':
			now--
		}
	}
	return deepest
}

// contextReader returns a reader that fails when ctx ends, so that parsing stops as well.
func contextReader(ctx context.Context, r io.Reader) io.Reader {
	return readerFunc(func(p []byte) (int, error) {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		return r.Read(p)
	})
}

// readerFunc is a function that implements io.Reader.
type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
