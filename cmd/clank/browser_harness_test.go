package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// browserResult is what a command line came to.
type browserResult struct {
	stdout, stderr string
	code           int
}

// browserTestEnv is where commands are run: an environment, and what they read.
type browserTestEnv struct {
	env   map[string]string
	stdin io.Reader
}

// envForServer is a place that knows the server at address.
func envForServer(t *testing.T, address string) browserTestEnv {
	t.Helper()
	return browserTestEnv{env: map[string]string{"CLANK_HOME": t.TempDir(), "CLANK_BROWSER_URL": address, "CLANK_BROWSER_TOKEN": "s3"}}
}

func (p browserTestEnv) run(ctx context.Context, args ...string) browserResult {
	stdin := p.stdin
	if stdin == nil {
		stdin = strings.NewReader("")
	}
	var stdout, stderr bytes.Buffer
	code := runBrowserCommand(ctx, browserEnv{
		Stdin: stdin, Stdout: &stdout, Stderr: &stderr, Getenv: func(name string) string { return p.env[name] },
	}, args)
	return browserResult{stdout.String(), stderr.String(), code}
}

// recordedRequest is one request that a server got.
type recordedRequest struct{ line, body, auth string }

// newScriptedServer is a server that answers everything in one way and writes down what it was asked.
func newScriptedServer(t *testing.T, status int, answer string) (address string, got func() []recordedRequest) {
	t.Helper()
	seen := make(chan recordedRequest, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		seen <- recordedRequest{r.Method + " " + r.RequestURI, string(body), r.Header.Get("Authorization")}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	return s.URL, func() []recordedRequest {
		var list []recordedRequest
		for len(seen) > 0 {
			list = append(list, <-seen)
		}
		return list
	}
}

// splitWords takes a line apart at its spaces; single quotes hold words together.
func splitWords(line string) []string {
	var list []string
	quoted, open := false, false
	for _, r := range line {
		switch {
		case r == '\'':
			quoted = !quoted
			if quoted && !open {
				list, open = append(list, ""), true
			}
		case r == ' ' && !quoted:
			open = false
		default:
			if !open {
				list, open = append(list, ""), true
			}
			list[len(list)-1] += string(r)
		}
	}
	return list
}
