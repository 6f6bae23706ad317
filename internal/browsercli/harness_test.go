package browsercli_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"clank/internal/browsercli"
)

// outcome is what a command line came to.
type outcome struct {
	stdout, stderr string
	code           int
}

// place is where commands are run: an environment, and what they read.
type place struct {
	env   map[string]string
	stdin io.Reader
}

// at is a place that knows the server at address.
func at(t *testing.T, address string) place {
	t.Helper()
	return place{env: map[string]string{"CLANK_HOME": t.TempDir(), "CLANK_BROWSER_URL": address, "CLANK_BROWSER_TOKEN": "s3"}}
}

func (p place) run(ctx context.Context, args ...string) outcome {
	stdin := p.stdin
	if stdin == nil {
		stdin = strings.NewReader("")
	}
	var stdout, stderr bytes.Buffer
	code := browsercli.Run(ctx, browsercli.Env{
		Stdin: stdin, Stdout: &stdout, Stderr: &stderr, Getenv: func(name string) string { return p.env[name] },
	}, args)
	return outcome{stdout.String(), stderr.String(), code}
}

// asked is one request that a server got.
type asked struct{ line, body, auth string }

// scripted is a server that answers everything in one way and writes down what it was asked.
func scripted(t *testing.T, status int, answer string) (address string, got func() []asked) {
	t.Helper()
	seen := make(chan asked, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		seen <- asked{r.Method + " " + r.RequestURI, string(body), r.Header.Get("Authorization")}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	return s.URL, func() []asked {
		var list []asked
		for len(seen) > 0 {
			list = append(list, <-seen)
		}
		return list
	}
}

// words takes a line apart at its spaces; single quotes hold words together.
func words(line string) []string {
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
