package web

import (
	"net/url"
	"slices"
	"strings"

	"clank/internal/untrusted"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// tidyResult is what tidyDocument found.
type tidyResult struct {
	elements int
	scripts  bool
}

// tidyDocument removes what people do not read (scripts, styles, comments, hidden elements) from a document, and
// replaces images by their alternative texts.
func tidyDocument(doc *html.Node) tidyResult {
	var s tidyResult
	removeNodes(doc, func(n *html.Node) bool {
		if n.Type != html.ElementNode {
			return n.Type == html.CommentNode
		}
		s.elements++
		s.scripts = s.scripts || n.DataAtom == atom.Script
		return isUnread(n) || isHidden(n)
	})
	var pictures []*html.Node
	for n := range doc.Descendants() {
		if n.DataAtom == atom.Img {
			pictures = append(pictures, n)
		}
	}
	for _, n := range pictures {
		if alt := strings.Join(strings.Fields(attrOf(n, "alt")), " "); alt != "" {
			n.Parent.InsertBefore(&html.Node{Type: html.TextNode, Data: "(picture: " + untrusted.Shorten(alt, 200) + ")"}, n)
		}
		n.Parent.RemoveChild(n)
	}
	return s
}

// removeNodes removes the nodes for which gone is true, with their children.
func removeNodes(root *html.Node, gone func(*html.Node) bool) {
	var out []*html.Node
	for n := root.FirstChild; n != nil; {
		if gone(n) {
			out = append(out, n)
		} else if n.FirstChild != nil {
			n = n.FirstChild
			continue
		}
		n = nextOutside(n, root)
	}
	for _, n := range out {
		n.Parent.RemoveChild(n)
	}
}

// nextOutside returns the node that follows the subtree of n, within root.
func nextOutside(n, root *html.Node) *html.Node {
	for n != root {
		if n.NextSibling != nil {
			return n.NextSibling
		}
		n = n.Parent
	}
	return nil
}

// textlessElements are the elements without readable text.
var textlessElements = []atom.Atom{
	atom.Script, atom.Style, atom.Template, atom.Noscript, atom.Iframe, atom.Object, atom.Embed, atom.Svg, atom.Math,
	atom.Canvas, atom.Video,
	atom.Audio, atom.Select, atom.Textarea, atom.Input,
}

// isUnread reports whether an element has no readable text.
func isUnread(n *html.Node) bool {
	return slices.Contains(textlessElements, n.DataAtom) || n.DataAtom == atom.Dialog && !hasAttr(n, "open")
}

// isHidden reports whether an element is hidden by its own attributes. Style sheets are not considered.
func isHidden(n *html.Node) bool {
	if n.DataAtom == atom.Body || n.DataAtom == atom.Html {
		return false // pages that are hidden until a script has run still contain their text
	}
	return hasAttr(n, "hidden") || hidingStyle(attrOf(n, "style"))
}

func hidingStyle(style string) bool {
	for declaration := range strings.SplitSeq(strings.ToLower(style), ";") {
		name, value, _ := strings.Cut(declaration, ":")
		value = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "!important"))
		switch strings.TrimSpace(name) {
		case "display":
			if value == "none" {
				return true
			}
		case "visibility":
			if value == "hidden" || value == "collapse" {
				return true
			}
		case "opacity", "font-size", "max-height", "width", "height":
			if slices.Contains([]string{"0", "0px", "0%", "0em", "0.0", "1px"}, value) {
				return true
			}
		case "left", "top", "text-indent", "margin-left":
			if strings.HasPrefix(value, "-") && len(strings.TrimRight(value, "pxemr%vhw")) >= len("-999") {
				return true
			}
		}
	}
	return false
}

// resolveLinks makes the links of a document absolute.
func resolveLinks(doc *html.Node, base *url.URL) {
	for n := range doc.Descendants() {
		if n.DataAtom == atom.A {
			resolveLink(n, base)
		}
	}
}

// resolveLink makes a link absolute, or removes its address if it does not lead to a page.
func resolveLink(n *html.Node, base *url.URL) {
	for i, a := range n.Attr {
		if a.Key != "href" {
			continue
		}
		u, err := base.Parse(strings.TrimSpace(a.Val))
		if err != nil || len(a.Val) > maxAddressChars || u.Host == "" || checkReadable(u) != nil {
			n.Attr = slices.Delete(n.Attr, i, i+1)
			return
		}
		n.Attr[i].Val = u.String()
		return
	}
}
