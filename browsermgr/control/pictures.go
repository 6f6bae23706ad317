package control

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"clank/browsermgr/fault"
	"clank/browsermgr/outline"
	"clank/browsermgr/page"
	"clank/browsermgr/picture"
)

func pictureRoutes() []route {
	return []route{
		on("POST", "/screenshot", "Takes a picture of a tab.", screenshot).takes(
			targetField, may("fullPage", "boolean", "the whole document"), may("ref", "string", "only this element"),
			may("element", "string", "only the first element that matches"), oneOf("type", "png is the default", "png", "jpeg"),
			may("labels", "boolean", "with the refs of a snapshot drawn in"), timeoutField,
		),
		on("POST", "/pdf", "Prints a page on A4.", pdf).takes(targetField),
		on("POST", "/highlight", "Outlines an element for two seconds.", highlight).takes(need("ref", "string", "which"), targetField),
	}
}

// labelled says what the labels of a picture are.
type labelled struct {
	Labels        bool                 `json:"labels,omitempty"`
	LabelsCount   *int                 `json:"labelsCount,omitempty"`
	LabelsSkipped *int                 `json:"labelsSkipped,omitempty"`
	Annotations   []picture.Annotation `json:"annotations,omitempty"`
}

func labelsOf(img picture.Image) labelled {
	return labelled{true, &img.Drawn, &img.Skipped, some(img.Annotations)}
}

type screenshotAnswer struct {
	located
	labelled

	Path      string `json:"path"`
	Truncated bool   `json:"truncated,omitempty"` // there were more labels than are drawn
}

func screenshot(ctx context.Context, c *call) (screenshotAnswer, error) {
	o := picture.Options{
		FullPage: c.body.Flag("fullPage", false), Ref: c.body.String("ref"), Element: c.body.String("element"), Type: c.body.String("type"),
		Timeout: c.timeout(picture.DefaultTimeout, time.Millisecond),
	}
	labels := c.body.Flag("labels", false)
	if o.FullPage && (o.Ref != "" || o.Element != "") {
		c.body.Fail(fault.Invalidf("fullPage is not supported for element screenshots"))
	}
	h, err := c.guarded(ctx)
	if err != nil {
		return screenshotAnswer{}, err
	}
	defer h.release()
	if o.Element != "" && h.use.Joined() {
		return screenshotAnswer{}, fault.Invalidf("element screenshots by selector are not supported for existing-session profiles: take a snapshot and use a ref of it")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.Timeout, &fault.LimitError{Limit: o.Timeout})
	defer cancel()
	switch {
	case labels && o.Ref != "":
		o.Labels = []picture.Label{{Ref: o.Ref}}
	case labels:
		snap, err := h.tab.Snapshot(ctx, page.SnapshotOptions{Refs: page.RefsRole, Timeout: o.Timeout})
		if err != nil {
			return screenshotAnswer{}, dialogFirst(err)
		}
		o.Labels = marks(snap.Refs())
	}
	img, err := picture.Screenshot(ctx, h.tab, o)
	if err != nil {
		return screenshotAnswer{}, dialogFirst(err)
	}
	answer := screenshotAnswer{located: h.located(), Truncated: img.Truncated}
	if labels {
		answer.labelled = labelsOf(img)
	}
	answer.Path, err = c.server.keep("pictures", "browser-", "."+img.Type, img.Data)
	return answer, err
}

// marks are the refs of a snapshot as labels; not nil.
func marks(refs []outline.Ref) []picture.Label {
	labels := make([]picture.Label, len(refs))
	for i, r := range refs {
		labels[i] = picture.Label{Ref: r.Ref, Role: r.Role, Name: r.Name}
	}
	return labels
}

// dialogFirst answers what cannot be done before a dialog is.
func dialogFirst(err error) error {
	if !pendingDialog(err) {
		return err
	}
	return &failure{status: http.StatusConflict, reason: "blocked_by_dialog", err: err}
}

// keep writes a file of ours under a new name and returns its path.
func (s *Server) keep(folder, prefix, suffix string, data []byte) (string, error) {
	if s.Features == nil {
		return "", errors.New("the server has no folder for files")
	}
	path, err := s.output(folder, "", prefix, suffix)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return "", fmt.Errorf("keep the picture: %w", errors.Join(err, os.Remove(path)))
	}
	return path, nil
}

type fileAnswer struct {
	located

	Path string `json:"path"`
}

func pdf(ctx context.Context, c *call) (fileAnswer, error) {
	h, err := c.guarded(ctx)
	if err != nil {
		return fileAnswer{}, err
	}
	defer h.release()
	data, err := picture.PDF(ctx, h.tab)
	if err != nil {
		return fileAnswer{}, dialogFirst(err)
	}
	path, err := c.server.keep("pictures", "browser-", ".pdf", data)
	return fileAnswer{h.located(), path}, err
}

func highlight(ctx context.Context, c *call) (located, error) {
	ref := c.body.Required("ref")
	h, err := c.guarded(ctx)
	if err != nil {
		return located{}, err
	}
	defer h.release()
	return h.located(), picture.Highlight(ctx, h.tab, ref)
}
