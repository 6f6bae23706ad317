package features

import (
	"context"
	"fmt"
	"strings"
	"time"

	"clank/browsermgr/control/desk"
	"clank/browsermgr/control/reply"
	"clank/browsermgr/control/route"
	"clank/browsermgr/fault"
	"clank/browsermgr/page"
	"clank/browsermgr/transfer"
)

func fileRoutes() []route.Route {
	return []route.Route{
		route.On("POST", "/hooks/file-chooser", "Puts files into a file input, or into the next file chooser.", upload).Takes(
			route.Need("paths", "array", "files below the uploads folder"), route.May("ref", "string", "what opens the chooser"),
			route.May("inputRef", "string", "the input, by its ref"), route.May("element", "string", "the input, by a CSS selector"), route.Tab(), route.Limit(),
		),
		route.On("POST", "/wait/download", "Waits for the next download of the tab and saves it.", waitDownload).
			Takes(route.May("path", "string", "where, below the downloads folder"), route.Tab(), route.Limit()),
		route.On("POST", "/download", "Clicks what downloads something, or takes what the tab shows, and saves it.", downloadRef).
			Takes(
				route.May("ref", "string", "what to click; required without currentDocument"), route.May("currentDocument", "boolean", "save what the tab shows"),
				route.May("expectedUrl", "string", "currentDocument: the address that the tab has to show"),
				route.May("path", "string", "where, below the downloads folder; required with ref"), route.Tab(), route.Limit(),
			),
	}
}

// fileLimit is how long moving a file may take.
func fileLimit(c *route.Call) time.Duration {
	return c.Timeout(transfer.Longest, transfer.Shortest)
}

func upload(ctx context.Context, c *route.Call) (reply.Target, error) {
	u := transfer.Upload{
		Paths: c.Body.Strings("paths"), Ref: c.Body.String("ref"), InputRef: c.Body.String("inputRef"), Element: c.Body.String("element"),
		Limit: fileLimit(c),
	}
	if len(u.Paths) == 0 {
		c.Body.Fail(fault.Invalidf("paths are required"))
	}
	h, err := c.Target(ctx)
	if err != nil {
		return reply.Target{}, err
	}
	defer h.Release()
	switch {
	case u.Element != "":
		err = h.Ours("naming an input by a selector")
	case u.Ref == "" && u.InputRef == "":
		err = h.Ours("waiting for the next file chooser, which may be the person's")
	}
	if err != nil {
		return reply.Target{}, err
	}
	files, err := desk.Feature[*transfer.Desk](h, "uploading")
	if err != nil {
		return reply.Target{}, err
	}
	if err := c.Asker.Files(ctx, h.Desk.Name, h.Tab, u.Paths); err != nil {
		return reply.Target{}, err
	}
	if u.Ref == "" {
		return h.Answer(), files.Upload(ctx, h.Tab, u)
	}
	return h.Answer(), c.Asker.Act(ctx, h.Desk.Name, h.Tab, page.Action{Kind: page.KindClick, Ref: u.Ref}, func() error {
		return files.Upload(ctx, h.Tab, u)
	})
}

type downloadAnswer struct {
	reply.Target

	Download transfer.Download `json:"download"`
}

func waitDownload(ctx context.Context, c *route.Call) (downloadAnswer, error) {
	path, limit := c.Body.String("path"), fileLimit(c)
	return downloaded(ctx, c, func(h *desk.Held, d *transfer.Desk) (transfer.Download, error) {
		return d.WaitDownload(ctx, h.Tab, path, limit)
	})
}

func downloadRef(ctx context.Context, c *route.Call) (downloadAnswer, error) {
	if c.Body.Flag("currentDocument", false) {
		return downloadShown(ctx, c)
	}
	ref, path, limit := c.Body.Required("ref"), c.Body.Required("path"), fileLimit(c)
	return downloaded(ctx, c, func(h *desk.Held, d *transfer.Desk) (got transfer.Download, err error) {
		err = h.Exclusively(ctx, func() error {
			return h.Watched(ctx, func() error {
				return c.Asker.Act(ctx, h.Desk.Name, h.Tab, page.Action{Kind: page.KindClick, Ref: ref}, func() error {
					got, err = d.Download(ctx, h.Tab, ref, path, limit)
					return err
				})
			})
		})
		return got, err
	})
}

// downloadShown saves the document that the tab shows.
func downloadShown(ctx context.Context, c *route.Call) (downloadAnswer, error) {
	expected, path, limit := c.Body.Required("expectedUrl"), c.Body.String("path"), fileLimit(c)
	if c.Body.Has("ref") {
		c.Body.Fail(fault.Invalidf("currentDocument and ref exclude one another"))
	}
	return downloaded(ctx, c, func(h *desk.Held, d *transfer.Desk) (got transfer.Download, err error) {
		scheme, _, _ := strings.Cut(h.URL(), ":")
		if scheme != "http" && scheme != "https" {
			return got, fmt.Errorf("%w: it shows no document of a server", transfer.ErrElsewhere)
		}
		err = h.Exclusively(ctx, func() error {
			return h.Watched(ctx, func() error {
				got, err = d.DownloadDocument(ctx, h.Tab, expected, path, limit)
				return err
			})
		})
		return got, err
	})
}

func downloaded(ctx context.Context, c *route.Call, get func(*desk.Held, *transfer.Desk) (transfer.Download, error)) (downloadAnswer, error) {
	h, err := c.Guarded(ctx)
	if err != nil {
		return downloadAnswer{}, err
	}
	defer h.Release()
	files, err := desk.Feature[*transfer.Desk](h, "downloading")
	if err != nil {
		return downloadAnswer{}, err
	}
	got, err := get(h, files)
	return downloadAnswer{h.Answer(), got}, err
}
