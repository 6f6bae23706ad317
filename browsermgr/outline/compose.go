package outline

import (
	"fmt"
	"strings"
)

// Link is one link of a page.
type Link struct {
	Text string `json:"text"`
	URL  string `json:"url"`
	Ref  string `json:"ref"`
}

// Hole is where a frame of another process belongs: after a line, at a depth, below the element with this ref.
type Hole struct {
	Ref   string `json:"ref"`
	Line  int    `json:"line"`
	Depth int    `json:"depth"`
}

// Piece is what the script in one process says of its documents.
type Piece struct {
	Text      string `json:"text"`
	Stopped   bool   `json:"stopped"` // at the limit of characters
	Holes     []Hole `json:"frames"`
	Documents int    `json:"documents"` // embedded ones that were met so far
	Title     string `json:"title"`
	Links     []Link `json:"links"`

	// Failed says that the process gave no answer.
	Failed bool `json:"-"`
	// Number gives a document of this piece the number that refs show; nil leaves all as they are.
	Number func(document int) int `json:"-"`
	// Child is the piece that belongs below the frame element with this ref; nil if there is none.
	Child func(ref string) *Piece `json:"-"`
}

// Options says how pieces are joined.
type Options struct {
	Flat     bool // without nesting
	Depth    *int // deepest level shown
	MaxChars int  // in UTF-16 units; 0 means no limit
	Empty    string
}

// Compose joins the pieces of a page, frames in their places, and reports whether the limit of characters cut the text.
// Empty stands for a page of which there is nothing to show.
func Compose(main *Piece, opts Options) (text string, truncated bool) {
	c := composer{flat: opts.Flat, depth: opts.Depth}
	text = c.text(main)
	if text == "" {
		text = opts.Empty
	}
	text += linkList(append(main.Links, c.links...))
	if opts.MaxChars > 0 && (main.Stopped || utf16Len(text) > opts.MaxChars) {
		return cut(text, opts.MaxChars), true
	}
	return text, false
}

type composer struct {
	flat  bool
	depth *int
	links []Link
}

// text is a piece with its refs renumbered for the whole page and the frames of other processes in their places.
func (c *composer) text(p *Piece) string {
	if p.Number == nil && len(p.Holes) == 0 {
		return p.Text
	}
	lines := strings.Split(p.Text, "\n")
	holes := map[int]Hole{}
	for _, h := range p.Holes {
		holes[h.Line] = h
	}
	for i, text := range lines {
		lines[i] = p.renumber(text)
		if h, ok := holes[i]; ok && p.Child != nil {
			if child := p.Child(h.Ref); child != nil {
				lines[i] += c.embedded(child, h)
			}
		}
	}
	return strings.Join(lines, "\n")
}

// embedded is what follows a frame's own line.
func (c *composer) embedded(child *Piece, h Hole) string {
	if c.depth != nil && h.Depth > *c.depth && !c.flat {
		return ""
	}
	indent := ""
	if !c.flat {
		indent = strings.Repeat("  ", h.Depth)
	}
	if child.Failed {
		return ":\n" + indent + "- text: (this frame did not answer)"
	}
	c.links = append(c.links, child.Links...)
	inner := c.text(child)
	if inner == "" {
		return ""
	}
	colon := ":"
	if c.flat {
		colon = ""
	}
	return colon + "\n" + indent + strings.ReplaceAll(inner, "\n", "\n"+indent)
}

// renumber gives the ref of a line the document number it has in the page.
func (p *Piece) renumber(text string) string {
	l, ok := scanLine(text)
	if !ok || l.refStart == 0 || p.Number == nil {
		return text
	}
	key, err := ParseKey(l.ref(text))
	if err != nil {
		return text
	}
	key.Document = p.Number(key.Document)
	return text[:l.refStart] + key.String() + text[l.refEnd:]
}

func linkList(links []Link) string {
	if len(links) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n\nLinks:")
	for i, l := range links[:min(len(links), 100)] {
		fmt.Fprintf(&b, "\n%d. %s -> %s", i+1, l.Text, l.URL)
	}
	return b.String()
}
