package controltest

import (
	"fmt"
	"net/http"
	"strings"
)

// ringBufferCases returns the cases of what was recorded of a page (console, errors, requests) and what goes
// with it: bodies, traces.
func ringBufferCases() []testCase {
	return append(requestCases([]requestCase{
		{Name: "a body without a pattern", Path: "/response/body", Body: m{}, Status: 400, Contains: []string{"url is required"}},
		{Name: "a body that does not come", Path: "/response/body", Page: "/plain", Body: m{"url": "**/never", "timeoutMs": 500}, Status: 500, Reason: "timeout", Contains: []string{"requests"}},
		{Name: "stop a trace that does not run", Path: "/trace/stop", Page: "/plain", Body: m{}, Status: 500},
		{Name: "a trace outside its folder", Path: "/trace/stop", Page: "/plain", Body: m{"path": "../../escape.zip"}, Status: 400, Contains: []string{"Invalid path"}},
	}),
		testCase{Name: "console by level", Run: consoleLevels},
		testCase{Name: "page errors", Run: pageErrors},
		testCase{Name: "requests", Run: requestRing},
		testCase{Name: "the next matching body", Run: nextBody},
		testCase{Name: "a body that never ends", Run: endlessBody},
		testCase{Name: "a trace", Run: traceCase},
	)
}

func consoleLevels(s *suite) {
	s.openPage("/talk")
	for level, want := range map[string]int{"": 4, "debug": 4, "info": 3, "log": 3, "warn": 2, "warning": 2, "error": 1} {
		var got struct {
			Messages []struct{ Type, Text, Timestamp string }
		}
		s.waitUntil(fmt.Sprintf("%d messages at level %q", want, level), func() bool {
			got.Messages = nil
			s.call("GET", "/console?level="+level, nil, &got)
			n := 0
			for _, msg := range got.Messages {
				if strings.HasPrefix(msg.Text, "talk ") && msg.Timestamp != "" {
					n++
				}
			}
			return n == want
		})
	}
}

func pageErrors(s *suite) {
	s.openPage("/broken")
	read := func(query string) (n int) {
		var got struct {
			Errors []struct{ Message, Name, Stack, Timestamp string }
		}
		s.call("GET", "/errors"+query, nil, &got)
		for _, e := range got.Errors {
			if strings.Contains(e.Message, "on purpose") {
				n++
			}
		}
		return n
	}
	s.waitUntil("the error of the page", func() bool { return read("") == 1 })
	s.wantEqual("errors read with clear", read("?clear=true"), 1)
	s.wantEqual("errors after clear", read(""), 0)
}

type requestEntry struct {
	ID, Method, URL, ResourceType, FailureText, Timestamp string
	Status                                                int
	OK                                                    *bool
	RequestHeaders, ResponseHeaders                       map[string]string
	RequestBody                                           string
}

func requestsOf(s *suite, filter string) []requestEntry {
	var got struct{ Requests []requestEntry }
	s.call("GET", "/requests?filter="+filter, nil, &got)
	return got.Requests
}

func requestRing(s *suite) {
	s.openPage("/plain")
	var status int
	s.evaluate("fetch('/nosuch-thing').then(r => r.status)", &status)
	s.waitUntil("the request in the ring", func() bool {
		got := requestsOf(s, "nosuch-thing")
		if len(got) == 0 || got[0].Status == 0 {
			return false
		}
		r := got[0]
		if r.Status != http.StatusNotFound || r.OK == nil || *r.OK || r.Method != "GET" || !strings.HasPrefix(r.ID, "r") || r.Timestamp == "" {
			s.Fatalf("entry: %+v", r)
		}
		return true
	})
}

func nextBody(s *suite) {
	s.openPage("/plain")
	var got struct {
		Response struct {
			URL, Body string
			Status    int
			Truncated bool
		}
	}
	came := make(chan error, 1)
	ctx := s.ctx()
	go func() {
		came <- s.Call(ctx, "POST", "/response/body", m{"url": "**/answer*", "maxChars": 6}, &got)
	}()
	// The waiter says nothing when it is there: the page asks until it has caught one.
	s.run("window.asking = setInterval(() => fetch('/answer'), 50); 1")
	s.check(<-came)
	if r := got.Response; r.Body != "forty-" || r.Status != 200 || !r.Truncated {
		s.Fatalf("response %+v", r)
	}
}

func endlessBody(s *suite) {
	s.openPage("/plain")
	s.run("for (const ms of [200, 900, 1600]) setTimeout(() => fetch('/endless'), ms); 1")
	s.send(requestCase{
		Path: "/response/body", Body: m{"url": "/endless", "timeoutMs": 1500}, Status: 500,
		Contains: []string{"Response body read timed out after 1500ms"},
	})
	s.openPage("/plain")
}

func traceCase(s *suite) {
	s.openPage("/form")
	s.call("POST", "/trace/start", m{}, nil)
	s.send(requestCase{Path: "/trace/start", Body: m{}, Status: 500})
	s.click("#save")
	var got struct{ Path string }
	s.call("POST", "/trace/stop", m{}, &got)
	data := s.read(got.Path)
	for _, part := range []string{"PK", "trace.trace", "trace.network"} {
		if !strings.Contains(string(data), part) {
			s.Fatalf("%s has no %s", got.Path, part)
		}
	}
}
