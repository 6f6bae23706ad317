package browsertool

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf16"

	"clank/untrusted"
)

const (
	aria      = "aria"
	efficient = "efficient"
	truncated = "[...TRUNCATED: narrow the snapshot with query, selector, depth or interactive]"
)

// snapshotQuery is the query of a snapshot: what was asked, and the defaults.
func (c *call) snapshotQuery() url.Values {
	q := c.in.query("targetId", "mode", "refs", "interactive", "compact", "depth", "selector", "frame", "labels", "urls", "limit", "maxChars", "timeoutMs")
	format := c.in.text("snapshotFormat")
	if format == "" {
		format = c.in.text("format")
	}
	if format != "" {
		q.Set("format", format)
	}
	if format == aria {
		return q
	}
	if mode := c.session.Tool.SnapshotMode; q.Get("mode") == "" && mode != nil && mode() == efficient {
		q.Set("mode", efficient)
	}
	switch {
	case c.in.text("query") != "":
		q.Set("maxChars", "0") // what is looked for may stand behind the cut
	case q.Get("maxChars") == "" && q.Get("mode") != efficient:
		q.Set("maxChars", strconv.Itoa(maxSnapshot))
	}
	return q
}

func snapshot(ctx context.Context, c *call) (Result, error) {
	answer, err := c.get(ctx, "/snapshot", c.snapshotQuery())
	if err != nil {
		return Result{}, err
	}
	if words := strings.Fields(strings.ToLower(c.in.text("query"))); len(words) > 0 {
		search(answer, words, c.maxChars())
	}
	r := Result{Text: snapshotText(answer), Details: snapshotDetails(answer)}
	if path := input(answer).text("imagePath"); path != "" {
		c.picture(ctx, &r, path, answer)
	}
	return r, nil
}

// maxChars is how long the found lines may be.
func (c *call) maxChars() int {
	if n, err := strconv.Atoi(c.in.text("maxChars")); err == nil && n > 0 {
		return n
	}
	return maxSnapshot
}

// search leaves the lines of a snapshot that hold all words.
func search(answer map[string]any, words []string, limit int) {
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
		if chars += len(utf16.Encode([]rune(line))) + 1; chars > limit-len(truncated)-2 {
			cut = true
			break
		}
		found = append(found, line)
	}
	switch {
	case len(found) == 0 && !cut:
		found = []string{"(no line matches)"}
	case cut:
		found = append(found, "", truncated)
		answer["truncated"] = true
	}
	answer["snapshot"] = strings.Join(found, "\n")
}

// snapshotText is what a model reads of a snapshot.
func snapshotText(answer map[string]any) string {
	in := input(answer)
	var b strings.Builder
	for _, key := range []string{"url", "targetId"} {
		if s := in.text(key); s != "" {
			fmt.Fprintf(&b, "%s: %s\n", key, s)
		}
	}
	if state, ok := answer["browserState"]; ok {
		fmt.Fprintf(&b, "browserState: %s\n", encode(state))
	}
	if in.is("blockedByDialog") {
		b.WriteString("A dialog is open and holds the page; answer it with action=dialog.\n")
	}
	b.WriteString("\n")
	if nodes, ok := answer["nodes"]; ok {
		b.WriteString(encode(nodes))
	} else if s, ok := answer["snapshot"].(string); ok {
		b.WriteString(s)
	}
	return untrusted.Warned(b.String())
}

func snapshotDetails(answer map[string]any) map[string]any {
	d := pick(answer, "ok", "format", "targetId", "url", "truncated", "stats", "newElements", "labels", "labelsCount", "labelsSkipped",
		"imagePath", "imageType", "annotations", "blockedByDialog", "browserState")
	if refs, ok := answer["refs"].(map[string]any); ok {
		d["refs"] = len(refs)
	}
	if nodes, ok := answer["nodes"].([]any); ok {
		d["nodeCount"] = len(nodes)
	}
	external("snapshot", d)
	if ext, ok := d["externalContent"].(map[string]any); ok && input(answer).text("format") != "" {
		ext["format"] = input(answer).text("format")
	}
	return d
}

// navigate goes somewhere and shows in the same answer what is there.
func navigate(ctx context.Context, c *call) (Result, error) {
	address := c.address()
	if address == "" {
		return Result{}, wrong("navigate needs targetUrl")
	}
	body := c.in.body("targetId", "timeoutMs")
	body["url"] = address
	answer, err := c.post(ctx, "/navigate", body)
	if err != nil {
		return Result{}, err
	}
	c.follow(answer)
	r := wrapped("navigate", answer)
	if _, isFile := answer["download"]; isFile {
		return r, nil
	}
	q := url.Values{"mode": {efficient}}
	if id := input(answer).text("targetId"); id != "" {
		q.Set("targetId", id)
	}
	state, err := c.get(ctx, "/snapshot", q)
	if err != nil {
		// The navigation is done; that must not look as if it had failed.
		r.Text += "\n\nThe page is open, but it could not be looked at:\n" + failed(err).Text
		r.Details["pageStateError"] = err.Error()
		return r, nil
	}
	r.Text += "\n\nThe page now, in short (action=snapshot shows more):\n" + snapshotText(state)
	r.Details["pageState"] = snapshotDetails(state)
	return r, nil
}

// screenshot takes a picture and shows it, or tells what it shows.
func screenshot(ctx context.Context, c *call) (Result, error) {
	answer, err := c.post(ctx, "/screenshot", c.in.body("targetId", "fullPage", "ref", "element", "type", "labels", "timeoutMs"))
	if err != nil {
		return Result{}, err
	}
	told := pick(answer, "targetId", "url", "labelsCount", "labelsSkipped", "annotations", "truncated", "fileErrors")
	r := Result{Text: untrusted.Wrap(encode(told)), Details: external("screenshot", answer)}
	path := input(answer).text("path")
	if path == "" {
		return Result{}, fmt.Errorf("the screenshot cannot be shown: %w: it names no file", ErrNoAnswer)
	}
	if !c.picture(ctx, &r, path, answer) {
		r.IsError = true
	}
	return r, nil
}

// picture adds a picture to r, or what somebody who can see it says of it. ok
// is false if neither can be had.
func (c *call) picture(ctx context.Context, r *Result, path string, answer map[string]any) (ok bool) {
	image, err := c.read(path, answer)
	if err != nil {
		r.Text += "\n\nThe picture was taken but cannot be shown: " + untrusted.Line(err.Error(), maxServiceError)
		return false
	}
	if v := c.session.Tool.Vision; v != nil && c.session.Blind {
		text, err := v.describe(ctx, image)
		if err == nil {
			r.Text += "\n\nA vision model describes the picture:\n" + untrusted.Warned(text)
			r.Details["described"] = true
			return true
		}
		r.Text += "\n\nThe picture could not be described (" + untrusted.Line(err.Error(), maxCaption) + "); it is attached as it is."
	}
	r.Images = append(r.Images, image)
	return true
}
