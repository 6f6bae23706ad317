package page

import (
	"context"
	"fmt"
	"time"

	"clank/browsermgr/frame"
	"clank/browsermgr/outline"
	"clank/browsermgr/reading"
)

// readLimit bounds reading a page.
const readLimit = 20 * time.Second

// Link is one link of a page.
type Link = outline.Link

// TextOptions says what is read: the element with a ref, or the first that matches a selector, or else the page's article,
// its main part or its body, with the frames that are shown in it, see [reading.Text].
type TextOptions struct {
	Ref      string
	Selector string
	MaxChars int // in UTF-16 units; 0 means no limit
	// Own leaves out the frames, see [reading.Own].
	Own bool
}

// Reading is the text of a page or of an element, as a person sees it.
type Reading struct {
	Text      string
	URL       string
	Truncated bool
	// Found is false if no element matches the selector.
	Found bool
}

// Read returns readable text. If a dialog is open the error is a *[DialogError].
func (t *Tab) Read(ctx context.Context, opts TextOptions) (Reading, error) {
	got := Reading{Found: true}
	err := t.exclusive(ctx, readLimit, func(ctx context.Context) (err error) {
		if opts.Ref == "" {
			if err := t.awaitParsed(ctx, 3*time.Second); err != nil {
				return err
			}
		}
		if opts.Ref == "" && opts.Selector == "" {
			read := reading.Text
			if opts.Own {
				read = reading.Own
			}
			got.Text, got.Truncated, err = read(ctx, t.tree.All())
			return err
		}
		got.Text, got.Found, err = t.readElement(ctx, opts)
		return err
	})
	if err != nil {
		return Reading{}, fmt.Errorf("read tab %s: %w", t.id, err)
	}
	got.URL = t.URL()
	if text, cut := outline.Clip(got.Text, opts.MaxChars); cut {
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

// Suspects is how many elements may show what the text lacks.
func (t elementText) Suspects() int { return t.Unseen }

// readElement reads the element with a ref, or the first that matches a selector.
func (t *Tab) readElement(ctx context.Context, opts TextOptions) (text string, found bool, err error) {
	e, err := t.locate(opts.Ref, opts.Selector)
	if err != nil {
		return "", false, err
	}
	arg := map[string]string{"ref": e.Local, "selector": opts.Selector}
	got, err := frame.Whole[elementText](ctx, e.Frame, frame.Script{Fn: "text", Arg: arg})
	if err != nil {
		return "", false, e.Explain(err)
	}
	return got.Text, got.Found, nil
}

// Text returns the readable text of the element with this ref, or of the page if ref is empty, see [Tab.Read].
func (t *Tab) Text(ctx context.Context, ref string) (string, error) {
	r, err := t.Read(ctx, TextOptions{Ref: ref})
	return r.Text, err
}

// Links lists the visible links of the page, see [reading.Links].
func (t *Tab) Links(ctx context.Context) ([]Link, error) {
	var links []Link
	err := t.exclusive(ctx, readLimit, func(ctx context.Context) (err error) {
		if err := t.awaitParsed(ctx, 3*time.Second); err != nil {
			return err
		}
		links, err = reading.Links(ctx, t.tree.All())
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("links of tab %s: %w", t.id, err)
	}
	return links, nil
}
