package controltest

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// ringBufferCases returns the cases about what is recorded of a page (console, errors, requests), response bodies and
// traces.
func ringBufferCases() []testCase {
	return append(requestCases([]requestCase{
		{
			Name: "a body that does not come", Path: "/response/body", Page: "/plain",
			Body: m{"url": "**/never", "timeoutMs": 500}, Status: 500, Reason: "timeout", Contains: []string{"requests"},
		},
		{Name: "stop a trace that does not run", Path: "/trace/stop", Page: "/plain", Body: m{}, Status: 500},
	}),
		testCase{Name: "console by level", Run: consoleLevels},
		testCase{Name: "page errors", Run: pageErrors},
		testCase{Name: "requests", Run: requestRing},
		testCase{Name: "secrets in every place", Run: secretsEverywhere},
		testCase{Name: "the archive", Run: harArchive},
		testCase{Name: "the next matching body", Run: nextBody},
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
	s.evaluate("fetch('/answer?whole', {method: 'POST', headers: {'X-Plain': 'seen'}, body: 'sent'}).then(r => r.status)",
		&status)
	var got []requestEntry
	for filter, want := range map[string]requestEntry{
		"nosuch-thing": {
			Method: "GET", URL: "/nosuch-thing", ResourceType: "fetch", Status: http.StatusNotFound,
			OK: new(false),
		},
		"whole": {
			Method: "POST", URL: "/answer?whole", ResourceType: "fetch", Status: http.StatusOK, OK: new(true),
			RequestBody: "sent",
		},
	} {
		s.waitUntil(filter+" in the ring", func() bool {
			got = requestsOf(s, filter)
			return len(got) == 1 && got[0].Status != 0
		})
		r := got[0]
		if !strings.HasPrefix(r.ID, "r") || !isTime(r.Timestamp) ||
			r.RequestHeaders["host"] == "" || r.ResponseHeaders["content-type"] == "" ||
			filter == "whole" && r.RequestHeaders["x-plain"] != "seen" {
			s.Fatalf("entry: %+v", r)
		}
		r.URL = strings.TrimPrefix(r.URL, s.Site.URL)
		r.ID, r.Timestamp, r.RequestHeaders, r.ResponseHeaders = "", "", nil, nil
		s.wantEqual(filter, r, want)
	}
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
	// The client cannot know when the server starts waiting, so the page repeats its request until one is caught.
	s.run("window.asking = setInterval(() => fetch('/answer'), 50); 1")
	s.check(<-came)
	if r := got.Response; r.Body != "forty-" || r.Status != 200 || !r.Truncated {
		s.Fatalf("response %+v", r)
	}
}

func traceCase(s *suite) {
	s.openPage("/form")
	s.call("POST", "/trace/start", m{}, nil)
	s.send(requestCase{Path: "/trace/start", Body: m{}, Status: 500})
	s.click("#save")
	var got struct{ Path string }
	s.call("POST", "/trace/stop", m{"path": "mine.zip"}, &got)
	data := s.read(got.Path)
	for _, part := range []string{"PK", "trace.trace", "trace.network"} {
		if !strings.Contains(string(data), part) {
			s.Fatalf("%s has no %s", got.Path, part)
		}
	}
}

func secretsEverywhere(s *suite) {
	s.openPage("/plain")
	script := `(async () => { document.cookie = 'session=top-secret';
		await fetch('/answer?hide&api_key=top-secret&access_token=top-secret', {headers: {'Proxy-Authorization-X': 'x', 'X-Auth-Token': 'top-secret', 'X-API-Key': 'top-secret', Authorization: 'Bearer top-secret'}});
		await fetch('/answer?hide2', {method: 'POST', body: new URLSearchParams({user: 'ada', password: 'top-secret', client_secret: 'top-secret'})});
		const form = new FormData(); form.set('user', 'ada'); form.set('passwd', 'top-secret'); await fetch('/answer?hide3', {method: 'POST', body: form});
		await fetch('/answer?hide4', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: '{"deep":[{"apiKey":"top-secret","token":"top-secret","password":"top-secret"}]}'}); return 1 })()`
	s.run(script)
	s.waitUntil("the requests in the ring", func() bool {
		a := s.request("GET", "/requests?filter=hide4", nil)
		return strings.Contains(string(a.Body), "hide4")
	})
	for _, path := range []string{"/requests", "/har"} {
		a := s.request("GET", path, nil)
		if text := string(a.Body); strings.Contains(text, "top-secret") || !strings.Contains(text, "[REDACTED]") {
			at := max(strings.Index(text, "top-secret")-200, 0)
			s.Fatalf("%s tells a secret, or nothing is struck out: …%.400s", path, text[at:])
		}
	}
	s.call("POST", "/cookies/clear", nil, nil)
}

func harArchive(s *suite) {
	s.openPage("/form")
	var got struct {
		HAR struct {
			Log struct {
				Version string
				Creator struct{ Name string }
				Entries []struct {
					StartedDateTime string
					Request         struct{ Method, URL string }
					Response        struct{ Status int }
				}
			}
		}
	}
	s.waitForAnswer("/har", &got, func() bool { return len(got.HAR.Log.Entries) > 0 })
	l := got.HAR.Log
	last := l.Entries[len(l.Entries)-1]
	if l.Version != "1.2" || l.Creator.Name == "" || last.Request.URL != s.Site.URL+"/form" ||
		last.Response.Status != 200 || !isTime(last.StartedDateTime) {
		s.Fatalf("archive %+v, last entry %+v", l.Version, last)
	}
}

func isTime(text string) bool {
	_, err := time.Parse(time.RFC3339Nano, text)
	return err == nil
}
