package browsertool

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf16"

	"clank/internal/untrusted"
)

const (
	formatAria    = "aria"
	modeEfficient = "efficient"
	truncatedNote = "[...TRUNCATED: narrow the snapshot with query, selector, depth or interactive]"
)

// snapshotQuery returns the query of a snapshot: the given parameters and the defaults.
func (c *toolCall) snapshotQuery() url.Values {
	q := c.in.query("targetId", "mode", "refs", "interactive", "compact", "depth", "selector", "frame", "after", "labels",
		"urls",
		"limit", "maxChars", "timeoutMs")
	format := cmp.Or(c.in.str("snapshotFormat"), c.in.str("format"))
	if format != "" {
		q.Set("format", format)
	}
	if format == formatAria {
		return q
	}
	if q.Get("mode") == "" && c.tool.settings().SnapshotMode() == modeEfficient {
		q.Set("mode", modeEfficient)
	}
	switch {
	case c.in.str("query") != "":
		q.Set("maxChars", "0") // a match may be beyond the cut
	case q.Get("maxChars") == "" && q.Get("mode") != modeEfficient:
		q.Set("maxChars", strconv.Itoa(maxSnapshot))
	}
	return q
}

func takeSnapshot(ctx context.Context, c *toolCall) (Result, error) {
	answer, err := c.get(ctx, "/snapshot", c.snapshotQuery())
	if err != nil {
		return Result{}, err
	}
	if words := strings.Fields(strings.ToLower(c.in.str("query"))); len(words) > 0 {
		filterLines(answer, words, c.maxChars())
	}
	r := Result{Text: snapshotText(answer), Details: snapshotDetails(answer)}
	if path := callInput(answer).str("imagePath"); path != "" {
		c.addImage(&r, path, answer)
	}
	return r, nil
}

// maxChars returns the limit for the matching lines.
func (c *toolCall) maxChars() int {
	if n, err := strconv.Atoi(c.in.str("maxChars")); err == nil && n > 0 {
		return n
	}
	return maxSnapshot
}

// filterLines keeps only the lines of a snapshot that contain all words.
func filterLines(answer map[string]any, words []string, limit int) {
	text, ok := answer["snapshot"].(string)
	if !ok {
		return
	}
	var found []string
	chars, cut := 0, false
	for line := range strings.Lines(text) {
		low := strings.ToLower(line)
		all := true
		for _, w := range words {
			all = all && strings.Contains(low, w)
		}
		if !all {
			continue
		}
		line = strings.TrimRight(line, "\n")
		if chars += len(utf16.Encode([]rune(line))) + 1; chars > limit-len(truncatedNote)-2 {
			cut = true
			break
		}
		found = append(found, line)
	}
	switch {
	case len(found) == 0 && !cut:
		found = []string{"(no line matches)"}
	case cut:
		found = append(found, "", truncatedNote)
		answer["truncated"] = true
	}
	answer["snapshot"] = strings.Join(found, "\n")
}

// snapshotText formats a snapshot for the model.
func snapshotText(answer map[string]any) string {
	in := callInput(answer)
	var b strings.Builder
	for _, key := range []string{"url", "targetId", "reason"} {
		if s := in.str(key); s != "" {
			fmt.Fprintf(&b, "%s: %s\n", key, s)
		}
	}
	if state, ok := answer["browserState"]; ok {
		fmt.Fprintf(&b, "browserState: %s\n", encodeJSON(state))
	}
	if in.isTrue("blockedByDialog") {
		b.WriteString("A dialog is open and holds the page; answer it with action=dialog.\n")
	}
	b.WriteString("\n")
	if nodes, ok := answer["nodes"]; ok {
		b.WriteString(encodeJSON(nodes))
	} else if s, ok := answer["snapshot"].(string); ok {
		b.WriteString(s)
	}
	return untrusted.WrapWithWarning(b.String())
}

func snapshotDetails(answer map[string]any) map[string]any {
	d := pickFields(answer, "ok", "format", "targetId", "url", "truncated", "stats", "newElements", "labels",
		"labelsCount", "labelsSkipped",
		"imagePath", "imageType", "annotations", "blockedByDialog", "browserState")
	if refs, ok := answer["refs"].(map[string]any); ok {
		d["refs"] = len(refs)
	}
	if nodes, ok := answer["nodes"].([]any); ok {
		d["nodeCount"] = len(nodes)
	}
	markExternal("snapshot", d)
	if ext, ok := d["externalContent"].(map[string]any); ok && callInput(answer).str("format") != "" {
		ext["format"] = callInput(answer).str("format")
	}
	return d
}

// navigateTab goes to a URL and returns a snapshot of the page.
func navigateTab(ctx context.Context, c *toolCall) (Result, error) {
	address := c.targetURL()
	if address == "" {
		return Result{}, newCallError("navigate needs targetUrl")
	}
	body := c.in.body("targetId", "timeoutMs")
	body["url"] = address
	answer, err := c.post(ctx, "/navigate", body)
	if err != nil {
		return Result{}, err
	}
	c.updateTabID(answer)
	r := pageResult("navigate", answer)
	if _, isFile := answer["download"]; isFile {
		return r, nil
	}
	q := url.Values{"mode": {modeEfficient}}
	if id := callInput(answer).str("targetId"); id != "" {
		q.Set("targetId", id)
	}
	state, err := c.get(ctx, "/snapshot", q)
	if err != nil {
		// The navigation succeeded; that must not look like a failure.
		r.Text += "\n\nThe page is open, but it could not be looked at:\n" + failedResult(err).Text
		r.Details["pageStateError"] = err.Error()
		return r, nil
	}
	r.Text += "\n\nThe page now, in short (action=snapshot shows more):\n" + snapshotText(state)
	r.Details["pageState"] = snapshotDetails(state)
	return r, nil
}

// takeScreenshot takes a screenshot and returns it, or its description.
func takeScreenshot(ctx context.Context, c *toolCall) (Result, error) {
	answer, err := c.post(ctx, "/screenshot", c.in.body("targetId", "fullPage", "ref", "element", "type", "labels",
		"timeoutMs"))
	if err != nil {
		return Result{}, err
	}
	told := pickFields(answer, "targetId", "url", "labelsCount", "labelsSkipped", "annotations", "truncated", "fileErrors")
	r := Result{Text: untrusted.Wrap(encodeJSON(told)), Details: markExternal("screenshot", answer)}
	path := callInput(answer).str("path")
	if path == "" {
		return Result{}, fmt.Errorf("the screenshot cannot be shown: %w: it names no file", ErrAPIBadAnswer)
	}
	if !c.addImage(&r, path, answer) {
		r.IsError = true
	}
	return r, nil
}

// addImage adds a picture to r. ok is false if it is not available.
func (c *toolCall) addImage(r *Result, path string, answer map[string]any) (ok bool) {
	image, err := c.readImage(path, answer)
	if err != nil {
		r.Text += "\n\nThe picture was taken but cannot be shown: " + untrusted.CleanLine(err.Error(), maxServiceError)
		return false
	}
	r.Images = append(r.Images, image)
	return true
}
