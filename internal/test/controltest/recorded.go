package controltest

import (
	"strings"
	"time"
)

// recordedCases returns the cases of what is recorded of a page, entry by entry: its members, its bounds, and
// what is kept back.
func recordedCases() []testCase {
	return []testCase{
		{Name: "a line of the console", Run: consoleEntry},
		{Name: "an error of the page", Run: errorEntry},
		{Name: "a request", Run: wholeRequest},
		{Name: "a request that failed", Run: failedRequest},
		{Name: "500 lines, 200 errors, 500 requests", Run: ringSizes},
		{Name: "no answer of more than a megabyte", Run: boundedAnswer},
		{Name: "bounds of one request", Run: boundedRequest},
		{Name: "secrets in every place", Run: secretsEverywhere},
		{Name: "the archive", Run: harArchive},
		{Name: "a body that was there before is not taken", Run: onlyNextBody},
		{Name: "a trace where it is wanted", Run: traceAt},
	}
}

func isTime(text string) bool {
	_, err := time.Parse(time.RFC3339Nano, text)
	return err == nil
}

func consoleEntry(s *suite) {
	s.openPage("/talk")
	var got struct {
		Messages []struct {
			Type, Text, Timestamp string
			Location              *struct {
				URL                      string
				LineNumber, ColumnNumber *int
			}
		}
	}
	at := -1
	is := func() bool {
		for i, m := range got.Messages {
			if m.Text == "talk error" {
				at = i
			}
		}
		return at >= 0
	}
	s.waitForAnswer("/console?level=error", &got, is)
	m := got.Messages[at]
	if m.Type != "error" || !isTime(m.Timestamp) || m.Location == nil || m.Location.URL != s.Site.URL+"/talk" || m.Location.LineNumber == nil || m.Location.ColumnNumber == nil {
		s.Fatalf("message %+v", m)
	}
}

func errorEntry(s *suite) {
	s.openPage("/broken")
	var got struct {
		Errors []struct{ Message, Name, Stack, Timestamp string }
	}
	s.waitForAnswer("/errors", &got, func() bool { return len(got.Errors) > 0 })
	if e := got.Errors[len(got.Errors)-1]; e.Name != "TypeError" || !strings.Contains(e.Message, "on purpose") || !strings.Contains(e.Stack, "/broken") || !isTime(e.Timestamp) {
		s.Fatalf("error %+v", e)
	}
}

func wholeRequest(s *suite) {
	s.openPage("/plain")
	var ok bool
	s.evaluate("fetch('/answer?whole', {method: 'POST', headers: {'X-Plain': 'seen'}, body: 'sent'}).then(r => r.ok)", &ok)
	var got struct {
		Requests []struct {
			ID, Timestamp, Method, URL, ResourceType, StatusText, RequestBody string
			Status                                                            int
			OK                                                                *bool
			RequestHeaders, ResponseHeaders                                   map[string]string
		}
	}
	s.waitForAnswer("/requests?filter=whole", &got, func() bool { return len(got.Requests) == 1 && got.Requests[0].Status != 0 })
	r := got.Requests[0]
	header := func(in map[string]string, name string) string {
		for n, v := range in {
			if strings.EqualFold(n, name) {
				return v
			}
		}
		return ""
	}
	if r.Status != 200 || r.OK == nil || !*r.OK || r.Method != "POST" || r.ResourceType != "fetch" || !isTime(r.Timestamp) || r.RequestBody != "sent" ||
		header(r.RequestHeaders, "X-Plain") != "seen" || header(r.ResponseHeaders, "Content-Type") == "" || r.URL != s.Site.URL+"/answer?whole" {
		s.Fatalf("request %+v", r)
	}
}

func failedRequest(s *suite) {
	s.openPage("/plain")
	var failed bool
	s.evaluate("fetch('http://127.0.0.1:1/refused', {mode: 'no-cors'}).then(() => false, () => true)", &failed)
	var got struct {
		Requests []struct {
			FailureText string
			Status      *int
			OK          *bool
		}
	}
	s.waitForAnswer("/requests?filter=refused", &got, func() bool {
		return len(got.Requests) == 1 && strings.Contains(got.Requests[0].FailureText, "ERR_") && (got.Requests[0].OK == nil || !*got.Requests[0].OK)
	})
}

func ringSizes(s *suite) {
	s.openPage("/plain")
	script := `(async () => { for (let i = 0; i < 520; i++) console.log('line ' + i); for (let i = 0; i < 220; i++) setTimeout(() => { throw new Error('bad ' + i) });
		for (let i = 0; i < 26; i++) await Promise.all(Array.from({length: 20}, (_, j) => fetch('/answer?n=' + (i * 20 + j)))); return 1 })()`
	s.run(script)
	for _, ring := range []struct {
		path, member string
		want         int
	}{{"/console", "messages", 500}, {"/errors", "errors", 200}, {"/requests", "requests", 500}} {
		path, want, got := ring.path, ring.want, m{}
		list := func() []any { l, _ := got[ring.member].([]any); return l }
		s.waitForAnswer(path, &got, func() bool { return len(list()) == want })
		s.call("GET", path+"?clear=true", nil, &got)
		s.waitForAnswer(path, &got, func() bool { return len(list()) == 0 })
	}
}

func boundedAnswer(s *suite) {
	s.openPage("/plain")
	script := `(async () => { for (let i = 0; i < 30; i++) await fetch('/answer?big=' + i, {method: 'POST', body: 'ü'.repeat(32000)}); return 1 })()`
	s.run(script)
	s.waitUntil("the newest request in an answer of a megabyte at most", func() bool {
		a := s.request("GET", "/requests", nil)
		if len(a.Body) > 1<<20 {
			s.Fatalf("the answer has %d bytes", len(a.Body))
		}
		return strings.Contains(string(a.Body), "big=29")
	})
}

func boundedRequest(s *suite) {
	s.openPage("/plain")
	script := `(async () => { const headers = {}; for (let i = 0; i < 140; i++) headers['x-many-' + i] = 'v';
		await fetch('/answer?cut', {method: 'POST', headers, body: 'b'.repeat(70000)}); await fetch('/answer?long' + 'u'.repeat(65000)).catch(() => 0); return 1 })()`
	s.run(script)
	var got struct {
		Requests []struct {
			URL, RequestBody                         string
			RequestHeaders                           map[string]string
			RequestHeadersTruncated, URLTruncated    bool
			RequestBodyTruncated, RequestBodyOmitted bool
		}
	}
	s.waitForAnswer("/requests?filter=cut", &got, func() bool { return len(got.Requests) == 1 })
	r := got.Requests[0]
	if len(r.RequestBody) > 64_000 || !r.RequestBodyTruncated && !r.RequestBodyOmitted || len(r.RequestHeaders) > 128 || !r.RequestHeadersTruncated {
		s.Fatalf("a body of %d (cut: %v, left out: %v), %d headers (cut: %v)", len(r.RequestBody), r.RequestBodyTruncated, r.RequestBodyOmitted, len(r.RequestHeaders), r.RequestHeadersTruncated)
	}
	s.waitForAnswer("/requests?filter=long", &got, func() bool { return len(got.Requests) == 1 })
	if r := got.Requests[0]; len(r.URL) > 64_000 || !r.URLTruncated {
		s.Fatalf("an address of %d, cut: %v", len(r.URL), r.URLTruncated)
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
	if l.Version != "1.2" || l.Creator.Name == "" || last.Request.URL != s.Site.URL+"/form" || last.Response.Status != 200 || !isTime(last.StartedDateTime) {
		s.Fatalf("archive %+v, last entry %+v", l.Version, last)
	}
}

func onlyNextBody(s *suite) {
	s.openPage("/plain")
	var ok bool
	s.evaluate("fetch('/answer?past').then(r => r.text()).then(() => true)", &ok)
	s.send(requestCase{Path: "/response/body", Body: m{"url": "past", "timeoutMs": 600}, Status: 500, Contains: []string{"requests"}})
}

func traceAt(s *suite) {
	s.openPage("/form")
	s.call("POST", "/trace/start", m{"screenshots": false, "snapshots": "no", "sources": true}, nil)
	var got struct{ Path string }
	s.call("POST", "/trace/stop", m{"path": "mine.zip"}, &got)
	if !strings.HasSuffix(got.Path, "/mine.zip") {
		s.Fatal("the trace went to " + got.Path)
	}
}
