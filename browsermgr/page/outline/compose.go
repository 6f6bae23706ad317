package outline

import "strings"

// Link is a link of a page.
type Link struct {
	Text string `json:"text"`
	URL  string `json:"url"`
}

// FrameSlot is the place of an out-of-process frame: after a line, at a depth, below the element with this ref.
type FrameSlot struct {
	Ref   string `json:"ref"`
	Line  int    `json:"line"`
	Depth int    `json:"depth"`
}

// Piece is the description of the documents in one process, as the script returns it.
type Piece struct {
	Text                 string      `json:"text"`
	Stopped              bool        `json:"stopped"` // the limit of characters was reached
	Slots                []FrameSlot `json:"frames"`
	Documents            int         `json:"documents"`     // number of embedded documents seen so far
	Document             string      `json:"document"`      // the document that the piece begins with
	Found                bool        `json:"found"`         // whether the element or frame to begin with exists
	PDF                  bool        `json:"pdf"`           // a PDF, which Chromium shows in a viewer of its own
	SuspectedShadowHosts int         `json:"suspects"`      // elements that may have content the script cannot see
	CustomElements       int         `json:"custom"`        // elements that may have a role which the script cannot see
	UnseenOutside        bool        `json:"unseenOutside"` // what is named depends on documents around
	Title                string      `json:"title"`
	Token                string      `json:"token"` // identifies the root document
	Links                []Link      `json:"links"`

	// Failed reports that the process did not answer.
	Failed bool `json:"-"`
	// Number returns the number of a document of this piece in refs; nil leaves numbers unchanged.
	Number func(document int) int `json:"-"`
	// Child returns the piece for the frame element with this ref; nil if it was not read.
	Child func(ref string) *Piece `json:"-"`
}

// ComposeOptions configures Compose.
type ComposeOptions struct {
	Flat  bool // without nesting
	Depth *int // maximum level
}

// Page is a composed page.
type Page struct {
	Text    string
	Stopped bool // the limit of characters was reached
	Links   []Link
}

// Compose joins the pieces of a page, with frames in their places.
func Compose(main *Piece, opts ComposeOptions) Page {
	c := composer{flat: opts.Flat, depth: opts.Depth, links: main.Links}
	text := c.text(main, 0)
	return Page{Text: text, Stopped: main.Stopped || c.stopped, Links: c.links}
}

type composer struct {
	flat    bool
	depth   *int
	links   []Link
	stopped bool
}

// text returns the lines of a piece, starting at a level, with refs renumbered for the whole page and out-of-process
// frames inserted.
func (c *composer) text(p *Piece, level int) string {
	if p.Text == "" || p.Number == nil && len(p.Slots) == 0 && (c.depth == nil || level == 0) {
		return p.Text
	}
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
		text = renumber(p, text)
		if h, ok := holes[i]; ok && p.Child != nil {
			text += c.embedded(p.Child(h.Ref), h, level)
		}
		lines = append(lines, text)
	}
	return strings.Join(lines, "\n")
}

func (c *composer) tooDeep(level int) bool { return c.depth != nil && !c.flat && level > *c.depth }

// unreadFrame stands for the content of a frame without a piece.
const unreadFrame = "(this frame was not read: it has not loaded, or there was no time)"

// embedded returns the lines that follow a frame's own line. child is nil for a frame that was not read.
func (c *composer) embedded(child *Piece, h FrameSlot, level int) string {
	if child != nil {
		c.links = append(c.links, child.Links...)
	}
	if c.tooDeep(level + h.Depth) {
		return ""
	}
	indent := ""
	if !c.flat {
		indent = strings.Repeat("  ", h.Depth)
	}
	switch {
	case child == nil:
		return ":\n" + indent + "- text: " + unreadFrame
	case child.Failed:
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

// renumber replaces the document number in a line's ref by the document's number in the page.
func renumber(p *Piece, text string) string {
	if p.Number == nil {
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
	key.Document = p.Number(key.Document)
	return text[:l.refStart] + key.String() + text[l.refEnd:]
}
