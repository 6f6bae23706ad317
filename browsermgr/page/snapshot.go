package page

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// SnapshotOptions says what a snapshot shows. The zero value shows the whole page.
type SnapshotOptions struct {
	// Interactive lists only elements that can be acted on, flat.
	Interactive bool
	// Compact leaves out structure that carries no name.
	Compact bool
	// Depth, if not nil, is the deepest level of indentation shown; 0 is the root level only.
	Depth *int
	// MaxChars limits the text, in UTF-16 units, cut on a whole line and ended by a line that says TRUNCATED; 0 means no
	// limit.
	MaxChars int
	// Selector limits the snapshot to the first element that matches. No match gives an empty snapshot, not an error.
	Selector string
	// URLs appends the addresses of the links.
	URLs bool
	// Timeout bounds the whole; 0 means 20 s. A shorter context wins.
	Timeout time.Duration
}

// Snapshot is the page as text, one node a line, two spaces a level:
//
//   - role "name" [attribute] [ref=e12]: text
type Snapshot struct {
	Text      string
	URL       string
	Title     string
	Truncated bool
	// Status is the HTTP status of the document; 0 if unknown.
	Status int
}

// Ref is one ref of a snapshot.
type Ref struct {
	Ref  string
	Role string
	Name string
	// Nth counts refs of the same role and name, from 0; Dup says that there is more than one.
	Nth int
	Dup bool
}

// Refs lists the refs of the snapshot in order of appearance.
func (s Snapshot) Refs() []Ref {
	type key struct{ role, name string }
	var refs []Ref
	seen := map[key]int{}
	for line := range strings.Lines(s.Text) {
		l, ok := scanLine(strings.TrimSuffix(line, "\n"))
		if !ok || l.refStart == 0 {
			continue
		}
		k := key{l.role, l.name}
		refs = append(refs, Ref{Ref: l.ref(line), Role: l.role, Name: l.name, Nth: seen[k]})
		seen[k]++
	}
	for i, r := range refs {
		refs[i].Dup = seen[key{r.Role, r.Name}] > 1
	}
	return refs
}

// piece is what the script says of one process's documents.
type piece struct {
	Text    string `json:"text"`
	Stopped bool   `json:"stopped"`
	Frames  []hole `json:"frames"`
	Docs    int    `json:"documents"`
	Title   string `json:"title"`
	Links   []Link `json:"links"`

	session *session
	token   string
	err     error
}

// hole is where a frame of another process belongs.
type hole struct {
	Ref   string `json:"ref"`
	Line  int    `json:"line"`
	Depth int    `json:"depth"`
}

type snapshotArg struct {
	Interactive bool   `json:"interactive"`
	Compact     bool   `json:"compact"`
	Depth       *int   `json:"depth,omitempty"`
	MaxChars    int    `json:"maxChars,omitempty"`
	Selector    string `json:"selector,omitempty"`
	URLs        bool   `json:"urls,omitempty"`
}

// Snapshot describes the page, frames included. Elements keep their refs from one snapshot to the next while the document
// lives. If a dialog is open the error is a *[DialogError].
func (t *Tab) Snapshot(ctx context.Context, opts SnapshotOptions) (Snapshot, error) {
	limit := opts.Timeout
	if limit <= 0 {
		limit = 20 * time.Second
	}
	var snap Snapshot
	err := t.exclusive(ctx, limit, func(ctx context.Context) error {
		var err error
		snap, err = t.capture(ctx, opts)
		return err
	})
	if err != nil {
		return Snapshot{}, fmt.Errorf("snapshot of tab %s: %w", t.id, err)
	}
	return snap, nil
}

var errFrameChanged = errors.New("Frame changed during the capture: the page keeps navigating; retry in a moment") //nolint:staticcheck // matched on

// captureTries is how often a page may navigate under our hands before we say so.
const captureTries = 4

func (t *Tab) capture(ctx context.Context, opts SnapshotOptions) (Snapshot, error) {
	for try := 0; ; try++ {
		if err := t.awaitParsed(ctx, 3*time.Second); err != nil {
			return Snapshot{}, err
		}
		pieces, owners := t.gather(ctx, opts)
		main := pieces[t.session]
		if errors.Is(main.err, errContextLost) && try < captureTries {
			continue
		}
		var f *failure
		switch {
		case errors.Is(main.err, errContextLost):
			return Snapshot{}, errFrameChanged
		case errors.As(main.err, &f):
			return Snapshot{}, f.explain(fmt.Sprintf("selector %q", opts.Selector))
		case main.err != nil:
			return Snapshot{}, main.err
		}
		return t.compose(main, pieces, owners, opts), nil
	}
}

// gather asks all processes of the page at once.
func (t *Tab) gather(ctx context.Context, opts SnapshotOptions) (map[*session]*piece, map[string]*session) {
	arg := snapshotArg{Interactive: opts.Interactive, Compact: opts.Compact, Depth: opts.Depth, MaxChars: opts.MaxChars, URLs: opts.URLs}
	sessions := t.sessions()
	pieces := make(map[*session]*piece, len(sessions))
	owners := map[string]*session{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, s := range sessions {
		p := &piece{session: s}
		pieces[s] = p
		arg := arg
		if s == t.session {
			arg.Selector = opts.Selector
		}
		if s.parent != nil {
			// A frame that does not answer must not take the page with it.
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
				defer cancel()
				if ref, err := s.place(ctx); err == nil {
					mu.Lock()
					owners[ownerID(s.parent, ref)] = s
					mu.Unlock()
				}
				p.take(ctx, arg)
			})
			continue
		}
		wg.Go(func() { p.take(ctx, arg) })
	}
	wg.Wait()
	return pieces, owners
}

func ownerID(parent *session, ref string) string { return parent.id + " " + ref }

func (p *piece) take(ctx context.Context, arg snapshotArg) {
	s := p.session
	*p = piece{session: s}
	got, err := run[piece](ctx, s, script{fn: "snapshot", arg: arg, within: time.Minute})
	*p = got
	p.session, p.err = s, err
	s.mu.Lock()
	if s.world != nil {
		p.token = s.world.token
	}
	s.mu.Unlock()
}

// compose joins the pieces and applies the limits.
func (t *Tab) compose(main *piece, pieces map[*session]*piece, owners map[string]*session, opts SnapshotOptions) Snapshot {
	c := composer{tab: t, pieces: pieces, owners: owners, flat: opts.Interactive}
	if opts.Depth != nil {
		c.depth = opts.Depth
	}
	text := c.text(main)
	if text == "" {
		text = "(empty)"
		if opts.Interactive && opts.Selector == "" {
			text = "(no interactive elements)"
		}
	}
	if opts.URLs {
		text += linkList(append(main.Links, c.links...))
	}
	snap := Snapshot{Text: text}
	if opts.MaxChars > 0 && (main.Stopped || utf16Len(text) > opts.MaxChars) {
		snap.Text, snap.Truncated = cut(text, opts.MaxChars), true
	}
	t.mu.Lock()
	t.title = main.Title
	snap.URL, snap.Title, snap.Status = t.url, t.title, t.load.status
	t.mu.Unlock()
	return snap
}

type composer struct {
	tab    *Tab
	pieces map[*session]*piece
	owners map[string]*session
	flat   bool
	depth  *int
	links  []Link
}

// text is a piece with its refs renumbered for the whole page and the frames of other processes in their places.
func (c *composer) text(p *piece) string {
	if p.session == c.tab.session && p.Docs == 0 && len(p.Frames) == 0 {
		return p.Text
	}
	lines := strings.Split(p.Text, "\n")
	holes := map[int]hole{}
	for _, h := range p.Frames {
		holes[h.Line] = h
	}
	for i, line := range lines {
		lines[i] = c.renumber(p, line)
		if h, ok := holes[i]; ok {
			if child := c.pieces[c.owners[ownerID(p.session, h.Ref)]]; child != nil {
				lines[i] += c.embedded(child, h)
			}
		}
	}
	return strings.Join(lines, "\n")
}

// embedded is what follows a frame's own line.
func (c *composer) embedded(child *piece, h hole) string {
	if c.depth != nil && h.Depth > *c.depth && !c.flat {
		return ""
	}
	indent := ""
	if !c.flat {
		indent = strings.Repeat("  ", h.Depth)
	}
	if child.err != nil {
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

// renumber gives the ref of a line the frame number it has in the page.
func (c *composer) renumber(p *piece, line string) string {
	l, ok := scanLine(line)
	if !ok || l.refStart == 0 {
		return line
	}
	key, err := parseRef(l.ref(line))
	if err != nil {
		return line
	}
	if p.session == c.tab.session && key.frame == 0 {
		return line
	}
	c.tab.mu.Lock()
	key.frame = c.tab.numbers.number(frameKey{session: p.session, world: p.token, local: key.frame})
	c.tab.mu.Unlock()
	return line[:l.refStart] + key.String() + line[l.refEnd:]
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
