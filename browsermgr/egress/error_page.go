package egress

import (
	"html"
	"io"
	"net/http"
	"strings"
)

// writeErrorPage answers with a small page for a person. It holds no script, style or link, and the texts, which a page may have had
// a hand in, are escaped.
func writeErrorPage(w http.ResponseWriter, status int, header, value, title, text string) {
	h := w.Header()
	clear(h)
	h.Set(header, value)
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; sandbox")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	page := "<!doctype html>\n<html lang=en><meta charset=utf-8><title>" + html.EscapeString(title) + "</title>\n<h1>" + html.EscapeString(title) +
		"</h1>\n<p>" + html.EscapeString(strings.ToValidUTF8(text, "\uFFFD")) + "</p>\n"
	io.WriteString(w, page) //nolint:errcheck // a client that has gone away needs no answer
}
