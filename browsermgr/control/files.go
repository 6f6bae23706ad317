package control

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"clank/browsermgr/fault"
	"clank/browsermgr/trace"
	"clank/browsermgr/transfer"
)

func fileRoutes() []route {
	return []route{
		on("POST", "/hooks/file-chooser", "Puts files into a file input, or into the next file chooser.", upload).takes(
			need("paths", "array", "files below the uploads folder"), may("ref", "string", "what opens the chooser"),
			may("inputRef", "string", "the input, by its ref"), may("element", "string", "the input, by a CSS selector"), targetField, timeoutField,
		),
		on("POST", "/wait/download", "Waits for the next download of the tab and saves it.", waitDownload).
			takes(may("path", "string", "where, below the downloads folder"), targetField, timeoutField),
		on("POST", "/download", "Clicks what downloads something, or takes what the tab shows, and saves it.", downloadRef).
			takes(
				may("ref", "string", "what to click; required without currentDocument"), may("currentDocument", "boolean", "save what the tab shows"),
				may("expectedUrl", "string", "currentDocument: the address that the tab has to show"),
				may("path", "string", "where, below the downloads folder; required with ref"), targetField, timeoutField,
			),
		on("POST", "/trace/start", "Begins to write down what happens in the browser.", startTrace).takes(
			may("screenshots", "boolean", "with pictures, which is the default"), may("snapshots", "boolean", "with documents, which is the default"),
			may("sources", "boolean", "accepted"), targetField,
		),
		on("POST", "/trace/stop", "Writes what happened to a file for Playwright's trace viewer.", stopTrace).
			takes(may("path", "string", "where, below the folder of traces"), targetField),
	}
}

// fileLimit is how long moving a file may take.
func (c *call) fileLimit() time.Duration {
	return c.timeout(transfer.Longest, transfer.Shortest)
}

func upload(ctx context.Context, c *call) (targetAnswer, error) {
	u := transfer.Upload{
		Paths: c.body.Strings("paths"), Ref: c.body.String("ref"), InputRef: c.body.String("inputRef"), Element: c.body.String("element"),
		Limit: c.fileLimit(),
	}
	if len(u.Paths) == 0 {
		c.body.Fail(fault.Invalidf("paths are required"))
	}
	h, err := c.target(ctx)
	if err != nil {
		return targetAnswer{}, err
	}
	defer h.release()
	switch {
	case u.Element != "":
		err = h.ours("naming an input by a selector")
	case u.Ref == "" && u.InputRef == "":
		err = h.ours("waiting for the next file chooser, which may be the person's")
	}
	if err != nil {
		return targetAnswer{}, err
	}
	files, err := feature[*transfer.Desk](h, "uploading")
	if err != nil {
		return targetAnswer{}, err
	}
	return h.answer(), files.Upload(ctx, h.tab, u)
}

type downloadAnswer struct {
	targetAnswer

	Download transfer.Download `json:"download"`
}

func waitDownload(ctx context.Context, c *call) (downloadAnswer, error) {
	path, limit := c.body.String("path"), c.fileLimit()
	return downloaded(ctx, c, func(h *held, d *transfer.Desk) (transfer.Download, error) {
		return d.WaitDownload(ctx, h.tab, path, limit)
	})
}

func downloadRef(ctx context.Context, c *call) (downloadAnswer, error) {
	if c.body.Flag("currentDocument", false) {
		return downloadShown(ctx, c)
	}
	ref, path, limit := c.body.Required("ref"), c.body.Required("path"), c.fileLimit()
	return downloaded(ctx, c, func(h *held, d *transfer.Desk) (got transfer.Download, err error) {
		err = h.exclusively(ctx, func() error {
			return c.server.watched(ctx, h, func() error {
				got, err = d.Download(ctx, h.tab, ref, path, limit)
				return err
			})
		})
		return got, err
	})
}

// downloadShown saves the document that the tab shows.
func downloadShown(ctx context.Context, c *call) (downloadAnswer, error) {
	expected, path, limit := c.body.Required("expectedUrl"), c.body.String("path"), c.fileLimit()
	if c.body.Has("ref") {
		c.body.Fail(fault.Invalidf("currentDocument and ref exclude one another"))
	}
	return downloaded(ctx, c, func(h *held, d *transfer.Desk) (got transfer.Download, err error) {
		scheme, _, _ := strings.Cut(h.url(), ":")
		if scheme != "http" && scheme != "https" {
			return got, fmt.Errorf("%w: it shows no document of a server", transfer.ErrElsewhere)
		}
		err = h.exclusively(ctx, func() error {
			return c.server.watched(ctx, h, func() error {
				got, err = d.DownloadDocument(ctx, h.tab, expected, path, limit)
				return err
			})
		})
		return got, err
	})
}

func downloaded(ctx context.Context, c *call, get func(*held, *transfer.Desk) (transfer.Download, error)) (downloadAnswer, error) {
	h, err := c.guarded(ctx)
	if err != nil {
		return downloadAnswer{}, err
	}
	defer h.release()
	files, err := feature[*transfer.Desk](h, "downloading")
	if err != nil {
		return downloadAnswer{}, err
	}
	got, err := get(h, files)
	return downloadAnswer{h.answer(), got}, err
}

// tracing holds the tab of a request about traces.
func tracing[R any](ctx context.Context, c *call, work func(*held, *trace.Tracer) (R, error)) (out R, err error) {
	h, err := c.guarded(ctx)
	if err != nil {
		return out, err
	}
	defer h.release()
	tracer, err := feature[*trace.Tracer](h, "tracing")
	if err != nil {
		return out, err
	}
	return work(h, tracer)
}

func startTrace(ctx context.Context, c *call) (targetAnswer, error) {
	opts := trace.Options{
		Screenshots: c.body.Flag("screenshots", true), Snapshots: c.body.Flag("snapshots", true), Sources: c.body.Flag("sources", false),
	}
	return tracing(ctx, c, func(h *held, t *trace.Tracer) (targetAnswer, error) { //nolint:contextcheck // a trace outlives the request
		return h.answer(), t.Start(h.use.Browser, opts)
	})
}

type traceAnswer struct {
	targetAnswer

	Path string `json:"path"`
}

func stopTrace(ctx context.Context, c *call) (traceAnswer, error) {
	path, err := c.server.output("traces", c.body.String("path"), "browser-trace-", ".zip")
	if err != nil {
		return traceAnswer{}, err
	}
	return tracing(ctx, c, func(h *held, t *trace.Tracer) (traceAnswer, error) {
		return traceAnswer{h.answer(), path}, t.Stop(ctx, path)
	})
}

// within says whether a path that has no links lies below the folder.
func within(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != "." && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
