package browsertool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"clank/browsermgr/page/action/actiontable"
	"clank/internal/untrusted"
)

// Session is one conversation that uses the tool. Set Tool before use. It is safe for concurrent use. Its creator
// must call Close.
type Session struct {
	Tool *Tool

	mu    sync.Mutex
	tabs  []openedTab
	ended bool
}

// toolCall is one running call.
type toolCall struct {
	session *Session
	tool    *Tool
	guest   *Guest // nil: unrestricted
	target  *Target
	in      callInput
	act     map[string]any
	profile string
}

// Run executes one call with the model's input. Failures are returned as a Result with IsError; the error is only
// ever the cause of ctx.
func (s *Session) Run(ctx context.Context, raw json.RawMessage) (Result, error) {
	return s.RunAs(ctx, s.Tool, nil, raw)
}

// RunAs is like Run with a given tool, restricted to a guest; nil means unrestricted.
func (s *Session) RunAs(ctx context.Context, tool *Tool, guest *Guest, raw json.RawMessage) (Result, error) {
	r, err := s.run(ctx, tool, guest, raw)
	if ctx.Err() != nil && (err != nil || r.IsError) {
		return Result{}, context.Cause(ctx)
	}
	if err != nil {
		return failedResult(err), nil
	}
	return r, nil
}

func (s *Session) run(ctx context.Context, tool *Tool, guest *Guest, raw json.RawMessage) (Result, error) {
	in, act, err := parseCall(raw)
	if err != nil {
		return Result{}, newCallError(err.Error())
	}
	name := in.str("action")
	do, known := actionHandlers[name]
	if offered := tool.actions(); !known || !slices.Contains(offered, name) {
		return Result{}, newCallError(fmt.Sprintf("action %q is not known; there are: %s", name, strings.Join(offered, ", ")))
	}
	s.mu.Lock()
	ended := s.ended
	s.mu.Unlock()
	if ended {
		return Result{}, errors.New("this session has ended; its tabs are closed")
	}
	target, err := tool.Targets.Pick(ctx, in.str("target"), in.str("node"))
	if err != nil {
		return Result{}, newCallError(err.Error())
	}
	c := &toolCall{session: s, tool: tool, guest: guest, target: target, in: in, act: act, profile: in.str("profile")}
	within := callTimeout(name, in, act) + target.Slack
	if hasAskID(ctx) {
		within += tool.settings().ApprovalWait()
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if err := c.confine(ctx, name); err != nil {
		return Result{}, err
	}
	return do(ctx, c)
}

// actionHandlers are the handlers by action name.
var actionHandlers = map[string]func(context.Context, *toolCall) (Result, error){
	"doctor":          serviceHandler(http.MethodGet, "/doctor", "deep"),
	"status":          serviceHandler(http.MethodGet, "/"),
	"start":           startStopHandler("/start"),
	"stop":            startStopHandler("/stop"),
	"profiles":        serviceHandler(http.MethodGet, "/profiles"),
	"tabs":            listTabs,
	"open":            openTab,
	"focus":           focusTab,
	"close":           closeTab,
	"snapshot":        takeSnapshot,
	"screenshot":      takeScreenshot,
	"navigate":        navigateTab,
	"console":         listHandler("/console", "messages", "level", "targetId"),
	"requests":        listHandler("/requests", "requests", "filter", "clear", "targetId"),
	"errors":          listHandler("/errors", "errors", "clear", "targetId"),
	"text":            readText,
	"emulate":         setEmulation,
	"pdf":             pageHandler("pdf", "/pdf", "targetId"),
	"download":        pageHandler("download", "/download", "ref", "path", "targetId", "timeoutMs"),
	"waitfordownload": pageHandler("download", "/wait/download", "path", "targetId", "timeoutMs"),
	"upload":          uploadFiles,
	"dialog":          pageHandler("dialog", "/hooks/dialog", "accept", "promptText", "dialogId", "targetId", "timeoutMs"),
	"act":             performAct,
	"cookies":         listHandler("/cookies", "cookies", "targetId"),
	"har":             readHAR,
	"tracestart":      pageHandler("trace", "/trace/start", "targetId"),
	"tracestop":       pageHandler("trace", "/trace/stop", "path", "targetId"),
}

// get, post and remove call the control API and return its JSON object.
func (c *toolCall) get(ctx context.Context, path string, query url.Values) (map[string]any, error) {
	return c.send(ctx, http.MethodGet, path, query, nil)
}

func (c *toolCall) post(ctx context.Context, path string, body map[string]any) (map[string]any, error) {
	return c.send(ctx, http.MethodPost, path, nil, body)
}

// send adds the profile and converts error answers to errors.
func (c *toolCall) send(ctx context.Context, method, path string, query url.Values,
	body map[string]any,
) (map[string]any, error) {
	if query == nil {
		query = url.Values{}
	}
	if c.profile != "" {
		query.Set("profile", c.profile)
	}
	var payload any
	if method == http.MethodPost {
		if body == nil {
			body = map[string]any{}
		}
		payload = body
	}
	status, raw, err := c.target.API.Call(ctx, method, path, query, payload)
	if err != nil {
		return nil, explainNoAnswer(ctx, err)
	}
	answer, err := decodeObject(raw)
	switch {
	case status < 200 || status > 299:
		refusal := readServiceError(status, answer)
		refusal.own = refusal.own || slices.Contains(pagelessRoutes, path)
		return nil, refusal
	case err != nil:
		return nil, fmt.Errorf("%w: it is not a JSON object", ErrAPIBadAnswer)
	}
	return answer, nil
}

// callTimeout returns how long to wait for the answer to a call: slightly longer than the control API's own limit, so
// that its error arrives first.
func callTimeout(action string, in callInput, act map[string]any) time.Duration {
	named := in.str("timeoutMs") != ""
	var inner time.Duration
	switch action {
	case "act":
		inner = min(actiontable.WaitFor(act).Total(), time.Hour)
	case "download", "waitfordownload", "upload":
		inner = clampMillis(in["timeoutMs"], 120*time.Second)
	default:
		inner = clampMillis(in["timeoutMs"], 20*time.Second)
	}
	if named {
		return max(inner+answerSlack, leastNamedWait)
	}
	return max(inner+answerSlack, leastWait)
}

// clampMillis parses a number of milliseconds and clamps it to the limits of the control API.
func clampMillis(v any, usual time.Duration) time.Duration {
	ms, given, ok := actiontable.ParseNumber(v, false)
	if !given || !ok || ms <= 0 {
		return usual
	}
	return time.Duration(min(max(ms, 500), 120_000)) * time.Millisecond
}

// openedTab is a tab that the session opened.
type openedTab struct {
	target   *Target
	profile  string // as requested
	targetID string // raw
	names    []string
}

// is reports whether id identifies the tab.
func (t openedTab) is(target *Target, profile string, id string) bool {
	return id != "" && t.profile == profile && sameTarget(t.target, target) &&
		(t.targetID == id || slices.Contains(t.names, id))
}

// sameTarget compares targets by ID, because nodes are listed anew for each call.
func sameTarget(a, b *Target) bool { return a == b || (a.ID != "" && a.ID == b.ID) }

func listTabs(ctx context.Context, c *toolCall) (Result, error) {
	answer, err := c.get(ctx, "/tabs", nil)
	if err != nil {
		return Result{}, err
	}
	list, _ := answer["tabs"].([]any)
	c.adoptPopups(list)
	list = c.ownTabs(list)
	answer["tabs"] = list
	for _, v := range list {
		if one, ok := v.(map[string]any); ok {
			delete(one, "wsUrl") // of no use to a model
		}
	}
	details := pickFields(answer, "running")
	details["tabCount"] = len(list)
	return Result{Text: untrusted.Wrap(encodeJSON(answer)), Details: markExternal("tabs", details)}, nil
}

// openTab opens a tab and records it as opened by this session.
func openTab(ctx context.Context, c *toolCall) (Result, error) {
	address := c.targetURL()
	if address == "" {
		return Result{}, newCallError("open needs targetUrl")
	}
	body := c.in.body("label")
	body["url"] = address
	answer, err := c.post(ctx, "/tabs/open", body)
	if err != nil {
		return Result{}, err
	}
	c.trackTab(ctx, answer)
	delete(answer, "wsUrl")
	return pageResult("open", answer), nil
}

// targetURL returns the URL for open and navigate.
func (c *toolCall) targetURL() string { return cmp.Or(c.in.str("targetUrl"), c.in.str("url")) }

func focusTab(ctx context.Context, c *toolCall) (Result, error) {
	if c.in.str("targetId") == "" {
		return Result{}, newCallError("focus needs targetId")
	}
	return c.postPage(ctx, "focus", "/tabs/focus", map[string]any{"targetId": c.in.str("targetId")})
}

// closeTab closes the given tab, or the current one.
func closeTab(ctx context.Context, c *toolCall) (Result, error) {
	id := c.in.str("targetId")
	if id == "" {
		c.act = map[string]any{"kind": "close"}
		return performAct(ctx, c)
	}
	if id == "." || id == ".." {
		return Result{}, newCallError("targetId does not name a tab") // and it must not become part of another route
	}
	answer, err := c.send(ctx, http.MethodDelete, "/tabs/"+url.PathEscape(id), nil, nil)
	if err != nil {
		return Result{}, err
	}
	c.session.forgetTabs(c.target, c.profile, id, callInput(answer).str("targetId"))
	return pageResult("close", answer), nil
}

// trackTab records the tab that answer describes. If the session was closed meanwhile, it closes the tab.
func (c *toolCall) trackTab(ctx context.Context, answer map[string]any) {
	t, ok := c.readTab(answer)
	if !ok {
		return
	}
	s := c.session
	s.mu.Lock()
	ended := s.ended
	if !ended {
		s.tabs = append(s.tabs, t)
	}
	s.mu.Unlock()
	if ended {
		_ = t.close(context.WithoutCancel(ctx)) // the call fails anyway
	}
}

// readTab parses the description of a tab; ok is false if it has no id.
func (c *toolCall) readTab(described map[string]any) (t openedTab, ok bool) {
	in := callInput(described)
	t = openedTab{target: c.target, profile: c.profile, targetID: in.str("targetId")}
	for _, key := range []string{"tabId", "label", "suggestedTargetId"} {
		if s := in.str(key); s != "" {
			t.names = append(t.names, s)
		}
	}
	return t, t.targetID != "" && t.targetID != "." && t.targetID != ".."
}

// adoptPopups adds the tabs in list that pages in the session's tabs have opened. It does not change the last used
// tab.
func (c *toolCall) adoptPopups(list []any) {
	s := c.session
	s.mu.Lock()
	defer s.mu.Unlock()
	own := func(id string) bool {
		return slices.ContainsFunc(s.tabs, func(t openedTab) bool { return t.is(c.target, c.profile, id) })
	}
	for found := true; found; {
		found = false
		for _, v := range list {
			one, _ := v.(map[string]any)
			if t, ok := c.readTab(one); ok && own(callInput(one).str("openerId")) && !own(t.targetID) {
				s.tabs, found = slices.Insert(s.tabs, 0, t), true
			}
		}
	}
}

// findPopups asks for the tabs that pages in the session's tabs have opened. Errors are ignored.
func (c *toolCall) findPopups(ctx context.Context) {
	if answer, err := c.get(ctx, "/tabs", nil); err == nil {
		list, _ := answer["tabs"].([]any)
		c.adoptPopups(list)
	}
}

// updateTabID records the new raw id of one of the session's tabs.
func (c *toolCall) updateTabID(answer map[string]any) {
	asked, now := c.in.str("targetId"), callInput(answer).str("targetId")
	if asked == "" || now == "" {
		return
	}
	s := c.session
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.tabs {
		if s.tabs[i].is(c.target, c.profile, asked) {
			s.tabs[i].targetID = now
		}
	}
}

// forgetTabs removes closed tabs.
func (s *Session) forgetTabs(target *Target, profile string, ids ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tabs = slices.DeleteFunc(s.tabs, func(t openedTab) bool {
		return slices.ContainsFunc(ids, func(id string) bool { return t.is(target, profile, id) })
	})
}

// Close ends the session and closes the tabs that it or their pages opened. No call starts after it. It may be called
// more than once, and during a call; a tab that this call opens is closed, too.
func (s *Session) Close(ctx context.Context) error {
	s.mu.Lock()
	known := slices.CompactFunc(slices.Clone(s.tabs), func(a, b openedTab) bool {
		return a.profile == b.profile && sameTarget(a.target, b.target)
	})
	s.mu.Unlock()
	for _, t := range known {
		looking, cancel := context.WithTimeout(ctx, closeTimeout+t.target.Slack)
		(&toolCall{session: s, target: t.target, profile: t.profile}).findPopups(looking)
		cancel()
	}
	s.mu.Lock()
	tabs := s.tabs
	s.tabs, s.ended = nil, true
	s.mu.Unlock()
	var errs []error
	for _, t := range tabs {
		if err := t.close(ctx); err != nil {
			errs = append(errs, fmt.Errorf("close tab %s: %w", t.targetID, err))
		}
	}
	return errors.Join(errs...)
}

// close closes the tab by its raw id, since an alias may refer to another tab by now.
func (t openedTab) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, closeTimeout+t.target.Slack)
	defer cancel()
	c := &toolCall{target: t.target, profile: t.profile}
	_, err := c.send(ctx, http.MethodDelete, "/tabs/"+url.PathEscape(t.targetID), url.Values{"targetIdMode": {"raw"}}, nil)
	if isTabGone(err) {
		return nil
	}
	return err
}
