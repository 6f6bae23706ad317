package page

import (
	"context"
	"fmt"
	"time"

	"clank/browsermgr/frame"
	"clank/browsermgr/outline"
)

// readLimit bounds reading a page.
const readLimit = 20 * time.Second

// Link is one link of a page.
type Link = outline.Link

// TextOptions says what is read: the element with a ref, or the first that matches a selector, or else the page's article,
// its main part or its body.
type TextOptions struct {
	Ref      string
	Selector string
	MaxChars int // in UTF-16 units; 0 means no limit
}

// Reading is the text of a page or of an element, as a person sees it.
type Reading struct {
	Text      string
	URL       string
	Truncated bool
	// Found is false if no element matches the selector.
	Found bool
}

// reading is what the script answers.
type reading struct {
	Text  string `json:"text"`
	Found bool   `json:"found"`
}

// Read returns readable text. If a dialog is open the error is a *[DialogError].
func (t *Tab) Read(ctx context.Context, opts TextOptions) (Reading, error) {
	var got reading
	err := t.exclusive(ctx, readLimit, func(ctx context.Context) error {
		e, err := t.locate(opts.Ref, opts.Selector)
		if err != nil {
			return err
		}
		if opts.Ref == "" {
			if err := t.awaitParsed(ctx, 3*time.Second); err != nil {
				return err
			}
		}
		arg := map[string]string{"ref": e.Local, "selector": opts.Selector}
		got, err = frame.Run[reading](ctx, e.Frame, frame.Script{Fn: "text", Arg: arg})
		if err != nil && (opts.Ref != "" || opts.Selector != "") {
			err = e.Explain(err)
		}
		return err
	})
	if err != nil {
		return Reading{}, fmt.Errorf("read tab %s: %w", t.id, err)
	}
	r := Reading{URL: t.URL(), Found: got.Found}
	r.Text, r.Truncated = outline.Clip(got.Text, opts.MaxChars)
	return r, nil
}

// Text returns the readable text of the element with this ref, or of the page if ref is empty, see [Tab.Read].
func (t *Tab) Text(ctx context.Context, ref string) (string, error) {
	r, err := t.Read(ctx, TextOptions{Ref: ref})
	return r.Text, err
}

// maxLinks bounds a list of links.
const maxLinks = 500

// frameLimit bounds what a frame of another process may take: one that does not answer must not take the page with it.
const frameLimit = 3 * time.Second

// Links lists the visible links of the page, at most 500: those of the main document in document order, then those of
// frames in other processes, each address once.
func (t *Tab) Links(ctx context.Context) ([]Link, error) {
	var links []Link
	err := t.exclusive(ctx, readLimit, func(ctx context.Context) error {
		if err := t.awaitParsed(ctx, 3*time.Second); err != nil {
			return err
		}
		seen := map[string]bool{}
		for _, f := range t.tree.All() {
			found, err := t.linksOf(ctx, f)
			if err != nil && (f == t.main || ctx.Err() != nil) {
				return err
			}
			for _, l := range found {
				if !seen[l.URL] && len(links) < maxLinks {
					seen[l.URL] = true
					links = append(links, l)
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("links of tab %s: %w", t.id, err)
	}
	return links, nil
}

func (t *Tab) linksOf(ctx context.Context, f *frame.Frame) ([]Link, error) {
	if f != t.main {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, frameLimit)
		defer cancel()
	}
	return frame.Run[[]Link](ctx, f, frame.Script{Fn: "links", Arg: map[string]int{"most": maxLinks}})
}
