package web

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"clank/internal/untrusted"

	"codeberg.org/readeck/go-readability/v2"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	// An article with at least this much text replaces its page.
	articleChars = 250
	// A page with scripts and less text than this is assumed to be rendered by them.
	emptyChars = 60
	// Larger documents are read as plain text: extracting their main part and writing Markdown takes
	// disproportionately long and cannot be canceled.
	maxElements        = 10_000
	maxWords           = 256 << 10 // bytes
	maxMarkdownEscapes = 5_000     // characters that Markdown must escape
	maxNestedElements  = 150       // depth of nested elements
	maxNestedLists     = 16        // depth of nested lists and quotations
	maxTableCells      = 20_000    // table cells, including those that fill up rows
	maxCellSpan        = 30        // columns or rows of a cell; larger values count as one
)

// readHTML extracts the readable text of a page.
func (a fetchedPage) readHTML(ctx context.Context, p *Page, whole bool) error {
	leave, err := parsing.enter(ctx, int64(len(a.body)))
	if err != nil {
		return fmt.Errorf("read the page at %s: %w", a.url.Host, err)
	}
	defer leave()
	doc, err := html.ParseWithOptions(contextReader(ctx, strings.NewReader(a.text())),
		html.ParseOptionEnableScripting(false))
	if err != nil {
		return fmt.Errorf("the page at %s cannot be read: %w", a.url.Host, ErrNeedsBrowser)
	}
	p.Title = documentTitle(doc)
	seen := tidyDocument(doc)
	text := strings.Join(strings.Fields(textOf(doc)), " ")
	if utf8.RuneCountInString(text) < emptyChars && seen.scripts {
		return fmt.Errorf("the page at %s is empty without its scripts: %w", a.url.Host, ErrNeedsBrowser)
	}
	if seen.elements > maxElements || len(text) > maxWords || countEscapes(text) > maxMarkdownEscapes ||
		isTooNested(doc) || countCells(doc) > maxTableCells {
		p.Text = plainText(doc)
		return nil
	}
	resolveLinks(doc, baseURL(doc, a.url))
	node := doc
	if !whole {
		if article := findArticle(doc, a.url, p); article != nil {
			node = article
		} else {
			removeNodes(doc, func(n *html.Node) bool { return n.DataAtom == atom.Nav || n.DataAtom == atom.Footer })
		}
	}
	p.Text, err = toMarkdown(node)
	if err != nil {
		return fmt.Errorf("the page at %s cannot be put into words: %w", a.url.Host, ErrNeedsBrowser)
	}
	if strings.TrimSpace(p.Text) == "" && p.Title != "" {
		return fmt.Errorf("the page at %s shows nothing but its title: %w", a.url.Host, ErrNeedsBrowser)
	}
	return nil
}

// findArticle returns the main article of the page, nil if it has none.
func findArticle(doc *html.Node, at *url.URL, p *Page) *html.Node {
	parser := readability.NewParser()
	article, err := parser.ParseDocument(doc, at)
	if err != nil || article.Node == nil || utf8.RuneCountInString(textOf(article.Node)) < articleChars {
		return nil
	}
	if t := article.Title(); t != "" {
		p.Title = untrusted.ShortenLine(t, 300)
	}
	p.Byline = untrusted.ShortenLine(article.Byline(), 200)
	return article.Node
}

// toMarkdown converts a tree to CommonMark with tables.
func toMarkdown(n *html.Node) (string, error) {
	conv := converter.NewConverter(converter.WithPlugins(
		base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin(),
	))
	out, err := conv.ConvertNode(n)
	return string(out), err
}

func documentTitle(doc *html.Node) string {
	for n := range doc.Descendants() {
		if n.DataAtom == atom.Title {
			return untrusted.ShortenLine(textOf(n), 300)
		}
	}
	return ""
}

// baseURL returns the URL to which links of the document are relative.
func baseURL(doc *html.Node, at *url.URL) *url.URL {
	for n := range doc.Descendants() {
		if n.DataAtom == atom.Base && attrOf(n, "href") != "" && len(attrOf(n, "href")) <= maxAddressChars {
			if u, err := at.Parse(attrOf(n, "href")); err == nil {
				return u
			}
			break
		}
	}
	return at
}

// textOf returns the text in a tree, with its blocks separated.
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

// plainText returns the text in a tree, with a line for each element that has some.
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

// isTooNested reports whether elements are nested deeper than in ordinary documents. It is only for documents of at
// most maxElements, because converting each level copies everything in it.
func isTooNested(doc *html.Node) bool {
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
		if nested > maxNestedElements || indents > maxNestedLists {
			return true
		}
	}
	return false
}

// countCells returns the number of table cells if every row were as long as the longest row of the document. It
// removes spans that are too large.
func countCells(doc *html.Node) int {
	rows, longest := 0, 0
	for n := range doc.Descendants() {
		if n.DataAtom != atom.Tr {
			continue
		}
		rows++
		wide := 0
		for c := range n.ChildNodes() {
			if c.DataAtom == atom.Td || c.DataAtom == atom.Th {
				wide += cellSpan(c, "colspan")
				rows += cellSpan(c, "rowspan") - 1
			}
		}
		longest = max(longest, wide)
	}
	return rows * longest
}

// cellSpan returns the number of columns or rows that a cell spans.
func cellSpan(cell *html.Node, name string) int {
	n, err := strconv.Atoi(strings.TrimSpace(attrOf(cell, name)))
	if err != nil || n < 1 || n > maxCellSpan {
		cell.Attr = slices.DeleteFunc(cell.Attr, func(a html.Attribute) bool { return a.Key == name })
		return 1
	}
	return n
}

// countEscapes counts the characters that Markdown must escape.
func countEscapes(text string) int {
	n := 0
	for _, r := range text {
		if strings.ContainsRune("\\`*_[]<>#~|+-!", r) {
			n++
		}
	}
	return n
}

func attrOf(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}

func hasAttr(n *html.Node, name string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
}
