package control

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"clank/browsermgr/control/body"
	"clank/browsermgr/fault"
	"clank/browsermgr/page"
)

func snapshotRoutes() []route {
	return []route{
		on("GET", "/snapshot", "Describes a page as text with a ref for each element that can be acted on.", snapshot).params(
			targetField, oneOf("format", "ai is text", "ai", "aria"), oneOf("mode", "efficient: what can be acted on, in few words", "efficient"),
			oneOf("refs", "role: refs are numbered in the order of the page", "role", "aria"),
			may("interactive", "boolean", "only what can be acted on, flat"), may("compact", "boolean", "without structure that has no name"),
			may("depth", "integer", "deepest level shown, 0 is the root level"), may("selector", "string", "only the first element that matches"),
			may("frame", "string", "only this frame"), may("labels", "boolean", "with a picture that shows the refs"),
			may("urls", "boolean", "with the addresses of the links"), may("query", "string", "only lines with all of these words"),
			may("limit", "integer", "format aria: how many nodes"), may("maxChars", "integer", "how long the text may be; 0: any length"), timeoutField,
		),
		on("GET", "/text", "Reads the text of a page.", text).params(
			targetField, may("selector", "string", "only the first element that matches"), may("maxChars", "integer", "how long the text may be, at most 40000"),
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

// view is which snapshot a client wants.
type view struct {
	page.SnapshotOptions

	format string
	mode   string
	role   bool // refs are numbered in the order of the page, and each has its place among its like
}

// readView reads the parameters of a snapshot. mode holds if they name none.
func readView(q *body.Fields, mode string) (view, error) {
	v := view{format: "ai", mode: q.String("mode")}
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
	v.role = labels || efficient || interactive || compact || v.Depth != nil || v.Selector != "" || q.String("frame") != ""
	if efficient && v.Depth == nil {
		v.Depth = new(depthEfficient)
	}
	v.URLs = q.Flag("urls", false)
	v.MaxChars = charLimit(q, efficient)
	v.Timeout = time.Duration(q.Clamp("timeoutMs", 20_000, 500, 60_000)) * time.Millisecond
	if q.String("refs") == formatARIA && (v.Selector != "" || q.String("frame") != "") {
		return v, fault.Invalidf("refs=aria cannot be had with selector or frame")
	}
	return v, errors.Join(q.Err(), unavailable(q, v.format == formatARIA, labels))
}

// charLimit is the bound of the text. What is given but is no positive number lifts it.
func charLimit(q *body.Fields, efficient bool) int {
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

// unavailable refuses what snapshots cannot do, rather than to leave it out of them unsaid.
func unavailable(q *body.Fields, aria, labels bool) error {
	for name, wanted := range map[string]bool{
		"format=aria": aria, "labels": labels, "frame": q.String("frame") != "", "query": q.String("query") != "",
	} {
		if wanted {
			return &failure{status: http.StatusNotImplemented, err: fmt.Errorf("snapshot: %s is not available", name)}
		}
	}
	return nil
}

type snapshotAnswer struct {
	targetAnswer

	Format          string             `json:"format"`
	URL             string             `json:"url"`
	Snapshot        string             `json:"snapshot"`
	Refs            map[string]refJSON `json:"refs"`
	Stats           *snapshotStats     `json:"stats,omitempty"`
	Truncated       bool               `json:"truncated,omitempty"`
	BlockedByDialog bool               `json:"blockedByDialog,omitempty"`
	BrowserState    *browserState      `json:"browserState,omitempty"`
}

type refJSON struct {
	Role string `json:"role"`
	Name string `json:"name,omitempty"`
	Nth  *int   `json:"nth,omitempty"`
}

type snapshotStats struct {
	Lines       int `json:"lines"`
	Chars       int `json:"chars"` // UTF-16 units
	Refs        int `json:"refs"`
	Interactive int `json:"interactive"`
}

func snapshot(ctx context.Context, c *call) (snapshotAnswer, error) {
	mode := ""
	if c.server.SnapshotMode != nil {
		mode = c.server.SnapshotMode()
	}
	v, err := readView(c.query, mode)
	if err != nil {
		return snapshotAnswer{}, err
	}
	h, err := c.target(ctx)
	if err != nil {
		return snapshotAnswer{}, err
	}
	defer h.release()
	if err := c.server.permitted(ctx, h); err != nil {
		return snapshotAnswer{}, err
	}
	// The time includes waiting for what others do in the tab.
	ctx, cancel := context.WithTimeoutCause(ctx, v.Timeout, &fault.LimitError{Limit: v.Timeout})
	defer cancel()
	snap, err := h.tab.Snapshot(ctx, v.SnapshotOptions)
	if pendingDialog(err) {
		return snapshotAnswer{
			targetAnswer: h.answer(), Format: v.format, URL: h.url(), Refs: map[string]refJSON{}, BlockedByDialog: true, BrowserState: h.state(),
		}, nil
	}
	if err != nil {
		return snapshotAnswer{}, err
	}
	// The page may have gone elsewhere while it was read.
	if err := c.server.allow(ctx, h.desk.name, snap.URL); err != nil {
		return snapshotAnswer{}, err
	}
	refs, stats := count(snap)
	return snapshotAnswer{
		targetAnswer: h.answer(), Format: v.format, URL: snap.URL, Snapshot: snap.Text, Refs: refs, Stats: stats, Truncated: snap.Truncated,
	}, nil
}

var interactiveRoles = []string{
	"button", "checkbox", "combobox", "link", "listbox", "menuitem", "menuitemcheckbox", "menuitemradio", "option", "radio", "searchbox",
	"slider", "spinbutton", "switch", "tab", "textbox", "treeitem",
}

// count lists the refs that can be seen, and says how much there is.
func count(snap page.Snapshot) (map[string]refJSON, *snapshotStats) {
	refs := map[string]refJSON{}
	stats := &snapshotStats{Lines: strings.Count(snap.Text, "\n") + 1, Chars: units(snap.Text)}
	for _, r := range snap.Refs() {
		entry := refJSON{Role: r.Role, Name: r.Name}
		if r.Dup {
			entry.Nth = new(r.Nth)
		}
		refs[r.Ref] = entry
		if slices.Contains(interactiveRoles, r.Role) {
			stats.Interactive++
		}
	}
	stats.Refs = len(refs)
	return refs, stats
}

func units(text string) int {
	n := 0
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}
