package control

import (
	"context"
	"fmt"
	"strings"
	"time"

	"clank/browsermgr/fault"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/files"
)

func fileRoutes() []Route {
	return []Route{
		NewRoute("POST", "/hooks/file-chooser", "Puts files into a file input, or into the next file chooser.", uploadFiles).WithBody(
			RequiredParam("paths", "array", "files below the uploads folder"), OptionalParam("ref", "string", "what opens the chooser"),
			OptionalParam("inputRef", "string", "the input, by its ref"), OptionalParam("element", "string", "the input, by a CSS selector"), tabParam(), timeoutParam(),
		),
		NewRoute("POST", "/wait/download", "Waits for the next download of the tab and saves it.", waitDownload).
			WithBody(OptionalParam("path", "string", "where, below the downloads folder"), tabParam(), timeoutParam()),
		NewRoute("POST", "/download", "Clicks what downloads something, or takes what the tab shows, and saves it.", downloadRef).
			WithBody(
				OptionalParam("ref", "string", "what to click; required without currentDocument"), OptionalParam("currentDocument", "boolean", "save what the tab shows"),
				OptionalParam("expectedUrl", "string", "currentDocument: the address that the tab has to show"),
				OptionalParam("path", "string", "where, below the downloads folder; required with ref"), tabParam(), timeoutParam(),
			),
	}
}

// fileTimeout returns how long moving a file may take.
func fileTimeout(c *Call) time.Duration {
	return c.Timeout(files.MaxTimeout, files.MinTimeout)
}

func uploadFiles(ctx context.Context, c *Call) (TargetAnswer, error) {
	u := files.UploadRequest{
		Paths: c.Body.Strings("paths"), Ref: c.Body.String("ref"), InputRef: c.Body.String("inputRef"), Element: c.Body.String("element"),
		Limit: fileTimeout(c),
	}
	if len(u.Paths) == 0 {
		c.Body.Fail(fault.Invalidf("paths are required"))
	}
	h, err := c.TargetTab(ctx)
	if err != nil {
		return TargetAnswer{}, err
	}
	defer h.Release()
	switch {
	case u.Element != "":
		err = h.RefusePersonalBrowser("naming an input by a selector")
	case u.Ref == "" && u.InputRef == "":
		err = h.RefusePersonalBrowser("waiting for the next file chooser, which may be the person's")
	}
	if err != nil {
		return TargetAnswer{}, err
	}
	files, err := requireObserver[*files.Transfers](h, "uploading")
	if err != nil {
		return TargetAnswer{}, err
	}
	if err := c.Approver.ApproveFiles(ctx, h.Profile.Name, h.Tab, u.Paths); err != nil {
		return TargetAnswer{}, err
	}
	if u.Ref == "" {
		return h.TargetAnswer(), files.Upload(ctx, h.Tab, u)
	}
	return h.TargetAnswer(), c.Approver.DoApproved(ctx, h.Profile.Name, h.Tab, page.Action{Kind: actiontable.KindClick, Ref: u.Ref}, func() error {
		return files.Upload(ctx, h.Tab, u)
	})
}

type downloadAnswer struct {
	TargetAnswer

	Download files.Download `json:"download"`
}

func waitDownload(ctx context.Context, c *Call) (downloadAnswer, error) {
	path, limit := c.Body.String("path"), fileTimeout(c)
	return withDownload(ctx, c, func(h *heldTab, d *files.Transfers) (files.Download, error) {
		return d.WaitDownload(ctx, h.Tab, path, limit)
	})
}

func downloadRef(ctx context.Context, c *Call) (downloadAnswer, error) {
	if c.Body.Flag("currentDocument", false) {
		return downloadDocument(ctx, c)
	}
	ref, path, limit := c.Body.Required("ref"), c.Body.Required("path"), fileTimeout(c)
	return withDownload(ctx, c, func(h *heldTab, d *files.Transfers) (got files.Download, err error) {
		err = h.Exclusively(ctx, func() error {
			return h.WithPolicy(ctx, func() error {
				return c.Approver.DoApproved(ctx, h.Profile.Name, h.Tab, page.Action{Kind: actiontable.KindClick, Ref: ref}, func() error {
					got, err = d.Download(ctx, h.Tab, ref, path, limit)
					return err
				})
			})
		})
		return got, err
	})
}

// downloadDocument saves the document that the tab shows.
func downloadDocument(ctx context.Context, c *Call) (downloadAnswer, error) {
	expected, path, limit := c.Body.Required("expectedUrl"), c.Body.String("path"), fileTimeout(c)
	if c.Body.Has("ref") {
		c.Body.Fail(fault.Invalidf("currentDocument and ref exclude one another"))
	}
	return withDownload(ctx, c, func(h *heldTab, d *files.Transfers) (got files.Download, err error) {
		scheme, _, _ := strings.Cut(h.URL(), ":")
		if scheme != "http" && scheme != "https" {
			return got, fmt.Errorf("%w: it shows no document of a server", files.ErrOtherDocument)
		}
		err = h.Exclusively(ctx, func() error {
			return h.WithPolicy(ctx, func() error {
				got, err = d.DownloadDocument(ctx, h.Tab, expected, path, limit)
				return err
			})
		})
		return got, err
	})
}

func withDownload(ctx context.Context, c *Call, get func(*heldTab, *files.Transfers) (files.Download, error)) (downloadAnswer, error) {
	return withObserver(ctx, c, true, "downloading", func(h *heldTab, d *files.Transfers) (downloadAnswer, error) {
		got, err := get(h, d)
		return downloadAnswer{h.TargetAnswer(), got}, err
	})
}
