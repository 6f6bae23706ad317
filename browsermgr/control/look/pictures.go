package look

import (
	"context"
	"net/http"
	"time"

	"clank/browsermgr/control/desk"
	"clank/browsermgr/control/reply"
	"clank/browsermgr/control/route"
	"clank/browsermgr/fault"
	"clank/browsermgr/outline"
	"clank/browsermgr/page"
	"clank/browsermgr/picture"
)

func (v viewer) pictureRoutes() []route.Route {
	return []route.Route{
		route.On("POST", "/screenshot", "Takes a picture of a tab.", v.screenshot).Takes(
			route.Tab(), route.May("fullPage", "boolean", "the whole document"), route.May("ref", "string", "only this element"),
			route.May("element", "string", "only the first element that matches"), route.OneOf("type", "png is the default", "png", "jpeg"),
			route.May("labels", "boolean", "with the refs of a snapshot drawn in"), route.Limit(),
		),
		route.On("POST", "/pdf", "Prints a page on A4.", v.pdf).Takes(route.Tab()),
		route.On("POST", "/highlight", "Outlines an element for two seconds.", highlight).Takes(route.Need("ref", "string", "which"), route.Tab()),
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
	return labelled{true, &img.Drawn, &img.Skipped, reply.List(img.Annotations)}
}

type screenshotAnswer struct {
	reply.Located
	labelled

	Path      string `json:"path"`
	Truncated bool   `json:"truncated,omitempty"` // there were more labels than are drawn
}

func (v viewer) screenshot(ctx context.Context, c *route.Call) (screenshotAnswer, error) {
	o := picture.Options{
		FullPage: c.Body.Flag("fullPage", false), Ref: c.Body.String("ref"), Element: c.Body.String("element"), Type: c.Body.String("type"),
		Timeout: c.Timeout(picture.DefaultTimeout, time.Millisecond),
	}
	labels := c.Body.Flag("labels", false)
	if o.FullPage && (o.Ref != "" || o.Element != "") {
		c.Body.Fail(fault.Invalidf("fullPage is not supported for element screenshots"))
	}
	h, err := c.Guarded(ctx)
	if err != nil {
		return screenshotAnswer{}, err
	}
	defer h.Release()
	if o.Element != "" && h.Use.Joined() {
		return screenshotAnswer{}, fault.Invalidf("element screenshots by selector are not supported for existing-session profiles: take a snapshot and use a ref of it")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.Timeout, &fault.LimitError{Limit: o.Timeout})
	defer cancel()
	switch {
	case labels && o.Ref != "":
		role, name, err := h.Tab.Describe(ctx, o.Ref)
		if err != nil {
			return screenshotAnswer{}, dialogFirst(err)
		}
		o.Labels = []picture.Label{{Ref: o.Ref, Role: role, Name: name}}
	case labels:
		snap, err := h.Tab.Snapshot(ctx, page.SnapshotOptions{Refs: page.RefsRole, Timeout: o.Timeout})
		if err != nil {
			return screenshotAnswer{}, dialogFirst(err)
		}
		o.Labels = marks(snap.Refs())
	}
	img, err := picture.Screenshot(ctx, h.Tab, o)
	if err != nil {
		return screenshotAnswer{}, dialogFirst(err)
	}
	answer := screenshotAnswer{Located: h.Located(), Truncated: img.Truncated}
	if labels {
		answer.labelled = labelsOf(img)
	}
	answer.Path, err = v.Keep("pictures", "browser-", "."+img.Type, img.Data)
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
	if !desk.PendingDialog(err) {
		return err
	}
	return &reply.StatusError{Status: http.StatusConflict, Reason: "blocked_by_dialog", Err: err}
}

type fileAnswer struct {
	reply.Located

	Path string `json:"path"`
}

func (v viewer) pdf(ctx context.Context, c *route.Call) (fileAnswer, error) {
	h, err := c.Guarded(ctx)
	if err != nil {
		return fileAnswer{}, err
	}
	defer h.Release()
	data, err := picture.PDF(ctx, h.Tab)
	if err != nil {
		return fileAnswer{}, dialogFirst(err)
	}
	path, err := v.Keep("pictures", "browser-", ".pdf", data)
	return fileAnswer{h.Located(), path}, err
}

func highlight(ctx context.Context, c *route.Call) (reply.Located, error) {
	ref := c.Body.Required("ref")
	h, err := c.Guarded(ctx)
	if err != nil {
		return reply.Located{}, err
	}
	defer h.Release()
	return h.Located(), picture.Highlight(ctx, h.Tab, ref)
}
