package page

import (
	"context"

	"clank/browsermgr/page/frame"
	"clank/browsermgr/page/outline"
)

// maxLinks bounds a list of links.
const maxLinks = 500

// collectLinks lists the visible links of a page, at most 500, each address once: those of the main document in document order, then those
// of frames in other processes or of other origins. frames has the main one first.
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
