package outline

import (
	"fmt"
	"strconv"
	"strings"
)

// Link is one link of a page.
type Link struct {
	Text string `json:"text"`
	URL  string `json:"url"`
}

// FrameSlot is where a frame of another process belongs: after a line, at a depth, below the element with this ref.
type FrameSlot struct {
	Ref   string `json:"ref"`
	Line  int    `json:"line"`
	Depth int    `json:"depth"`
}

// Piece is what the script in one process says of its documents.
type Piece struct {
	Text                 string      `json:"text"`
	Count                int         `json:"count"`   // of a numbered piece: how many refs it has
	Refs                 string      `json:"refs"`    // and the elements' own refs, in order, with spaces between; "" if these are e1, e2, …
	Stopped              bool        `json:"stopped"` // at the limit of characters
	Slots                []FrameSlot `json:"frames"`
	Documents            int         `json:"documents"` // embedded ones that were met so far
	Document             string      `json:"document"`  // the one that the piece begins with
	Found                bool        `json:"found"`     // whether there is what the piece was to begin with
	SuspectedShadowHosts int         `json:"suspects"`  // elements that may hold more than the script can see
	Title                string      `json:"title"`
	Token                string      `json:"token"` // names the root document
	Links                []Link      `json:"links"`

	// Failed says that the process gave no answer.
	Failed bool `json:"-"`
	// Number gives a document of this piece the number that refs show; nil leaves all as they are.
	Number func(document int) int `json:"-"`
	// Child is the piece that belongs below the frame element with this ref; nil if there is none.
	Child func(ref string) *Piece `json:"-"`
}

// ComposeOptions says how pieces are joined.
type ComposeOptions struct {
	Flat     bool // without nesting
	Numbered bool // refs count the elements of the page
	Depth    *int // deepest level shown
}

// NumberedRef is an element that a numbered ref stands for: its own ref in a piece.
type NumberedRef struct {
	Piece    *Piece
	LocalRef string
}

// Page is a page in one piece.
type Page struct {
	Text    string
	Stopped bool // there is more than the limit of characters let through
	Links   []Link
	Bounds  []NumberedRef // of a numbered page: what its refs e1, e2, … stand for
}

// Compose joins the pieces of a page, frames in their places.
func Compose(main *Piece, opts ComposeOptions) Page {
	if opts.Numbered && len(main.Slots) == 0 {
		return wholePage(main)
	}
	c := composer{flat: opts.Flat, numbered: opts.Numbered, depth: opts.Depth, count: map[string]int{}}
	c.links = main.Links
	text := c.text(main, 0)
	return Page{Text: text, Stopped: main.Stopped || c.stopped, Links: c.links, Bounds: c.bounds}
}

// ownRefs lists the elements' own refs.
func (p *Piece) ownRefs() []string {
	if p.Refs != "" || p.Count == 0 {
		return strings.Fields(p.Refs)
	}
	refs := make([]string, p.Count)
	for i := range refs {
		refs[i] = "e" + strconv.Itoa(i+1)
	}
	return refs
}

// wholePage returns a page of one piece, which has its numbers already.
func wholePage(p *Piece) Page {
	refs := p.ownRefs()
	bounds := make([]NumberedRef, len(refs))
	for i, ref := range refs {
		bounds[i] = NumberedRef{Piece: p, LocalRef: ref}
	}
	return Page{Text: p.Text, Stopped: p.Stopped, Links: p.Links, Bounds: bounds}
}

type composer struct {
	flat     bool
	numbered bool
	depth    *int
	links    []Link
	stopped  bool
	bounds   []NumberedRef
	count    map[string]int // refs by role and name
}

// text returns a piece that begins at a level, with its refs renumbered for the whole page and the frames of other processes in
// their places.
func (c *composer) text(p *Piece, level int) string {
	if p.Text == "" || p.Number == nil && len(p.Slots) == 0 && !c.numbered && (c.depth == nil || level == 0) {
		return p.Text
	}
	refs := p.ownRefs()
	holes := map[int]FrameSlot{}
	for _, h := range p.Slots {
		holes[h.Line] = h
	}
	given := strings.Split(p.Text, "\n")
	lines := given[:0]
	for i, text := range given {
		if c.tooDeep(level + (len(text)-len(strings.TrimLeft(text, " ")))/2) {
			continue
		}
		text = c.renumber(p, refs, text)
		if h, ok := holes[i]; ok && p.Child != nil {
			if child := p.Child(h.Ref); child != nil {
				text += c.embedded(child, h, level)
			}
		}
		lines = append(lines, text)
	}
	return strings.Join(lines, "\n")
}

func (c *composer) tooDeep(level int) bool { return c.depth != nil && !c.flat && level > *c.depth }

// embedded returns what follows a frame's own line.
func (c *composer) embedded(child *Piece, h FrameSlot, level int) string {
	c.links = append(c.links, child.Links...)
	if c.tooDeep(level + h.Depth) {
		return ""
	}
	indent := ""
	if !c.flat {
		indent = strings.Repeat("  ", h.Depth)
	}
	if child.Failed {
		return ":\n" + indent + "- text: (this frame did not answer)"
	}
	c.stopped = c.stopped || child.Stopped
	inner := c.text(child, level+h.Depth)
	if inner == "" {
		return ""
	}
	colon := ":"
	if c.flat {
		colon = ""
	}
	return colon + "\n" + indent + strings.ReplaceAll(inner, "\n", "\n"+indent)
}

// renumber gives the ref of a line the number it has in the page: its own one, or the next in order.
func (c *composer) renumber(p *Piece, refs []string, text string) string {
	if !c.numbered && p.Number == nil {
		return text
	}
	l, ok := scanLine(text)
	if !ok || l.refStart == 0 {
		return text
	}
	key, err := ParseRef(l.ref())
	if err != nil {
		return text
	}
	if !c.numbered {
		key.Document = p.Number(key.Document)
		return text[:l.refStart] + key.String() + text[l.refEnd:]
	}
	if key.Number > len(refs) {
		return text
	}
	c.bounds = append(c.bounds, NumberedRef{Piece: p, LocalRef: refs[key.Number-1]})
	ref := fmt.Sprintf("e%d]", len(c.bounds))
	same := l.role + l.quoted
	if n := c.count[same]; n > 0 {
		ref += fmt.Sprintf(" [nth=%d]", n)
	}
	c.count[same]++
	rest := text[l.refEnd+1:]
	if l.nth > 0 {
		rest = strings.TrimPrefix(rest, fmt.Sprintf(" [nth=%d]", l.nth))
	}
	return text[:l.refStart] + ref + rest
}
