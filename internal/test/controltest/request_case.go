package controltest

import (
	"encoding/json"
	"net/http"
	"strings"

	"clank/internal/test/running"
)

// requestCase is a request and its expected response. "SITE" in Path and Body stands for the address of the site,
// "TOKEN" in Header for the secret.
type requestCase struct {
	Name   string
	Method string // default POST if there is a body, otherwise GET
	Path   string
	Body   any         // sent as JSON, or unchanged if it is a []byte
	Header http.Header // replaces the authentication, if not nil
	Page   string      // path on the site to open first in the current tab; "" opens none

	Status   int      // default 200
	Code     string   // of the error; "" is not checked
	Reason   string   // of the error; "" is not checked
	Contains []string // in the response body
	Excludes []string // not in the response body
	Members  []string // members of the response
}

// requestCases returns a case for each request.
func requestCases(list []requestCase) []testCase {
	out := make([]testCase, 0, len(list))
	for _, x := range list {
		out = append(out, testCase{Name: x.Name, Run: x.Run})
	}
	return out
}

// send sends requests and checks their responses.
func (s *suite) send(list ...requestCase) {
	s.Helper()
	for _, x := range list {
		x.Run(s)
	}
}

// Run opens Page in the current tab, sends the request and checks the response.
func (x requestCase) Run(s *suite) {
	s.Helper()
	if x.Page != "" {
		s.openPage(x.Page)
	}
	x.checkAnswer(s, x.Send(s))
}

// Send sends the request and returns the response.
func (x requestCase) Send(s *suite) running.Answer {
	s.Helper()
	method := x.Method
	switch {
	case method != "":
	case x.Body != nil:
		method = http.MethodPost
	default:
		method = http.MethodGet
	}
	header := x.Header
	if header == nil {
		header = http.Header{"Authorization": {"Bearer TOKEN"}}
	}
	filled := http.Header{}
	for name, values := range header {
		for _, v := range values {
			filled.Add(name, strings.ReplaceAll(v, "TOKEN", s.Token))
		}
	}
	a, err := s.RequestWith(s.ctx(), method, strings.ReplaceAll(x.Path, "SITE", s.Site.URL), s.insertSiteURL(x.Body),
		filled)
	s.check(err)
	return a
}

// checkAnswer fails the case if a response is not as expected.
func (x requestCase) checkAnswer(s *suite, a running.Answer) {
	s.Helper()
	wrong := func(format string, args ...any) {
		s.Helper()
		sent, raw := x.Body.([]byte)
		if !raw {
			sent, _ = json.Marshal(x.Body)
		}
		s.Fatalf("%s %.300s: "+format+": %.300s", append(append([]any{x.Path, sent}, args...), a.Body)...)
	}
	want := max(x.Status, http.StatusOK)
	if a.Status != want {
		wrong("status = %d, want %d", a.Status, want)
	}
	var members m
	_ = json.Unmarshal(a.Body, &members) // not every response is JSON; missing members are reported below
	if text, _ := members["code"].(string); x.Code != "" && text != x.Code {
		wrong("code = %q, want %q", text, x.Code)
	}
	if text, _ := members["reason"].(string); x.Reason != "" && text != x.Reason {
		wrong("reason = %q, want %q", text, x.Reason)
	}
	said, told := members["error"].(string)
	if want >= http.StatusBadRequest && want != http.StatusUnauthorized && want != http.StatusForbidden && said == "" {
		wrong("the answer has no error text")
	}
	for _, name := range x.Members {
		if _, ok := members[name]; !ok {
			wrong("the answer has no %q", name)
		}
	}
	if !told {
		said = string(a.Body)
	}
	for _, phrase := range x.Contains {
		if !strings.Contains(said, phrase) {
			wrong("the answer does not say %q", phrase)
		}
	}
	for _, phrase := range x.Excludes {
		if strings.Contains(said, phrase) {
			wrong("the answer says %q", phrase)
		}
	}
}
