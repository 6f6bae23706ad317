package browsertool

import (
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
)

// Session is one conversation that uses the tool. Tool and Blind are set before use. It is safe for concurrent use.
// Whoever made it calls Close at its end.
type Session struct {
	Tool *Tool

	// Blind says that the model of this conversation cannot see pictures.
	Blind bool

	mu    sync.Mutex
	tabs  []openedTab
	ended bool
}

// toolCall is one call under way.
type toolCall struct {
	session *Session
	target  *Target
	in      callInput
	act     map[string]any
	profile string
}

// Run carries out one call with the model's input. What fails on the way is a Result with IsError; the error is only
// ever the cause of ctx's end.
func (s *Session) Run(ctx context.Context, raw json.RawMessage) (Result, error) {
	r, err := s.run(ctx, raw)
	if ctx.Err() != nil && (err != nil || r.IsError) {
		return Result{}, context.Cause(ctx)
	}
	if err != nil {
		return failedResult(err), nil
	}
	return r, nil
}

func (s *Session) run(ctx context.Context, raw json.RawMessage) (Result, error) {
	in, act, err := parseCall(raw)
	if err != nil {
		return Result{}, newCallError(err.Error())
	}
	name := in.str("action")
	do, known := actionHandlers[name]
	if offered := s.Tool.actions(); !known || !slices.Contains(offered, name) {
		return Result{}, newCallError(fmt.Sprintf("action %q is not known; there are: %s", name, strings.Join(offered, ", ")))
	}
	s.mu.Lock()
	ended := s.ended
	s.mu.Unlock()
	if ended {
		return Result{}, errors.New("this session has ended; its tabs are closed")
	}
	target, err := s.Tool.Targets.Pick(ctx, in.str("target"), in.str("node"))
	if err != nil {
		return Result{}, newCallError(err.Error())
	}
	c := &toolCall{session: s, target: target, in: in, act: act, profile: in.str("profile")}
	within := callTimeout(name, in, act) + target.Slack
	if v := s.Tool.Vision; v != nil && s.Blind {
		within += describeTime
	}
	if s.Tool.ApprovalWait != nil && HasAskID(ctx) {
		within += s.Tool.ApprovalWait()
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return do(ctx, c)
}

// actionHandlers are the actions.
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

// get, post and remove call the control API and return its answer as an object.
func (c *toolCall) get(ctx context.Context, path string, query url.Values) (map[string]any, error) {
	return c.send(ctx, http.MethodGet, path, query, nil)
}

func (c *toolCall) post(ctx context.Context, path string, body map[string]any) (map[string]any, error) {
	return c.send(ctx, http.MethodPost, path, nil, body)
}

// send adds the profile, and turns an answer that is an error into one.
func (c *toolCall) send(ctx context.Context, method, path string, query url.Values, body map[string]any) (map[string]any, error) {
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
		return nil, fmt.Errorf("%w: it is no JSON object", ErrAPIBadAnswer)
	}
	return answer, nil
}

// callTimeout returns how long the answer to a call may take: what the control API allows itself, and some more, so
// that its own error comes first.
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

// clampMillis reads a number of milliseconds and keeps it within what the control API allows.
func clampMillis(v any, usual time.Duration) time.Duration {
	ms, given, ok := actiontable.ParseNumber(v, false)
	if !given || !ok || ms <= 0 {
		return usual
	}
	return time.Duration(min(max(ms, 500), 120_000)) * time.Millisecond
}
