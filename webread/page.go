package webread

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"codeberg.org/readeck/go-readability/v2"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	// An article of at least this much text stands for its page.
	articleChars = 250
	// A page with scripts and less text than this is drawn by them.
	emptyChars = 60
	// Larger documents are read as plain text: finding their main part and writing Markdown takes much longer than their size
	// alone, and cannot be stopped.
	maxElements = 10_000
	maxWords    = 256 << 10 // bytes
	maxMarks    = 5_000     // characters that mean something in Markdown
	maxNested   = 150       // elements within one another
	maxIndents  = 16        // lists and quotations within one another
	maxCells    = 20_000    // of tables, with those that fill their rows
	maxSpan     = 30        // columns or rows of one cell; more count as one
)

// readHTML finds what there is to read in a page.
func (a answer) readHTML(ctx context.Context, p *Page, whole bool) error {
	doc, err := html.ParseWithOptions(stopping(ctx, strings.NewReader(a.text())), html.ParseOptionEnableScripting(false))
	if err != nil {
		return fmt.Errorf("the page at %s cannot be read: %w", a.url.Host, ErrNeedsBrowser)
	}
	p.Title = title(doc)
	seen := tidy(doc)
	text := strings.Join(strings.Fields(textOf(doc)), " ")
	if utf8.RuneCountInString(text) < emptyChars && seen.scripts {
		return fmt.Errorf("the page at %s is empty without its scripts: %w", a.url.Host, ErrNeedsBrowser)
	}
	if seen.elements > maxElements || len(text) > maxWords || marks(text) > maxMarks || tangled(doc) || cells(doc) > maxCells {
		p.Text = plainText(doc)
		return nil
	}
	follow(doc, baseOf(doc, a.url))
	node := doc
	if !whole {
		if article := mainPart(doc, a.url, p); article != nil {
			node = article
		}
	}
	if node == doc && !whole {
		remove(doc, func(n *html.Node) bool { return n.DataAtom == atom.Nav || n.DataAtom == atom.Footer })
	}
	p.Text, err = markdown(node)
	if err != nil {
		return fmt.Errorf("the page at %s cannot be put into words: %w", a.url.Host, ErrNeedsBrowser)
	}
	if strings.TrimSpace(p.Text) == "" && p.Title != "" {
		return fmt.Errorf("the page at %s shows nothing but its title: %w", a.url.Host, ErrNeedsBrowser)
	}
	return nil
}

// mainPart is the article of the page, nil if it has none worth the name.
func mainPart(doc *html.Node, at *url.URL, p *Page) *html.Node {
	parser := readability.NewParser()
	article, err := parser.ParseDocument(doc, at)
	if err != nil || article.Node == nil || utf8.RuneCountInString(textOf(article.Node)) < articleChars {
		return nil
	}
	if t := article.Title(); t != "" {
		p.Title = clip(strings.Join(strings.Fields(t), " "), 300)
	}
	p.Byline = clip(strings.Join(strings.Fields(article.Byline()), " "), 200)
	return article.Node
}

// markdown writes a tree as CommonMark with tables.
func markdown(n *html.Node) (string, error) {
	conv := converter.NewConverter(converter.WithPlugins(
		base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin(),
	))
	out, err := conv.ConvertNode(n)
	return string(out), err
}

func title(doc *html.Node) string {
	for n := range doc.Descendants() {
		if n.DataAtom == atom.Title {
			return clip(strings.Join(strings.Fields(textOf(n)), " "), 300)
		}
	}
	return ""
}

// baseOf is what links of the document are relative to.
func baseOf(doc *html.Node, at *url.URL) *url.URL {
	for n := range doc.Descendants() {
		if n.DataAtom == atom.Base && attr(n, "href") != "" && len(attr(n, "href")) <= maxAddress {
			if u, err := at.Parse(attr(n, "href")); err == nil {
				return u
			}
			break
		}
	}
	return at
}

// textOf is the text in a tree, its blocks apart.
func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// plainText is the text in a tree, a line for each element that has some.
func plainText(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type != html.TextNode {
			continue
		}
		if t := strings.Join(strings.Fields(d.Data), " "); t != "" {
			b.WriteString(t + "\n")
		}
	}
	return b.String()
}

// tangled reports whether elements are nested deeper than people nest them. It
// is for documents of at most maxElements: each level is written anew with all
// that is in it.
func tangled(doc *html.Node) bool {
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		nested, indents := 0, 0
		for up := n; up != nil; up = up.Parent {
			nested++
			if up.DataAtom == atom.Blockquote || up.DataAtom == atom.Ul || up.DataAtom == atom.Ol {
				indents++
			}
		}
		if nested > maxNested || indents > maxIndents {
			return true
		}
	}
	return false
}

// cells is how many cells tables may have if each row is as long as the longest
// one of the document. What cells span is taken from those that span too much.
func cells(doc *html.Node) int {
	rows, longest := 0, 0
	for n := range doc.Descendants() {
		if n.DataAtom != atom.Tr {
			continue
		}
		rows++
		wide := 0
		for c := range n.ChildNodes() {
			if c.DataAtom == atom.Td || c.DataAtom == atom.Th {
				wide += span(c, "colspan")
				rows += span(c, "rowspan") - 1
			}
		}
		longest = max(longest, wide)
	}
	return rows * longest
}

// span is how many columns or rows a cell fills.
func span(cell *html.Node, name string) int {
	n, err := strconv.Atoi(strings.TrimSpace(attr(cell, name)))
	if err != nil || n < 1 || n > maxSpan {
		cell.Attr = slices.DeleteFunc(cell.Attr, func(a html.Attribute) bool { return a.Key == name })
		return 1
	}
	return n
}

// marks counts the characters that Markdown has to escape.
func marks(text string) int {
	n := 0
	for _, r := range text {
		if strings.ContainsRune("\\`*_[]<>#~|+-!", r) {
			n++
		}
	}
	return n
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}

func has(n *html.Node, name string) bool {
	for _, a := range n.Attr {
		if a.Key == name {
			return true
		}
	}
	return false
}
