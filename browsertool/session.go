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

	"clank/browsertool/remote"
)

// Session is one conversation that uses the tool. Tool and Blind are set before
// use. It is safe for concurrent use. Whoever made it calls Close at its end.
type Session struct {
	Tool *Tool

	// Blind says that the model of this conversation cannot see pictures.
	Blind bool

	mu    sync.Mutex
	tabs  []tab
	ended bool
}

// call is one call under way.
type call struct {
	session *Session
	target  *Target
	in      input
	act     map[string]any
	profile string
}

// Run carries out one call with the model's input. What fails on the way is a
// Result with IsError; the error is only ever the cause of ctx's end.
func (s *Session) Run(ctx context.Context, raw json.RawMessage) (Result, error) {
	r, err := s.run(ctx, raw)
	if ctx.Err() != nil && (err != nil || r.IsError) {
		return Result{}, context.Cause(ctx)
	}
	if err != nil {
		return failed(err), nil
	}
	return r, nil
}

func (s *Session) run(ctx context.Context, raw json.RawMessage) (Result, error) {
	in, act, err := parse(raw)
	if err != nil {
		return Result{}, wrong(err.Error())
	}
	name := in.text("action")
	do, known := handlers[name]
	if !known {
		return Result{}, wrong(fmt.Sprintf("action %q is not known; there are: %s", name, strings.Join(actions, ", ")))
	}
	s.mu.Lock()
	ended := s.ended
	s.mu.Unlock()
	if ended {
		return Result{}, errors.New("this session has ended; its tabs are closed")
	}
	target, err := s.Tool.Targets.Pick(ctx, in.text("target"), in.text("node"))
	if err != nil {
		return Result{}, wrong(err.Error())
	}
	c := &call{session: s, target: target, in: in, act: act, profile: in.text("profile")}
	within := budget(name, in, act) + target.Slack
	if v := s.Tool.Vision; v != nil && s.Blind {
		within += v.within()
	}
	if s.Tool.Thinking != nil && remote.Asks(ctx) {
		within += s.Tool.Thinking()
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return do(ctx, c)
}

// handlers are the actions.
var handlers = map[string]func(context.Context, *call) (Result, error){
	"doctor":          plain(http.MethodGet, "/doctor", "deep"),
	"status":          plain(http.MethodGet, "/"),
	"start":           startStop("/start"),
	"stop":            startStop("/stop"),
	"profiles":        plain(http.MethodGet, "/profiles"),
	"tabs":            listTabs,
	"open":            open,
	"focus":           focus,
	"close":           closeTab,
	"snapshot":        snapshot,
	"screenshot":      screenshot,
	"navigate":        navigate,
	"console":         listed("/console", "messages", "level", "targetId"),
	"requests":        listed("/requests", "requests", "filter", "clear", "targetId"),
	"errors":          listed("/errors", "errors", "clear", "targetId"),
	"text":            readText,
	"emulate":         emulate,
	"pdf":             pdf,
	"download":        posted("download", "/download", "ref", "path", "targetId", "timeoutMs"),
	"waitfordownload": posted("download", "/wait/download", "path", "targetId", "timeoutMs"),
	"upload":          upload,
	"dialog":          posted("dialog", "/hooks/dialog", "accept", "promptText", "dialogId", "targetId", "timeoutMs"),
	"act":             doAct,
}

// get, post and remove call the control API and return its answer as an object.
func (c *call) get(ctx context.Context, path string, query url.Values) (map[string]any, error) {
	return c.send(ctx, http.MethodGet, path, query, nil)
}

func (c *call) post(ctx context.Context, path string, body map[string]any) (map[string]any, error) {
	return c.send(ctx, http.MethodPost, path, nil, body)
}

// send adds the profile, and turns an answer that is an error into one.
func (c *call) send(ctx context.Context, method, path string, query url.Values, body map[string]any) (map[string]any, error) {
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
	status, raw, err := c.target.Caller.Call(ctx, method, path, query, payload)
	if err != nil {
		return nil, noAnswer(ctx, err)
	}
	answer, err := object(raw)
	switch {
	case status < 200 || status > 299:
		refusal := serviceError(status, answer)
		refusal.own = refusal.own || slices.Contains(pageless, path)
		return nil, refusal
	case err != nil:
		return nil, fmt.Errorf("%w: it is no JSON object", ErrNoAnswer)
	}
	return answer, nil
}
