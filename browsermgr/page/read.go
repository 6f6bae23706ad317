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

// Text returns the readable text of the element with this ref, or, if ref is empty, of the page: its article, its main
// part or its body. If a dialog is open the error is a *[DialogError].
func (t *Tab) Text(ctx context.Context, ref string) (string, error) {
	var text string
	err := t.exclusive(ctx, readLimit, func(ctx context.Context) error {
		e, err := t.locate(ref, "")
		if err != nil {
			return err
		}
		if ref == "" {
			if err := t.awaitParsed(ctx, 3*time.Second); err != nil {
				return err
			}
		}
		text, err = frame.Run[string](ctx, e.Frame, frame.Script{Fn: "text", Arg: map[string]string{"ref": e.Local}})
		if err != nil && ref != "" {
			err = e.Explain(err)
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("read tab %s: %w", t.id, err)
	}
	return text, nil
}

// Links lists the visible links of the main document, each address once, in document order.
func (t *Tab) Links(ctx context.Context) ([]Link, error) {
	var links []Link
	err := t.exclusive(ctx, readLimit, func(ctx context.Context) error {
		if err := t.awaitParsed(ctx, 3*time.Second); err != nil {
			return err
		}
		var err error
		links, err = frame.Run[[]Link](ctx, t.main, frame.Script{Fn: "links"})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("links of tab %s: %w", t.id, err)
	}
	return links, nil
}
