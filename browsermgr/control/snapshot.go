package control

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"clank/browsermgr/fault"
	"clank/browsermgr/page"
	"clank/browsermgr/page/outline"
	"clank/browsermgr/page/screenshot"
)

func (s *Server) snapshotRoutes() []Route {
	return []Route{
		NewRoute("GET", "/snapshot", "Describes a page as text with a ref for each element that can be acted on.",
			s.snapshot).WithQuery(
			tabParam(), EnumParam("format", "ai is text", "ai", "aria"),
			EnumParam("mode", "efficient: what can be acted on, in few words", "efficient"),
			EnumParam("refs", "role: refs are numbered in the order of the page", "role", "aria"),
			OptionalParam("interactive", "boolean", "only what can be acted on, flat"),
			OptionalParam("compact", "boolean", "without structure that has no name"),
			OptionalParam("depth", "integer", "deepest level shown, 0 is the root level"),
			OptionalParam("selector", "string", "only the first element that matches"),
			OptionalParam("frame", "string", "only this frame"),
			OptionalParam("after", "string", "ref after which to go on, where a snapshot was cut or folded"),
			OptionalParam("labels", "boolean", "with a picture that shows the refs"),
			OptionalParam("urls", "boolean", "with the addresses of the links"),
			OptionalParam("query", "string", "only lines with all of these words"),
			OptionalParam("limit", "integer", "format aria: how many nodes"),
			OptionalParam("maxChars", "integer", "how long the text may be; 0: any length"), timeoutParam(),
		),
		NewRoute("GET", "/text", "Reads the text of a page, and after it that of the frames shown there.",
			pageText).WithQuery(
			tabParam(), OptionalParam("selector", "string", "only the first element that matches"),
			OptionalParam("maxChars", "integer", "how long the text may be, at most 40000"),
		),
	}
}

const (
	maxChars          = 40_000
	maxCharsEfficient = 8_000
	depthEfficient    = 6
	modeEfficient     = "efficient"
	formatARIA        = "aria"
)

// snapshotParams are the parameters of a snapshot.
type snapshotParams struct {
	page.SnapshotOptions

	format string
	mode   string
	limit  int // number of nodes, for format aria
	labels bool
}

// readSnapshotParams reads the parameters of a snapshot. mode is used if they name none.
func readSnapshotParams(q *RequestFields, mode string) (snapshotParams, error) {
	v := snapshotParams{format: "ai", mode: q.String("mode")}
	if v.mode == "" && q.String("format") != formatARIA {
		v.mode = mode
	}
	if q.String("format") == formatARIA {
		v.format = formatARIA
	}
	switch q.String("format") {
	case "", "ai", formatARIA:
	default:
		return v, fault.Invalidf("format must be ai or aria")
	}
	efficient := v.mode == modeEfficient
	labels := q.Flag("labels", false)
	if v.format == formatARIA && (efficient || labels) {
		return v, fault.Invalidf("labels and mode=efficient need format=ai")
	}
	interactive, _ := q.Bool("interactive")
	compact, _ := q.Bool("compact")
	v.Interactive, v.Compact = q.Flag("interactive", efficient), q.Flag("compact", efficient)
	if depth, ok := q.NonNegative("depth"); ok {
		v.Depth = &depth
	}
	v.Selector = q.String("selector")
	v.Frame, v.Query, v.After, v.Delta = q.String("frame"), q.String("query"), q.String("after"), true
	role := labels || efficient || interactive || compact || v.Depth != nil || v.Selector != "" || v.Frame != ""
	if efficient && v.Depth == nil {
		v.Depth = new(depthEfficient)
	}
	v.URLs = q.Flag("urls", false)
	v.MaxChars = charLimit(q, efficient)
	v.Timeout = time.Duration(q.Clamp("timeoutMs", 20_000, 500, 60_000)) * time.Millisecond
	v.limit = q.Clamp("limit", 500, 1, 2000)
	switch refs := q.String("refs"); {
	case refs == "" && role, refs == "role":
		v.Refs = page.RefsRole
	case refs == "":
	case refs == formatARIA && v.Selector == "" && v.Frame == "":
		v.Refs = page.RefsAria
	case refs == formatARIA:
		return v, fault.Invalidf("refs=aria cannot be combined with selector or frame")
	default:
		return v, fault.Invalidf("refs must be role or aria")
	}
	v.Addresses = v.Refs != page.RefsRole
	v.labels = labels
	return v, q.Err()
}

// charLimit returns the limit of the text. A value that is not a positive number removes it.
func charLimit(q *RequestFields, efficient bool) int {
	given := q.String("maxChars")
	n, err := strconv.Atoi(given)
	switch {
	case given == "" && efficient:
		return maxCharsEfficient
	case given == "":
		return maxChars
	case err != nil || n < 0:
		return 0
	}
	return n
}

type snapshotAnswer struct {
	TargetAnswer
	labelInfo

	Format          string                      `json:"format"`
	URL             string                      `json:"url"`
	Snapshot        *string                     `json:"snapshot,omitempty"`
	Refs            *map[string]outline.RefInfo `json:"refs,omitempty"`
	Stats           *outline.Stats              `json:"stats,omitempty"`
	Nodes           *[]page.AccessibilityNode   `json:"nodes,omitempty"`
	Truncated       bool                        `json:"truncated,omitempty"`
	ImagePath       string                      `json:"imagePath,omitempty"`
	ImageType       string                      `json:"imageType,omitempty"`
	NewElements     *int                        `json:"newElements,omitempty"`
	Reason          string                      `json:"reason,omitempty"` // why the snapshot is empty
	BlockedByDialog bool                        `json:"blockedByDialog,omitempty"`
	BrowserState    *browserState               `json:"browserState,omitempty"`
}

func (s *Server) snapshot(ctx context.Context, c *Call) (snapshotAnswer, error) {
	v, err := readSnapshotParams(c.Query, s.Settings.SnapshotMode())
	if err != nil {
		return snapshotAnswer{}, err
	}
	h, err := c.TargetTab(ctx)
	if err != nil {
		return snapshotAnswer{}, err
	}
	defer h.Release()
	if err := h.CheckPolicy(ctx); err != nil {
		return snapshotAnswer{}, err
	}
	// The limit includes waiting for other requests in the tab.
	ctx, cancel := context.WithTimeoutCause(ctx, v.Timeout, &fault.TimeLimitError{Limit: v.Timeout})
	defer cancel()
	answer := snapshotAnswer{TargetAnswer: h.TargetAnswer(), Format: v.format}
	if v.format == formatARIA {
		err = answer.tree(ctx, h, v)
	} else {
		err = s.describe(ctx, h, v, &answer)
	}
	if isPendingDialog(err) {
		answer.BlockedByDialog, answer.BrowserState, err = true, h.BrowserState(), nil
	}
	if err != nil {
		return snapshotAnswer{}, err
	}
	// The page may have navigated meanwhile.
	return answer, h.Profile.Allow(ctx, answer.URL)
}

// describe adds a description of the page as text to the answer.
func (s *Server) describe(ctx context.Context, h *heldTab, v snapshotParams, a *snapshotAnswer) error {
	snap, err := h.Tab.Snapshot(ctx, v.SnapshotOptions)
	a.URL = cmp.Or(snap.URL, h.URL())
	refs, stats := snap.Describe()
	if refs == nil {
		refs = map[string]outline.RefInfo{}
	}
	a.Snapshot, a.Refs = &snap.Text, &refs
	if err != nil {
		return err
	}
	a.Stats, a.Truncated, a.NewElements, a.Reason = &stats, snap.Truncated, snap.NewElements, snap.Reason
	if !v.labels {
		return nil
	}
	img, err := screenshot.TakeScreenshot(ctx, h.Tab,
		screenshot.Options{Labels: refLabels(snap.Refs()), Timeout: v.Timeout})
	if err != nil {
		return err
	}
	a.labelInfo, a.ImageType = labelsOf(img), img.Type
	a.ImagePath, err = s.Features.SavePicture(h.Profile.Name, "."+img.Type, img.Data)
	return err
}

// tree adds a description of the page as a list of nodes to the answer.
func (a *snapshotAnswer) tree(ctx context.Context, h *heldTab, v snapshotParams) error {
	nodes, err := h.Tab.AccessibilityTree(ctx, v.limit, v.Timeout)
	nodes = NonNilList(nodes)
	a.URL, a.Nodes = h.URL(), &nodes
	return err
}

type textAnswer struct {
	TargetAnswer

	URL             string        `json:"url"`
	Text            string        `json:"text"`
	Truncated       bool          `json:"truncated"`
	BlockedByDialog bool          `json:"blockedByDialog,omitempty"`
	BrowserState    *browserState `json:"browserState,omitempty"`
}

// readTimeout bounds reading a page, including waiting for other requests in the tab.
const readTimeout = 20 * time.Second

func pageText(ctx context.Context, c *Call) (textAnswer, error) {
	limit := c.Query.Clamp("maxChars", maxChars, 1, maxChars)
	selector := c.Query.String("selector")
	h, err := c.TargetTab(ctx)
	if err != nil {
		return textAnswer{}, err
	}
	defer h.Release()
	if err := h.CheckPolicy(ctx); err != nil {
		return textAnswer{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, readTimeout, &fault.TimeLimitError{Limit: readTimeout})
	defer cancel()
	got, err := h.Tab.Read(ctx, page.ReadOptions{Selector: selector, MaxChars: limit})
	if isPendingDialog(err) {
		return textAnswer{
			TargetAnswer: h.TargetAnswer(), URL: h.URL(), BlockedByDialog: true,
			BrowserState: h.BrowserState(),
		}, nil
	}
	if err != nil {
		return textAnswer{}, err
	}
	if !got.Found {
		return textAnswer{}, fmt.Errorf("text: no element matches selector %q", selector)
	}
	return textAnswer{TargetAnswer: h.TargetAnswer(), URL: got.URL, Text: got.Text, Truncated: got.Truncated}, nil
}
