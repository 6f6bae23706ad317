package browsertool

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf16"

	"clank/internal/untrusted"
)

// markExternal marks details as coming from a page. kind says what they are.
func markExternal(kind string, details map[string]any) map[string]any {
	details["externalContent"] = map[string]any{"untrusted": true, "source": "browser", "kind": kind, "wrapped": true}
	return details
}

// pageResult returns an answer that may quote pages.
func pageResult(kind string, answer map[string]any) Result {
	return Result{Text: untrusted.Wrap(encodeJSON(answer)), Details: markExternal(kind, answer)}
}

// serviceResult returns an answer that contains no page text.
func serviceResult(answer map[string]any) Result {
	return Result{Text: untrusted.Clean(encodeJSON(answer)), Details: answer}
}

// serviceHandler returns the handler for a route whose answers contain no page text.
func serviceHandler(method, path string, keys ...string) func(context.Context, *toolCall) (Result, error) {
	return func(ctx context.Context, c *toolCall) (Result, error) {
		answer, err := c.send(ctx, method, path, c.in.query(keys...), nil)
		if err != nil {
			return Result{}, err
		}
		return serviceResult(answer), nil
	}
}

// pageHandler returns the handler for a route whose answers may quote pages.
func pageHandler(kind, path string, keys ...string) func(context.Context, *toolCall) (Result, error) {
	return func(ctx context.Context, c *toolCall) (Result, error) {
		return c.postPage(ctx, kind, path, c.in.body(keys...))
	}
}

// postPage sends a request whose answer may quote pages.
func (c *toolCall) postPage(ctx context.Context, kind, path string, body map[string]any) (Result, error) {
	answer, err := c.post(ctx, path, body)
	if err != nil {
		return Result{}, err
	}
	return pageResult(kind, answer), nil
}

// listHandler returns the handler for a route that answers with a list under key.
func listHandler(path, key string, keys ...string) func(context.Context, *toolCall) (Result, error) {
	return func(ctx context.Context, c *toolCall) (Result, error) {
		answer, err := c.get(ctx, path, c.in.query(keys...))
		if err != nil {
			return Result{}, err
		}
		list, _ := answer[key].([]any)
		details := pickFields(answer, "ok", "targetId", "url", "dropped")
		details[strings.TrimSuffix(key, "s")+"Count"] = len(list)
		return Result{
			Text:    untrusted.Wrap(encodeJSON(answer)),
			Details: markExternal(strings.TrimPrefix(path, "/"), details),
		}, nil
	}
}

// readHAR returns the HTTP archive of a tab, limited to the latest matching entries that fit.
func readHAR(ctx context.Context, c *toolCall) (Result, error) {
	answer, err := c.get(ctx, "/har", c.in.query("targetId"))
	if err != nil {
		return Result{}, err
	}
	har, _ := answer["har"].(map[string]any)
	log, _ := har["log"].(map[string]any)
	all, _ := log["entries"].([]any)
	kept, room := []any{}, c.maxChars()
	details := pickFields(answer, "ok", "targetId", "url")
	for _, entry := range slices.Backward(all) {
		fields, _ := entry.(map[string]any)
		request, _ := fields["request"].(map[string]any)
		if !strings.Contains(callInput(request).str("url"), c.in.str("filter")) {
			continue
		}
		if room -= len(encodeJSON(entry)); room < 0 {
			details["truncated"], answer["truncated"] = true, "older exchanges are left out: use filter or maxChars"
			break
		}
		kept = append(kept, entry)
	}
	slices.Reverse(kept)
	if log != nil {
		log["entries"] = kept
	}
	details["entryCount"] = len(kept)
	return Result{Text: untrusted.Wrap(encodeJSON(answer)), Details: markExternal("har", details)}, nil
}

// pickFields copies the fields that an answer has.
func pickFields(answer map[string]any, keys ...string) map[string]any {
	out := map[string]any{}
	for _, key := range keys {
		if v, ok := answer[key]; ok {
			out[key] = v
		}
	}
	return out
}

// startStopHandler returns the handler that starts or stops a browser and returns its status.
func startStopHandler(path string) func(context.Context, *toolCall) (Result, error) {
	return func(ctx context.Context, c *toolCall) (Result, error) {
		if _, err := c.post(ctx, path, nil); err != nil {
			return Result{}, err
		}
		status, err := c.get(ctx, "/", nil)
		if err != nil {
			return Result{}, fmt.Errorf("it was done, but the status is not available: %w", err)
		}
		return serviceResult(status), nil
	}
}

func readText(ctx context.Context, c *toolCall) (Result, error) {
	answer, err := c.get(ctx, "/text", c.in.query("targetId", "selector", "maxChars"))
	if err != nil {
		return Result{}, err
	}
	text, _ := answer["text"].(string)
	details := pickFields(answer, "ok", "targetId", "url", "truncated")
	details["chars"] = len(utf16.Encode([]rune(text)))
	if callInput(answer).isTrue("truncated") {
		text += "\n[...TRUNCATED: the page has more text]"
	}
	return Result{Text: untrusted.WrapWithWarning(text), Details: markExternal("text", details)}, nil
}

// setEmulation applies the given settings one after the other.
func setEmulation(ctx context.Context, c *toolCall) (Result, error) {
	set := map[string]any{}
	for _, one := range []struct{ key, path, field string }{
		{"device", "/set/device", "name"},
		{"colorScheme", "/set/media", "colorScheme"},
		{"timezoneId", "/set/timezone", "timezoneId"},
		{"locale", "/set/locale", "locale"},
	} {
		value := c.in.str(one.key)
		if value == "" {
			continue
		}
		body := c.in.body("targetId")
		body[one.field] = value
		answer, err := c.post(ctx, one.path, body)
		if err != nil && len(set) > 0 {
			return Result{}, fmt.Errorf("%w (done before that: %s)", err, encodeJSON(set))
		}
		if err != nil {
			return Result{}, err
		}
		set[one.key] = value
		if id, ok := answer["targetId"]; ok {
			set["targetId"] = id
		}
	}
	if len(set) == 0 {
		return Result{}, newCallError("emulate needs device, colorScheme, timezoneId or locale")
	}
	set["ok"] = true
	return serviceResult(set), nil
}

func uploadFiles(ctx context.Context, c *toolCall) (Result, error) {
	body := c.in.body("paths", "ref", "inputRef", "element", "targetId", "timeoutMs")
	if _, ok := body["paths"]; !ok && c.in.str("path") != "" {
		body["paths"] = []string{c.in.str("path")}
	}
	if _, ok := body["paths"]; !ok {
		return Result{}, newCallError("upload needs paths")
	}
	return c.postPage(ctx, "upload", "/hooks/file-chooser", body)
}

// performAct sends an act.
func performAct(ctx context.Context, c *toolCall) (Result, error) {
	if len(c.act) == 0 || callInput(c.act).str("kind") == "" {
		return Result{}, newCallError("act needs a kind: request={kind, ...}; there are " +
			strings.Join(c.tool.Kinds(), ", "))
	}
	if !c.tool.settings().EvaluateEnabled() && runsScript(c.act, 0) {
		return Result{}, newCallError("scripts may not be run here (browser.evaluateEnabled=false); use snapshot, text and " +
			"the other kinds")
	}
	answer, err := c.post(ctx, "/act", c.act)
	if err != nil && c.guest == nil && c.mayDropTarget(ctx, err) {
		without := map[string]any{}
		for key, v := range c.act {
			if key != "targetId" {
				without[key] = v
			}
		}
		answer, err = c.post(ctx, "/act", without)
	}
	if err != nil {
		return Result{}, err
	}
	c.updateTabID(answer)
	if callInput(c.act).str("kind") == "close" {
		c.session.forgetTabs(c.target, c.profile, callInput(answer).str("targetId"), callInput(c.act).str("targetId"))
	}
	return pageResult("act", answer), nil
}

// runsScript reports whether an act, or a nested one, would run a script.
func runsScript(act map[string]any, depth int) bool {
	in := callInput(act)
	kind := in.str("kind")
	if kind == "evaluate" || (kind == "wait" && in.str("fn") != "") {
		return true
	}
	const deepest = 10 // the service accepts less
	nested, _ := act["actions"].([]any)
	return slices.ContainsFunc(nested, func(v any) bool {
		one, ok := v.(map[string]any)
		return ok && (depth >= deepest || runsScript(one, depth+1))
	})
}

// mayDropTarget reports whether an act on a missing tab may be retried without naming the tab: only in an attached
// browser, whose ids change without notice; only for acts that change nothing; and only if there is no other tab that
// it could hit.
func (c *toolCall) mayDropTarget(ctx context.Context, err error) bool {
	in := callInput(c.act)
	if !isTabGone(err) || in.str("targetId") == "" || !slices.Contains([]string{"hover", "scrollIntoView", "wait"},
		in.str("kind")) {
		return false
	}
	status, err := c.get(ctx, "/", nil)
	if err != nil || !isAttached(status) {
		return false
	}
	tabs, err := c.get(ctx, "/tabs", nil)
	if err != nil {
		return false
	}
	list, _ := tabs["tabs"].([]any)
	return len(list) == 1
}

func isAttached(status map[string]any) bool {
	in := callInput(status)
	return in.str("driver") == "existing-session" || in.str("transport") == "chrome-mcp"
}

// isTabGone reports whether the service said that the tab does not exist.
func isTabGone(err error) bool {
	a, ok := errors.AsType[*serviceError](err)
	return ok && a.status == http.StatusNotFound && strings.Contains(strings.ToLower(a.text), "tab not found")
}
