package controltest

import (
	"encoding/json"
	"net/http"
	"strings"

	"clank/internal/test/running"
)

// requestCase is a request and what must come back. "SITE" in Path and Body stands for the address of the site, "TOKEN"
// in Header for the secret.
type requestCase struct {
	Name   string
	Method string // default POST if there is a body, else GET
	Path   string
	Body   any         // sent as JSON, or as it is if it is a []byte
	Header http.Header // in place of the secret, if not nil
	Page   string      // path on the site, opened first in the current tab; "" leaves it

	Status   int      // default 200
	Code     string   // of the error envelope; "" is not looked at
	Reason   string   // the same
	Contains []string // in the body
	Excludes []string // not in the body
	Members  []string // members of the answer
}

// requestCases makes a case of each request.
func requestCases(list []requestCase) []testCase {
	out := make([]testCase, 0, len(list))
	for _, x := range list {
		out = append(out, testCase{Name: x.Name, Run: x.Run})
	}
	return out
}

// send makes requests and checks their answers.
func (s *suite) send(list ...requestCase) {
	s.Helper()
	for _, x := range list {
		x.Run(s)
	}
}

// Run makes the request, in the current tab brought to Page, and checks the answer.
func (x requestCase) Run(s *suite) {
	s.Helper()
	if x.Page != "" {
		s.openPage(x.Page)
	}
	x.checkAnswer(s, x.Send(s))
}

// Send makes the request and returns what comes back.
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
	a, err := s.RequestWith(s.ctx(), method, strings.ReplaceAll(x.Path, "SITE", s.Site.URL), s.insertSiteURL(x.Body), filled)
	s.check(err)
	return a
}

// checkAnswer fails the case if an answer is not as it must be.
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
	_ = json.Unmarshal(a.Body, &members) // not every answer is JSON; what is missed is told below
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
