package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"clank/internal/running"
)

// exchange is a request and what must come back.
type exchange struct {
	name   string
	method string // default POST if there is a body, else GET
	path   string
	body   any         // sent as JSON, or as it is if it is a []byte
	header http.Header // in place of the secret, if not nil
	page   string      // path on the site, opened first in the current tab; "" leaves it

	status int      // default 200
	code   string   // of the error envelope; "" is not looked at
	reason string   // the same
	says   []string // in the body
	never  []string // not in the body
	has    []string // members of the answer
}

// checks makes a check of each exchange.
func checks(list []exchange) []check {
	out := make([]check, 0, len(list))
	for _, x := range list {
		out = append(out, check{x.name, x.run})
	}
	return out
}

func (x exchange) run(ctx context.Context, s *suite) error {
	if x.page != "" {
		if err := s.open(ctx, x.page); err != nil {
			return err
		}
	}
	a, err := x.send(ctx, s)
	if err != nil {
		return err
	}
	return x.judge(a)
}

func (x exchange) send(ctx context.Context, s *suite) (running.Answer, error) {
	method := x.method
	switch {
	case method != "":
	case x.body != nil:
		method = http.MethodPost
	default:
		method = http.MethodGet
	}
	path := strings.ReplaceAll(x.path, "SITE", s.site.URL)
	if x.header != nil {
		header := http.Header{}
		for name, values := range x.header {
			for _, v := range values {
				header.Add(name, strings.ReplaceAll(v, "TOKEN", s.Token))
			}
		}
		return s.RequestWith(ctx, method, path, s.fill(x.body), header)
	}
	return s.Request(ctx, method, path, s.fill(x.body))
}

// fill puts the site's address into a body.
func (s *suite) fill(body any) any {
	if body == nil {
		return nil
	}
	data, raw := body.([]byte)
	if !raw {
		var err error
		if data, err = json.Marshal(body); err != nil {
			return body
		}
	}
	return []byte(strings.ReplaceAll(string(data), "SITE", s.site.URL))
}

func (x exchange) judge(a running.Answer) error {
	want := x.status
	if want == 0 {
		want = http.StatusOK
	}
	if a.Status != want {
		return fmt.Errorf("status = %d, want %d: %.300s", a.Status, want, a.Body)
	}
	var members map[string]any
	_ = json.Unmarshal(a.Body, &members) // not every answer is JSON; what is missed is told below
	if text, _ := members["code"].(string); x.code != "" && text != x.code {
		return fmt.Errorf("code = %q, want %q: %.300s", text, x.code, a.Body)
	}
	if text, _ := members["reason"].(string); x.reason != "" && text != x.reason {
		return fmt.Errorf("reason = %q, want %q: %.300s", text, x.reason, a.Body)
	}
	if want >= http.StatusBadRequest && want != http.StatusUnauthorized && want != http.StatusForbidden {
		if text, _ := members["error"].(string); text == "" {
			return fmt.Errorf("the answer has no error text: %.300s", a.Body)
		}
	}
	for _, name := range x.has {
		if _, ok := members[name]; !ok {
			return fmt.Errorf("the answer has no %q: %.300s", name, a.Body)
		}
	}
	said := string(a.Body)
	if text, ok := members["error"].(string); ok {
		said = text
	}
	for _, phrase := range x.says {
		if !strings.Contains(said, phrase) {
			return fmt.Errorf("answer %.300q does not say %q", said, phrase)
		}
	}
	for _, phrase := range x.never {
		if strings.Contains(said, phrase) {
			return fmt.Errorf("answer %.300q says %q", said, phrase)
		}
	}
	return nil
}

// open brings the current tab to a page of the site.
func (s *suite) open(ctx context.Context, path string) error {
	return s.Call(ctx, "POST", "/navigate", map[string]any{"url": s.site.URL + path}, nil)
}

// act does an action in the current tab, which must work, and returns the answer.
func (s *suite) act(ctx context.Context, action map[string]any) (map[string]any, error) {
	var answer map[string]any
	return answer, s.Call(ctx, "POST", "/act", action, &answer)
}

// evaluate runs a script in the current tab and decodes what it returned.
func (s *suite) evaluate(ctx context.Context, fn string, into any) error {
	var answer struct{ Result json.RawMessage }
	if err := s.Call(ctx, "POST", "/act", map[string]any{"kind": "evaluate", "fn": fn}, &answer); err != nil {
		return err
	}
	if err := json.Unmarshal(answer.Result, into); err != nil {
		return fmt.Errorf("result of %s: %w: %s", fn, err, answer.Result)
	}
	return nil
}

// snapshot takes one with the query given.
func (s *suite) snapshot(ctx context.Context, query string) (snapshot, error) {
	var snap snapshot
	path := "/snapshot"
	if query != "" {
		path += "?" + query
	}
	return snap, s.Call(ctx, "GET", path, nil, &snap)
}

// snapshot is the answer of GET /snapshot.
type snapshot struct {
	OK          bool
	Format      string
	TargetID    string `json:"targetId"`
	URL         string
	Snapshot    string
	Refs        map[string]ref
	Stats       struct{ Lines, Chars, Refs, Interactive int }
	Truncated   bool
	NewElements *int
	Nodes       []struct {
		Ref, Role, Name string
		Depth           int
	}
}

type ref struct {
	Role, Name string
	Nth        *int
}

// ref finds the ref of the element with that role and name, in the refs of the answer.
func (snap snapshot) ref(role, name string) (string, error) {
	for id, r := range snap.Refs {
		if r.Role == role && r.Name == name {
			return id, nil
		}
	}
	return "", fmt.Errorf("there is no ref for %s %q in\n%s", role, name, snap.Snapshot)
}

func same(what string, got, want any) error {
	g, _ := json.Marshal(got)
	w, _ := json.Marshal(want)
	if string(g) != string(w) {
		return fmt.Errorf("%s = %s, want %s", what, g, w)
	}
	return nil
}
