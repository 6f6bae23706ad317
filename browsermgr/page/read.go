package page

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"clank/browsermgr/page/frame"
	"clank/browsermgr/page/outline"
)

// readLimit bounds reading a page.
const readLimit = 20 * time.Second

// Link is a link of a page.
type Link = outline.Link

// ReadOptions selects what to read: the element with a ref, or the first one that matches a selector, or otherwise the
// page's article, main part or body, with the frames visible in it; see [readPageText].
type ReadOptions struct {
	Ref      string
	Selector string
	MaxChars int // in UTF-16 units; 0 means no limit
	// WithoutFrames omits the frames; see [readMainDocument].
	WithoutFrames bool
}

// ReadResult is the text of a page or element as a person sees it.
type ReadResult struct {
	Text      string
	URL       string
	Truncated bool
	// Found is false if no element matches the selector.
	Found bool
}

// Read returns readable text. If a dialog is open the error is a *[DialogError].
func (t *Tab) Read(ctx context.Context, opts ReadOptions) (ReadResult, error) {
	got, err := readInTurn(ctx, t, "read", readLimit, func(ctx context.Context) (got ReadResult, err error) {
		if opts.Ref == "" {
			if err := t.awaitParsed(ctx, 3*time.Second); err != nil {
				return got, err
			}
		}
		if opts.Ref == "" && opts.Selector == "" {
			read := readPageText
			if opts.WithoutFrames {
				read = readMainDocument
			}
			got.Found = true
			got.Text, got.Truncated, err = read(ctx, t.tree.Frames())
			return got, err
		}
		got.Text, got.Found, err = t.readElement(ctx, opts)
		return got, err
	})
	if err != nil {
		return got, err
	}
	got.URL = t.URL()
	if text, cut := outline.ClipText(got.Text, opts.MaxChars); cut {
		got.Text, got.Truncated = text, true
	}
	return got, nil
}

// elementText is our script's result for an element.
type elementText struct {
	Text   string `json:"text"`
	Found  bool   `json:"found"`
	Unseen int    `json:"suspects"`
}

// SuspectedShadowHosts returns how many elements may have content in closed shadow roots that the text lacks.
func (t elementText) SuspectedShadowHosts() int { return t.Unseen }

// readElement reads the element with a ref, or the first one that matches a selector.
func (t *Tab) readElement(ctx context.Context, opts ReadOptions) (text string, found bool, err error) {
	e, err := t.locate(opts.Ref, opts.Selector)
	if err != nil {
		return "", false, err
	}
	arg := map[string]string{"ref": e.LocalRef, "selector": opts.Selector}
	got, err := frame.RunInShadows[elementText](ctx, e.Frame, frame.Script{Fn: "text", Arg: arg})
	if err != nil {
		return "", false, e.Explain(err)
	}
	return got.Text, got.Found, nil
}

// Text returns the readable text of the element with this ref, or of the page if ref is empty; see [Tab.Read].
func (t *Tab) Text(ctx context.Context, ref string) (string, error) {
	r, err := t.Read(ctx, ReadOptions{Ref: ref})
	return r.Text, err
}

// Links lists the visible links of the page; see [collectLinks].
func (t *Tab) Links(ctx context.Context) ([]Link, error) {
	return readInTurn(ctx, t, "links of", readLimit, func(ctx context.Context) ([]Link, error) {
		if err := t.awaitParsed(ctx, 3*time.Second); err != nil {
			return nil, err
		}
		return collectLinks(ctx, t.tree.Frames())
	})
}

// maxLinks bounds the number of links.
const maxLinks = 500

// collectLinks lists the visible links of a page, at most 500, each address once: those of the main document in
// document order, then those of out-of-process and cross-origin frames. frames begins with the main frame.
func collectLinks(ctx context.Context, frames []*frame.Frame) ([]outline.Link, error) {
	var links []outline.Link
	seen := map[string]bool{}
	for i, f := range frames {
		found, err := frameLinks(ctx, f, i == 0)
		if err != nil && (i == 0 || ctx.Err() != nil) {
			return nil, err
		}
		for _, l := range found {
			if !seen[l.URL] && len(links) < maxLinks {
				seen[l.URL] = true
				links = append(links, l)
			}
		}
	}
	return links, nil
}

func frameLinks(ctx context.Context, f *frame.Frame, main bool) ([]outline.Link, error) {
	if !main {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, frameReadLimit)
		defer cancel()
	}
	return frame.RunScript[[]outline.Link](ctx, f, frame.Script{Fn: "links", Arg: map[string]int{"most": maxLinks}})
}

const (
	// frameReadLimit bounds reading frames in other processes: one that does not answer must not block the page.
	frameReadLimit = 3 * time.Second
	// maxReadFrames bounds the number of frames that are read, maxReadDepth their nesting within one process.
	maxReadFrames = 50
	maxReadDepth  = 8
	// frameChars bounds the text of each process's frames, in UTF-16 units.
	frameChars = 20_000
)

// documentText is our script's result for a document: its text and the frames visible in it.
type documentText struct {
	Text   string       `json:"text"`
	Cut    bool         `json:"cut"`
	Host   string       `json:"host"`
	Frames []innerFrame `json:"frames"`
	Unseen int          `json:"suspects"`
}

// SuspectedShadowHosts returns how many elements may have content in closed shadow roots that the text lacks.
func (d documentText) SuspectedShadowHosts() int { return d.Unseen }

// innerFrame is a frame in a document: its content, or else the ref of its element.
type innerFrame struct {
	Name string        `json:"name"`
	Page *documentText `json:"page"`
	Ref  string        `json:"ref"`
}

// textQuery holds the script's limits. The main document may be of any length.
type textQuery struct {
	Frames int  `json:"frames"`
	Depth  int  `json:"depth"`
	Chars  int  `json:"chars"`
	Main   bool `json:"main"`
}

func requestText(ctx context.Context, f *frame.Frame, main bool) (documentText, error) {
	return frame.RunInShadows[documentText](ctx, f,
		frame.Script{Fn: "pageText", Arg: textQuery{maxReadFrames, maxReadDepth, frameChars, main}})
}

// readMainDocument returns the text of the main document. If it has none, such as a frameset, the frames are included.
func readMainDocument(ctx context.Context, frames []*frame.Frame) (text string, cut bool, err error) {
	doc, err := frame.RunInShadows[documentText](ctx, frames[0], frame.Script{Fn: "pageText", Arg: textQuery{Main: true}})
	if err != nil || strings.TrimSpace(doc.Text) != "" {
		return doc.Text, false, err
	}
	return readPageText(ctx, frames)
}

// readPageText returns the rendered text of the page's article, main part or body, followed by the text of each visible
// frame in document order, under a heading:
//
//	--- frame "Name" of host ---
//
// Frames without text are omitted. The heading of a frame that does not answer within three seconds, or a fourth of the
// time left in ctx, says so. Frames smaller than 8 pixels are ignored. cut reports that text or frames were left out
// because of a limit. frames begins with the main frame. The error says why the main document could not be read.
func readPageText(ctx context.Context, frames []*frame.Frame) (text string, cut bool, err error) {
	main := frames[0]
	doc, err := requestText(ctx, main, true)
	if err != nil || len(doc.Frames) == 0 {
		return doc.Text, false, err
	}
	p := &pageText{owners: map[frameOwner]*frame.Frame{}, documents: map[*frame.Frame]*documentText{}}
	if doc.hasRemoteFrames() {
		p.gather(ctx, frames[1:min(len(frames), maxReadFrames)])
		if ctx.Err() != nil {
			return "", false, context.Cause(ctx)
		}
	}
	p.write(main, &doc)
	return p.text.String(), p.cut, nil
}

// hasRemoteFrames reports whether the document has frames that must be asked separately.
func (d *documentText) hasRemoteFrames() bool {
	for _, f := range d.Frames {
		if f.Ref != "" || f.Page != nil && f.Page.hasRemoteFrames() {
			return true
		}
	}
	return false
}

// frameOwner is a frame element: its ref in the frame that contains it.
type frameOwner struct {
	frame *frame.Frame
	ref   string
}

// pageText collects the text of a page.
type pageText struct {
	mu        sync.Mutex
	owners    map[frameOwner]*frame.Frame
	documents map[*frame.Frame]*documentText

	text   strings.Builder
	frames int
	cut    bool
}

// gather reads all frames of other processes and origins concurrently.
func (p *pageText) gather(ctx context.Context, frames []*frame.Frame) {
	limit := frameReadLimit
	if deadline, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(deadline)/4) // leave time to return the rest
	}
	turns := frame.NewTurns()
	all, cancel := frame.HalfOf(ctx)
	defer cancel()
	var wg sync.WaitGroup
	for _, f := range frames {
		wg.Go(func() {
			end, err := turns.Begin(all)
			if err != nil {
				return
			}
			defer end()
			ctx, cancel := context.WithTimeout(all, limit)
			defer cancel()
			ref, err := f.FindOwner(ctx)
			if err != nil {
				return
			}
			doc, err := requestText(ctx, f, false)
			p.mu.Lock()
			defer p.mu.Unlock()
			p.owners[frameOwner{f.Parent(), ref}] = f
			if err == nil {
				p.documents[f] = &doc
			}
		})
	}
	wg.Wait()
}

// write adds a document and the frames in it that our scripts reach from f.
func (p *pageText) write(f *frame.Frame, doc *documentText) {
	p.text.WriteString(strings.TrimRightFunc(doc.Text, unicode.IsSpace))
	p.cut = p.cut || doc.Cut || len(doc.Frames) == maxReadFrames
	for _, in := range doc.Frames {
		if p.frames == maxReadFrames {
			p.cut = true
			return
		}
		p.frames++
		at, inside := f, in.Page
		if inside == nil {
			at = p.owners[frameOwner{f, in.Ref}]
			inside = p.documents[at]
		}
		switch {
		case inside == nil:
			p.writeFrameHeading(in.Name, "", "could not be read")
		case strings.TrimSpace(inside.Text) != "":
			p.writeFrameHeading(in.Name, inside.Host, "")
			fallthrough
		default:
			p.write(at, inside)
		}
	}
}

// writeFrameHeading writes the heading of a frame's text.
func (p *pageText) writeFrameHeading(name, host, trouble string) {
	var b strings.Builder
	b.WriteString("\n\n--- frame")
	if name != "" {
		b.WriteString(" " + strconv.Quote(name))
	}
	if host != "" {
		b.WriteString(" of " + host)
	}
	if trouble != "" {
		b.WriteString(" " + trouble)
	}
	p.text.WriteString(b.String() + " ---\n")
}
