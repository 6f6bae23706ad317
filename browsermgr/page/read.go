package page

import (
	"context"
	"fmt"
	"time"

	"clank/browsermgr/page/frame"
	"clank/browsermgr/page/outline"
)

// readLimit bounds reading a page.
const readLimit = 20 * time.Second

// Link is one link of a page.
type Link = outline.Link

// ReadOptions says what is read: the element with a ref, or the first that matches a selector, or else the page's article,
// its main part or its body, with the frames that are shown in it, see [readPageText].
type ReadOptions struct {
	Ref      string
	Selector string
	MaxChars int // in UTF-16 units; 0 means no limit
	// WithoutFrames leaves out the frames, see [readMainDocument].
	WithoutFrames bool
}

// ReadResult is the text of a page or of an element, as a person sees it.
type ReadResult struct {
	Text      string
	URL       string
	Truncated bool
	// Found is false if no element matches the selector.
	Found bool
}

// Read returns readable text. If a dialog is open the error is a *[DialogError].
func (t *Tab) Read(ctx context.Context, opts ReadOptions) (ReadResult, error) {
	got := ReadResult{Found: true}
	err := t.runInTurn(ctx, readLimit, func(ctx context.Context) (err error) {
		if opts.Ref == "" {
			if err := t.awaitParsed(ctx, 3*time.Second); err != nil {
				return err
			}
		}
		if opts.Ref == "" && opts.Selector == "" {
			read := readPageText
			if opts.WithoutFrames {
				read = readMainDocument
			}
			got.Text, got.Truncated, err = read(ctx, t.tree.Frames())
			return err
		}
		got.Text, got.Found, err = t.readElement(ctx, opts)
		return err
	})
	if err != nil {
		return ReadResult{}, fmt.Errorf("read tab %s: %w", t.id, err)
	}
	got.URL = t.URL()
	if text, cut := outline.ClipText(got.Text, opts.MaxChars); cut {
		got.Text, got.Truncated = text, true
	}
	return got, nil
}

// elementText is what our script tells of an element.
type elementText struct {
	Text   string `json:"text"`
	Found  bool   `json:"found"`
	Unseen int    `json:"suspects"`
}

// SuspectedShadowHosts returns how many elements may show what the text lacks.
func (t elementText) SuspectedShadowHosts() int { return t.Unseen }

// readElement reads the element with a ref, or the first that matches a selector.
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

// Text returns the readable text of the element with this ref, or of the page if ref is empty, see [Tab.Read].
func (t *Tab) Text(ctx context.Context, ref string) (string, error) {
	r, err := t.Read(ctx, ReadOptions{Ref: ref})
	return r.Text, err
}

// Links lists the visible links of the page, see [collectLinks].
func (t *Tab) Links(ctx context.Context) ([]Link, error) {
	var links []Link
	err := t.runInTurn(ctx, readLimit, func(ctx context.Context) (err error) {
		if err := t.awaitParsed(ctx, 3*time.Second); err != nil {
			return err
		}
		links, err = collectLinks(ctx, t.tree.Frames())
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("links of tab %s: %w", t.id, err)
	}
	return links, nil
}
