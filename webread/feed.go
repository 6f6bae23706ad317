package webread

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
)

// maxEntries is how many entries of a feed are shown, the first.
const maxEntries = 100

// feed is RSS 2.0, RSS 1.0 (RDF) or Atom (RFC 4287), as far as it is read.
type feed struct {
	XMLName   xml.Name
	Title     string  `xml:"title"`
	Channel   channel `xml:"channel"`
	Items     []entry `xml:"item"`
	EntryList []entry `xml:"entry"`
}

type channel struct {
	Title string  `xml:"title"`
	Items []entry `xml:"item"`
}

type entry struct {
	Title     string `xml:"title"`
	Links     []link `xml:"link"`
	Date      string `xml:"pubDate"`
	Published string `xml:"published"`
	Updated   string `xml:"updated"`
	About     string `xml:"description"`
	Summary   string `xml:"summary"`
	Content   string `xml:"content"`
}

type link struct {
	Href string `xml:"href,attr"`
	Rel  string `xml:"rel,attr"`
	Text string `xml:",chardata"`
}

// readXML shows a feed as a list, and other XML as it is.
func (a answer) readXML(ctx context.Context, p *Page) {
	// The header, or a byte order mark, goes before what the document says of itself; only without both the prolog counts.
	var in io.Reader = strings.NewReader(string(a.body))
	inner := charset.NewReaderLabel
	if _, _, certain := charset.DetermineEncoding(nil, "text/xml; charset="+a.charset); certain || strings.HasPrefix(string(a.body), "\xff\xfe") || strings.HasPrefix(string(a.body), "\xfe\xff") {
		in = strings.NewReader(a.text())
		inner = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	}
	dec := xml.NewDecoder(stopping(ctx, in))
	dec.Strict = false
	dec.CharsetReader = inner
	dec.Entity = xml.HTMLEntity
	var f feed
	if err := dec.Decode(&f); err != nil || !f.known() {
		p.Text = a.text()
		return
	}
	f.show(p, a.url)
}

func (f feed) known() bool {
	switch f.XMLName.Local {
	case "rss", "RDF", "feed":
		return true
	}
	return false
}

func (f feed) show(p *Page, base *url.URL) {
	p.Title = words(f.Title)
	if p.Title == "" {
		p.Title = words(f.Channel.Title)
	}
	entries := append(append(f.Channel.Items, f.Items...), f.EntryList...)
	var b strings.Builder
	for i, e := range entries {
		if i == maxEntries {
			fmt.Fprintf(&b, "\n(%d further entries)\n", len(entries)-maxEntries)
			break
		}
		e.show(&b, base)
	}
	if p.Text = b.String(); p.Text == "" {
		p.Text = "(a feed without entries)"
	}
}

func (e entry) show(b *strings.Builder, base *url.URL) {
	title := words(e.Title)
	if title == "" {
		title = "(without a title)"
	}
	fmt.Fprintf(b, "- %s", title)
	if at := e.address(base); at != "" {
		fmt.Fprintf(b, " <%s>", at)
	}
	if date := first(e.Date, e.Published, e.Updated); date != "" {
		fmt.Fprintf(b, " (%s)", date)
	}
	b.WriteByte('\n')
	if about := words(first(e.About, e.Summary, e.Content)); about != "" {
		fmt.Fprintf(b, "  %s\n", clip(about, 500))
	}
}

func (e entry) address(base *url.URL) string {
	for _, l := range e.Links {
		if l.Rel != "" && l.Rel != "alternate" {
			continue
		}
		if u, err := base.Parse(first(l.Href, l.Text)); err == nil && fit(u) == nil {
			return u.String()
		}
	}
	return ""
}

// first is the first of the texts that says something.
func first(texts ...string) string {
	for _, t := range texts {
		if t = strings.TrimSpace(t); t != "" {
			return t
		}
	}
	return ""
}

// maxMarkup is how much of a piece of HTML in a feed is looked at, in bytes.
const maxMarkup = 32 << 10

// words is the text of the beginning of a piece of HTML on one line.
func words(markup string) string {
	doc, err := html.Parse(strings.NewReader(markup[:min(len(markup), maxMarkup)]))
	if err != nil {
		return ""
	}
	tidy(doc)
	return strings.ToValidUTF8(strings.Join(strings.Fields(textOf(doc)), " "), "\ufffd")
}

func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
