package reading

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"clank/browsermgr/frame"
)

const (
	// frameLimit bounds what frames of other processes may take: one that does not answer must not take the page with it.
	frameLimit = 3 * time.Second
	// maxFrames bounds the frames that are read, maxDepth how deep they are in each other in one process.
	maxFrames = 50
	maxDepth  = 8
	// frameChars bounds the text of the frames of a process, each, in UTF-16 units.
	frameChars = 20_000
)

// document is what our script tells of one: its text, and the frames that are shown in it.
type document struct {
	Text   string  `json:"text"`
	Cut    bool    `json:"cut"`
	Host   string  `json:"host"`
	Frames []inner `json:"frames"`
	Unseen int     `json:"suspects"`
}

// Suspects is how many elements may show what the text lacks.
func (d document) Suspects() int { return d.Unseen }

// inner is a frame of a document: what it shows, or else the ref of the element that shows it.
type inner struct {
	Name string    `json:"name"`
	Page *document `json:"page"`
	Ref  string    `json:"ref"`
}

// question is what the script is asked to keep to. The main document may be of any length.
type question struct {
	Frames int  `json:"frames"`
	Depth  int  `json:"depth"`
	Chars  int  `json:"chars"`
	Main   bool `json:"main"`
}

func ask(ctx context.Context, f *frame.Frame, main bool) (document, error) {
	return frame.Whole[document](ctx, f, frame.Script{Fn: "pageText", Arg: question{maxFrames, maxDepth, frameChars, main}})
}

// Own is what the main document itself says. Of one that says nothing, such as a frameset, it is the whole [Text].
func Own(ctx context.Context, frames []*frame.Frame) (text string, cut bool, err error) {
	doc, err := frame.Whole[document](ctx, frames[0], frame.Script{Fn: "pageText", Arg: question{Main: true}})
	if err != nil || strings.TrimSpace(doc.Text) != "" {
		return doc.Text, false, err
	}
	return Text(ctx, frames)
}

// Text is what a page says: the rendered text of its article, its main part or its body, and after that the text of each frame that is
// shown there, in document order, below a line that tells of it:
//
//	--- frame "Name" of host ---
//
// Frames without text are left out; of one that does not answer within three seconds, or a fourth of ctx' time, the line says so, and frames smaller than 8 pixels are none. cut says that frames had more
// text, or that there were more of them, than is given. frames has the main one first. The error is what kept the main document from
// being read.
func Text(ctx context.Context, frames []*frame.Frame) (text string, cut bool, err error) {
	main := frames[0]
	doc, err := ask(ctx, main, true)
	if err != nil || len(doc.Frames) == 0 {
		return doc.Text, false, err
	}
	p := &paper{owners: map[owner]*frame.Frame{}, documents: map[*frame.Frame]*document{}}
	if doc.embeds() {
		p.gather(ctx, frames[1:min(len(frames), maxFrames)])
		if ctx.Err() != nil {
			return "", false, context.Cause(ctx)
		}
	}
	p.write(main, &doc)
	return p.text.String(), p.cut, nil
}

// embeds says that there are frames in it that have to be asked themselves.
func (d *document) embeds() bool {
	for _, f := range d.Frames {
		if f.Ref != "" || f.Page != nil && f.Page.embeds() {
			return true
		}
	}
	return false
}

// owner is a frame element: its ref in the frame that holds it.
type owner struct {
	frame *frame.Frame
	ref   string
}

// paper is the text of a page on its way.
type paper struct {
	mu        sync.Mutex
	owners    map[owner]*frame.Frame
	documents map[*frame.Frame]*document

	text   strings.Builder
	frames int
	cut    bool
}

// gather asks frames of other processes and origins, all at once.
func (p *paper) gather(ctx context.Context, frames []*frame.Frame) {
	limit := frameLimit
	if deadline, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(deadline)/4) // what is known without them is to be in time
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var wg sync.WaitGroup
	for _, f := range frames {
		wg.Go(func() {
			ref, err := f.Place(ctx)
			if err != nil {
				return
			}
			doc, err := ask(ctx, f, false)
			p.mu.Lock()
			defer p.mu.Unlock()
			p.owners[owner{f.Parent(), ref}] = f
			if err == nil {
				p.documents[f] = &doc
			}
		})
	}
	wg.Wait()
}

// write adds a document and the frames in it, which our scripts reach from f.
func (p *paper) write(f *frame.Frame, doc *document) {
	p.text.WriteString(strings.TrimRightFunc(doc.Text, unicode.IsSpace))
	p.cut = p.cut || doc.Cut || len(doc.Frames) == maxFrames
	for _, in := range doc.Frames {
		if p.frames == maxFrames {
			p.cut = true
			return
		}
		p.frames++
		at, inside := f, in.Page
		if inside == nil {
			at = p.owners[owner{f, in.Ref}]
			inside = p.documents[at]
		}
		switch {
		case inside == nil:
			p.head(in.Name, "", "could not be read")
		case strings.TrimSpace(inside.Text) != "":
			p.head(in.Name, inside.Host, "")
			fallthrough
		default:
			p.write(at, inside)
		}
	}
}

// head begins the text of a frame.
func (p *paper) head(name, host, trouble string) {
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
