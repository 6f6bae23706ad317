package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"clank/internal/test/running"
)

// requestCase is a request and what must come back. "SITE" in Path and Body stands for the address of the site, "TOKEN" in Header
// for the secret.
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

// requestCases makes a case of each exchange.
func requestCases(list []requestCase) []testCase {
	out := make([]testCase, 0, len(list))
	for _, x := range list {
		out = append(out, testCase{x.Name, x.Run})
	}
	return out
}

// Run makes the request, in the current tab brought to Page, and judges the answer. It is the Run of a [testCase].
func (x requestCase) Run(ctx context.Context, s *controlSuite) error {
	if x.Page != "" {
		if err := s.openPage(ctx, x.Page); err != nil {
			return err
		}
	}
	a, err := x.Send(ctx, s)
	if err != nil {
		return err
	}
	return x.checkAnswer(a)
}

// Send makes the request and does not judge what comes back.
func (x requestCase) Send(ctx context.Context, s *controlSuite) (running.Answer, error) {
	method := x.Method
	switch {
	case method != "":
	case x.Body != nil:
		method = http.MethodPost
	default:
		method = http.MethodGet
	}
	path := strings.ReplaceAll(x.Path, "SITE", s.Site.URL)
	if x.Header != nil {
		header := http.Header{}
		for name, values := range x.Header {
			for _, v := range values {
				header.Add(name, strings.ReplaceAll(v, "TOKEN", s.Token))
			}
		}
		return s.RequestWith(ctx, method, path, s.insertSiteURL(x.Body), header)
	}
	return s.Request(ctx, method, path, s.insertSiteURL(x.Body))
}

// checkAnswer says what of an answer is not as it must be.
func (x requestCase) checkAnswer(a running.Answer) error {
	want := x.Status
	if want == 0 {
		want = http.StatusOK
	}
	if a.Status != want {
		return fmt.Errorf("status = %d, want %d: %.300s", a.Status, want, a.Body)
	}
	var members map[string]any
	_ = json.Unmarshal(a.Body, &members) // not every answer is JSON; what is missed is told below
	if text, _ := members["code"].(string); x.Code != "" && text != x.Code {
		return fmt.Errorf("code = %q, want %q: %.300s", text, x.Code, a.Body)
	}
	if text, _ := members["reason"].(string); x.Reason != "" && text != x.Reason {
		return fmt.Errorf("reason = %q, want %q: %.300s", text, x.Reason, a.Body)
	}
	if want >= http.StatusBadRequest && want != http.StatusUnauthorized && want != http.StatusForbidden {
		if text, _ := members["error"].(string); text == "" {
			return fmt.Errorf("the answer has no error text: %.300s", a.Body)
		}
	}
	for _, name := range x.Members {
		if _, ok := members[name]; !ok {
			return fmt.Errorf("the answer has no %q: %.300s", name, a.Body)
		}
	}
	said := string(a.Body)
	if text, ok := members["error"].(string); ok {
		said = text
	}
	for _, phrase := range x.Contains {
		if !strings.Contains(said, phrase) {
			return fmt.Errorf("answer %.300q does not say %q", said, phrase)
		}
	}
	for _, phrase := range x.Excludes {
		if strings.Contains(said, phrase) {
			return fmt.Errorf("answer %.300q says %q", said, phrase)
		}
	}
	return nil
}
