package web

import (
	"cmp"
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"clank/internal/untrusted"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
)

// maxFeedEntries is the number of entries of a feed that are shown.
const maxFeedEntries = 100

// feedDocument contains the supported parts of RSS 2.0, RSS 1.0 (RDF) and Atom (RFC 4287).
type feedDocument struct {
	XMLName   xml.Name
	Title     string      `xml:"title"`
	Channel   feedChannel `xml:"channel"`
	Items     []feedEntry `xml:"item"`
	EntryList []feedEntry `xml:"entry"`
}

type feedChannel struct {
	Title string      `xml:"title"`
	Items []feedEntry `xml:"item"`
}

type feedEntry struct {
	Title     string     `xml:"title"`
	Links     []feedLink `xml:"link"`
	Date      string     `xml:"pubDate"`
	Published string     `xml:"published"`
	Updated   string     `xml:"updated"`
	About     string     `xml:"description"`
	Summary   string     `xml:"summary"`
	Content   string     `xml:"content"`
}

type feedLink struct {
	Href string `xml:"href,attr"`
	Rel  string `xml:"rel,attr"`
	Text string `xml:",chardata"`
}

// readXML converts a feed to a list, and keeps other XML unchanged.
func (a fetchedPage) readXML(ctx context.Context, p *Page) {
	// The header or a byte order mark takes precedence over the document's own declaration.
	var in io.Reader = strings.NewReader(string(a.body))
	inner := charset.NewReaderLabel
	if _, _, certain := charset.DetermineEncoding(nil, "text/xml; charset="+a.charset); certain ||
		strings.HasPrefix(string(a.body), "\xff\xfe") || strings.HasPrefix(string(a.body), "\xfe\xff") {
		in = strings.NewReader(a.text())
		inner = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	}
	dec := xml.NewDecoder(contextReader(ctx, in))
	dec.Strict = false
	dec.CharsetReader = inner
	dec.Entity = xml.HTMLEntity
	var f feedDocument
	if err := dec.Decode(&f); err != nil || !f.isKnown() {
		p.Text = a.text()
		return
	}
	f.writePage(p, a.url)
}

func (f feedDocument) isKnown() bool {
	return slices.Contains([]string{"rss", "RDF", "feed"}, f.XMLName.Local)
}

func (f feedDocument) writePage(p *Page, base *url.URL) {
	p.Title = cmp.Or(markupText(f.Title), markupText(f.Channel.Title))
	entries := append(append(f.Channel.Items, f.Items...), f.EntryList...)
	var b strings.Builder
	for i, e := range entries {
		if i == maxFeedEntries {
			fmt.Fprintf(&b, "\n(%d further entries)\n", len(entries)-maxFeedEntries)
			break
		}
		e.writeMarkdown(&b, base)
	}
	if p.Text = b.String(); p.Text == "" {
		p.Text = "(a feed without entries)"
	}
}

func (e feedEntry) writeMarkdown(b *strings.Builder, base *url.URL) {
	title := cmp.Or(markupText(e.Title), "(without a title)")
	fmt.Fprintf(b, "- %s", title)
	if at := e.address(base); at != "" {
		fmt.Fprintf(b, " <%s>", at)
	}
	if date := firstNonBlank(e.Date, e.Published, e.Updated); date != "" {
		fmt.Fprintf(b, " (%s)", date)
	}
	b.WriteByte('\n')
	if about := markupText(firstNonBlank(e.About, e.Summary, e.Content)); about != "" {
		fmt.Fprintf(b, "  %s\n", untrusted.Shorten(about, 500))
	}
}

func (e feedEntry) address(base *url.URL) string {
	for _, l := range e.Links {
		if l.Rel != "" && l.Rel != "alternate" {
			continue
		}
		if u, err := base.Parse(firstNonBlank(l.Href, l.Text)); err == nil && checkReadable(u) == nil {
			return u.String()
		}
	}
	return ""
}

// firstNonBlank returns the first text that is not blank.
func firstNonBlank(texts ...string) string {
	for _, t := range texts {
		if t = strings.TrimSpace(t); t != "" {
			return t
		}
	}
	return ""
}

// maxFeedMarkup is the number of bytes of HTML in a feed entry that are parsed.
const maxFeedMarkup = 32 << 10

// markupText returns the text at the beginning of an HTML fragment on one line.
func markupText(markup string) string {
	doc, err := html.Parse(strings.NewReader(markup[:min(len(markup), maxFeedMarkup)]))
	if err != nil {
		return ""
	}
	tidyDocument(doc)
	return strings.ToValidUTF8(strings.Join(strings.Fields(textOf(doc)), " "), "\ufffd")
}
