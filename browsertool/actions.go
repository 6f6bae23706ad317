package browsertool

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf16"

	"clank/untrusted"
)

// external marks details as a page's. kind names what they are.
func external(kind string, details map[string]any) map[string]any {
	details["externalContent"] = map[string]any{"untrusted": true, "source": "browser", "kind": kind, "wrapped": true}
	return details
}

// wrapped is an answer that may repeat what pages say.
func wrapped(kind string, answer map[string]any) Result {
	return Result{Text: untrusted.Wrap(encode(answer)), Details: external(kind, answer)}
}

// unwrapped is an answer of the service's own words.
func unwrapped(answer map[string]any) Result {
	return Result{Text: untrusted.Clean(encode(answer)), Details: answer}
}

// plain makes the handler of a route that answers in the service's own words.
func plain(method, path string, keys ...string) func(context.Context, *call) (Result, error) {
	return func(ctx context.Context, c *call) (Result, error) {
		answer, err := c.send(ctx, method, path, c.in.query(keys...), nil)
		if err != nil {
			return Result{}, err
		}
		return unwrapped(answer), nil
	}
}

// posted makes the handler of a route whose answer may repeat what pages say.
func posted(kind, path string, keys ...string) func(context.Context, *call) (Result, error) {
	return func(ctx context.Context, c *call) (Result, error) {
		answer, err := c.post(ctx, path, c.in.body(keys...))
		if err != nil {
			return Result{}, err
		}
		return wrapped(kind, answer), nil
	}
}

// listed makes the handler of a route that answers with a list under key.
func listed(path, key string, keys ...string) func(context.Context, *call) (Result, error) {
	return func(ctx context.Context, c *call) (Result, error) {
		answer, err := c.get(ctx, path, c.in.query(keys...))
		if err != nil {
			return Result{}, err
		}
		list, _ := answer[key].([]any)
		details := pick(answer, "ok", "targetId", "url")
		details[strings.TrimSuffix(key, "s")+"Count"] = len(list)
		return Result{Text: untrusted.Wrap(encode(answer)), Details: external(strings.TrimPrefix(path, "/"), details)}, nil
	}
}

// pick copies the fields that an answer has.
func pick(answer map[string]any, keys ...string) map[string]any {
	out := map[string]any{}
	for _, key := range keys {
		if v, ok := answer[key]; ok {
			out[key] = v
		}
	}
	return out
}

// startStop makes the handler that starts or stops a browser and tells how it
// is after that.
func startStop(path string) func(context.Context, *call) (Result, error) {
	return func(ctx context.Context, c *call) (Result, error) {
		if _, err := c.post(ctx, path, nil); err != nil {
			return Result{}, err
		}
		status, err := c.get(ctx, "/", nil)
		if err != nil {
			return Result{}, fmt.Errorf("it was done, but the status cannot be told: %w", err)
		}
		return unwrapped(status), nil
	}
}

func readText(ctx context.Context, c *call) (Result, error) {
	answer, err := c.get(ctx, "/text", c.in.query("targetId", "selector", "maxChars"))
	if err != nil {
		return Result{}, err
	}
	text, _ := answer["text"].(string)
	details := pick(answer, "ok", "targetId", "url", "truncated")
	details["chars"] = len(utf16.Encode([]rune(text)))
	if input(answer).is("truncated") {
		text += "\n[...TRUNCATED: the page has more text]"
	}
	return Result{Text: untrusted.Warned(text), Details: external("text", details)}, nil
}

// emulate sets what is named, one after the other.
func emulate(ctx context.Context, c *call) (Result, error) {
	set := map[string]any{}
	for _, one := range []struct{ key, path, field string }{
		{"device", "/set/device", "name"},
		{"colorScheme", "/set/media", "colorScheme"},
		{"timezoneId", "/set/timezone", "timezoneId"},
		{"locale", "/set/locale", "locale"},
	} {
		value := c.in.text(one.key)
		if value == "" {
			continue
		}
		body := c.in.body("targetId")
		body[one.field] = value
		answer, err := c.post(ctx, one.path, body)
		if err != nil && len(set) > 0 {
			return Result{}, fmt.Errorf("%w (done before that: %s)", err, encode(set))
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
		return Result{}, wrong("emulate needs device, colorScheme, timezoneId or locale")
	}
	set["ok"] = true
	return unwrapped(set), nil
}

func pdf(ctx context.Context, c *call) (Result, error) {
	answer, err := c.post(ctx, "/pdf", c.in.body("targetId"))
	if err != nil {
		return Result{}, err
	}
	return wrapped("pdf", answer), nil
}

func upload(ctx context.Context, c *call) (Result, error) {
	body := c.in.body("paths", "ref", "inputRef", "element", "targetId", "timeoutMs")
	if _, ok := body["paths"]; !ok && c.in.text("path") != "" {
		body["paths"] = []string{c.in.text("path")}
	}
	if _, ok := body["paths"]; !ok {
		return Result{}, wrong("upload needs paths")
	}
	answer, err := c.post(ctx, "/hooks/file-chooser", body)
	if err != nil {
		return Result{}, err
	}
	return wrapped("upload", answer), nil
}

// doAct sends an act.
func doAct(ctx context.Context, c *call) (Result, error) {
	if len(c.act) == 0 || input(c.act).text("kind") == "" {
		return Result{}, wrong("act needs a kind: request={kind, ...}; there are " + strings.Join(c.session.Tool.Kinds(Capability{}), ", "))
	}
	if !c.session.Tool.evaluates() && scripted(c.act, 0) {
		return Result{}, wrong("scripts may not be run here (browser.evaluateEnabled=false); use snapshot, text and the other kinds")
	}
	answer, err := c.post(ctx, "/act", c.act)
	if err != nil && c.mayDropTarget(ctx, err) {
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
	c.follow(answer)
	if input(c.act).text("kind") == "close" {
		c.session.forget(c.target, c.profile, input(answer).text("targetId"), input(c.act).text("targetId"))
	}
	return wrapped("act", answer), nil
}

// scripted reports whether an act, or one within it, would run a script.
func scripted(act map[string]any, depth int) bool {
	in := input(act)
	kind := in.text("kind")
	if kind == "evaluate" || (kind == "wait" && in.text("fn") != "") {
		return true
	}
	const deepest = 10 // the service refuses less
	nested, _ := act["actions"].([]any)
	return slices.ContainsFunc(nested, func(v any) bool {
		one, ok := v.(map[string]any)
		return ok && (depth >= deepest || scripted(one, depth+1))
	})
}

// mayDropTarget decides whether an act on a tab that is gone may be tried once
// more without naming the tab: only in a browser that somebody else runs, whose
// ids change behind our back; only for what changes nothing; and only when
// there is no second tab that could be hit.
func (c *call) mayDropTarget(ctx context.Context, err error) bool {
	in := input(c.act)
	if !isGone(err) || in.text("targetId") == "" || !slices.Contains([]string{"hover", "scrollIntoView", "wait"}, in.text("kind")) {
		return false
	}
	status, err := c.get(ctx, "/", nil)
	if err != nil || !attached(status) {
		return false
	}
	tabs, err := c.get(ctx, "/tabs", nil)
	if err != nil {
		return false
	}
	list, _ := tabs["tabs"].([]any)
	return len(list) == 1
}

func attached(status map[string]any) bool {
	in := input(status)
	return in.text("driver") == "existing-session" || in.text("transport") == "chrome-mcp"
}

// isGone reports whether the service said that there is no such tab.
func isGone(err error) bool {
	a, ok := errors.AsType[*answered](err)
	return ok && a.status == http.StatusNotFound && strings.Contains(strings.ToLower(a.text), "tab not found")
}
