package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
)

// ringBufferCases are what was noted of a page: console, errors, requests; and what goes with them: bodies, traces.
func ringBufferCases() []testCase {
	type m = map[string]any
	return append(requestCases([]requestCase{
		{Name: "a body without a pattern", Path: "/response/body", Body: m{}, Status: 400, Contains: []string{"url is required"}},
		{Name: "a body that does not come", Path: "/response/body", Page: "/plain", Body: m{"url": "**/never", "timeoutMs": 500}, Status: 500, Contains: []string{"requests"}},
		{Name: "stop a trace that does not run", Path: "/trace/stop", Page: "/plain", Body: m{}, Status: 500},
		{Name: "a trace outside its folder", Path: "/trace/stop", Page: "/plain", Body: m{"path": "../../escape.zip"}, Status: 400, Contains: []string{"Invalid path"}},
	}),
		testCase{Name: "console by level", Run: consoleLevels},
		testCase{Name: "page errors", Run: pageErrors},
		testCase{Name: "requests", Run: requestRing},
		testCase{Name: "secrets of requests are struck out", Run: redactedHeaders},
		testCase{Name: "the next matching body", Run: nextBody},
		testCase{Name: "a body that never ends", Run: endlessBody},
		testCase{Name: "a trace", Run: traceCase},
	)
}

func consoleLevels(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/talk"); err != nil {
		return err
	}
	for level, want := range map[string]int{"": 4, "debug": 4, "info": 3, "log": 3, "warn": 2, "warning": 2, "error": 1} {
		var got struct {
			Messages []struct{ Type, Text, Timestamp string }
		}
		err := s.waitUntil(ctx, fmt.Sprintf("%d messages at level %q", want, level), func() (bool, error) {
			got.Messages = nil
			err := s.Call(ctx, "GET", "/console?level="+level, nil, &got)
			n := 0
			for _, msg := range got.Messages {
				if strings.HasPrefix(msg.Text, "talk ") && msg.Timestamp != "" {
					n++
				}
			}
			return n == want, err
		})
		if err != nil {
			return fmt.Errorf("%w; there are %+v", err, got.Messages)
		}
	}
	return nil
}

func pageErrors(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/broken"); err != nil {
		return err
	}
	read := func(query string) (n int, err error) {
		var got struct {
			Errors []struct{ Message, Name, Stack, Timestamp string }
		}
		err = s.Call(ctx, "GET", "/errors"+query, nil, &got)
		for _, e := range got.Errors {
			if strings.Contains(e.Message, "on purpose") {
				n++
			}
		}
		return n, err
	}
	err := s.waitUntil(ctx, "the error of the page", func() (bool, error) { n, err := read(""); return n == 1, err })
	if err != nil {
		return err
	}
	if n, err := read("?clear=true"); err != nil || n != 1 {
		return fmt.Errorf("read with clear: %d errors, %w", n, err)
	}
	n, err := read("")
	if err != nil {
		return err
	}
	return wantEqualJSON("errors after clear", n, 0)
}

type requestEntry struct {
	ID, Method, URL, ResourceType, FailureText, Timestamp string
	Status                                                int
	OK                                                    *bool
	RequestHeaders, ResponseHeaders                       map[string]string
	RequestBody                                           string
}

func requestsOf(ctx context.Context, s *controlSuite, filter string) ([]requestEntry, error) {
	var got struct{ Requests []requestEntry }
	err := s.Call(ctx, "GET", "/requests?filter="+filter, nil, &got)
	return got.Requests, err
}

func requestRing(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/plain"); err != nil {
		return err
	}
	var status int
	if err := s.Evaluate(ctx, "fetch('/nosuch-thing').then(r => r.status)", &status); err != nil {
		return err
	}
	return s.waitUntil(ctx, "the request in the ring", func() (bool, error) {
		got, err := requestsOf(ctx, s, "nosuch-thing")
		if err != nil || len(got) == 0 || got[0].Status == 0 {
			return false, err
		}
		r := got[0]
		if r.Status != http.StatusNotFound || r.OK == nil || *r.OK || r.Method != "GET" || !strings.HasPrefix(r.ID, "r") || r.Timestamp == "" {
			return false, fmt.Errorf("entry: %+v", r)
		}
		return true, nil
	})
}

func redactedHeaders(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/plain"); err != nil {
		return err
	}
	var done bool
	script := `fetch('/echo?redact', {method: 'POST', headers: {Authorization: 'Bearer top-secret', 'X-Api-Key': 'top-secret', 'Content-Type': 'application/json'},
		body: JSON.stringify({user: 'ada', password: 'top-secret'})}).then(() => true)`
	if err := s.Evaluate(ctx, script, &done); err != nil {
		return err
	}
	return s.waitUntil(ctx, "the request in the ring", func() (bool, error) {
		a, err := s.Request(ctx, "GET", "/requests?filter=redact", nil)
		if err != nil || !strings.Contains(string(a.Body), "[REDACTED]") {
			return false, err
		}
		if strings.Contains(string(a.Body), "top-secret") {
			return false, fmt.Errorf("a secret is told: %s", a.Body)
		}
		return true, nil
	})
}

func nextBody(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/plain"); err != nil {
		return err
	}
	type outcome struct {
		body string
		err  error
	}
	came := make(chan outcome, 1)
	go func() {
		var got struct {
			Response struct {
				URL, Body string
				Status    int
				Truncated bool
			}
		}
		err := s.Call(ctx, "POST", "/response/body", map[string]any{"url": "**/answer*", "maxChars": 6}, &got)
		if err == nil && (!got.Response.Truncated || got.Response.Status != 200) {
			err = fmt.Errorf("response %+v", got.Response)
		}
		came <- outcome{got.Response.Body, err}
	}()
	// The waiter says nothing when it is there: the page asks until it has caught one.
	if _, err := s.Act(ctx, map[string]any{"kind": "evaluate", "fn": "window.asking = setInterval(() => fetch('/answer'), 50); 1"}); err != nil {
		return err
	}
	got := <-came
	if got.err != nil {
		return got.err
	}
	return wantEqualJSON("body", got.body, "forty-")
}

func endlessBody(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/plain"); err != nil {
		return err
	}
	if _, err := s.Act(ctx, map[string]any{"kind": "evaluate", "fn": "for (const ms of [200, 900, 1600]) setTimeout(() => fetch('/endless'), ms); 1"}); err != nil {
		return err
	}
	err := requestCase{
		Path: "/response/body", Body: map[string]any{"url": "/endless", "timeoutMs": 1500}, Status: 500,
		Contains: []string{"Response body read timed out after 1500ms"},
	}.Run(ctx, s)
	if err != nil {
		return err
	}
	return s.openPage(ctx, "/plain")
}

func traceCase(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/form"); err != nil {
		return err
	}
	if err := s.Call(ctx, "POST", "/trace/start", map[string]any{}, nil); err != nil {
		return err
	}
	if err := (requestCase{Path: "/trace/start", Body: map[string]any{}, Status: 500}).Run(ctx, s); err != nil {
		return err
	}
	if _, err := s.Act(ctx, map[string]any{"kind": "click", "selector": "#save"}); err != nil {
		return err
	}
	var got struct{ Path string }
	if err := s.Call(ctx, "POST", "/trace/stop", map[string]any{}, &got); err != nil {
		return err
	}
	data, err := os.ReadFile(got.Path)
	if err != nil {
		return err
	}
	for _, part := range []string{"PK", "trace.trace", "trace.network"} {
		if !strings.Contains(string(data), part) {
			return fmt.Errorf("%s has no %s", got.Path, part)
		}
	}
	return nil
}
