package outline

import "strings"

// Link is one link of a page.
type Link struct {
	Text string `json:"text"`
	URL  string `json:"url"`
}

// FrameSlot places a frame of another process: after a line, at a depth, below the element with this ref.
type FrameSlot struct {
	Ref   string `json:"ref"`
	Line  int    `json:"line"`
	Depth int    `json:"depth"`
}

// Piece holds what the script in one process says of its documents.
type Piece struct {
	Text                 string      `json:"text"`
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
	Flat  bool // without nesting
	Depth *int // deepest level shown
}

// Page is a page in one piece.
type Page struct {
	Text    string
	Stopped bool // there is more than the limit of characters let through
	Links   []Link
}

// Compose joins the pieces of a page, frames in their places.
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

// text returns a piece that begins at a level, with its refs renumbered for the whole page and the frames of other processes in
// their places.
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

// renumber gives the ref of a line the number that its document has in the page.
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
