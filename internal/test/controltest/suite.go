package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"clank/internal/test/running"
)

// controlSuite is what cases work on: a running clank as a client sees it, and a site.
type controlSuite struct {
	*running.Clank

	Site  *testSite
	Cache string // folder in which peers are installed
}

// openPage brings the current tab to a page of the site.
func (s *controlSuite) openPage(ctx context.Context, path string) error {
	return s.Call(ctx, "POST", "/navigate", map[string]any{"url": s.Site.URL + path}, nil)
}

// Act does an action in the current tab, which must work, and returns the answer.
func (s *controlSuite) Act(ctx context.Context, action map[string]any) (map[string]any, error) {
	var answer map[string]any
	return answer, s.Call(ctx, "POST", "/act", action, &answer)
}

// Evaluate runs a script in the current tab and decodes what it returned.
func (s *controlSuite) Evaluate(ctx context.Context, fn string, into any) error {
	var answer struct{ Result json.RawMessage }
	if err := s.Call(ctx, "POST", "/act", map[string]any{"kind": "evaluate", "fn": fn}, &answer); err != nil {
		return err
	}
	if err := json.Unmarshal(answer.Result, into); err != nil {
		return fmt.Errorf("result of %s: %w: %s", fn, err, answer.Result)
	}
	return nil
}

// waitForSaid waits until the page says something: until the element with the id "said" has that text.
func (s *controlSuite) waitForSaid(ctx context.Context, want string) error {
	return s.waitUntil(ctx, fmt.Sprintf("the page to say %q", want), func() (bool, error) {
		var got string
		err := s.Evaluate(ctx, "document.getElementById('said').textContent", &got)
		return got == want, err
	})
}

// waitForAnswer asks a route, and decodes its answer, until it is as wanted.
func (s *controlSuite) waitForAnswer(ctx context.Context, path string, into any, is func() bool) error {
	err := s.waitUntil(ctx, path+" to be as wanted", func() (bool, error) {
		err := s.Call(ctx, "GET", path, nil, into)
		return is(), err
	})
	if err != nil {
		text, _ := json.Marshal(into)
		return fmt.Errorf("%w: it is %.500s", err, text)
	}
	return nil
}

// changeSetting changes one setting, whose key ends so, at the dashboard.
func (s *controlSuite) changeSetting(ctx context.Context, key string, value any) error {
	var place struct{ URL, Secret string }
	data, err := os.ReadFile(filepath.Join(s.Home, "server.json"))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, &place); err != nil {
		return err
	}
	board := &running.Clank{URL: strings.TrimRight(place.URL, "/"), Token: place.Secret}
	var now struct{ Version string }
	a, err := board.Request(ctx, http.MethodGet, "/api/settings", nil)
	if err == nil {
		err = a.Into(&now)
	}
	if err != nil {
		return err
	}
	whole := regexp.MustCompile(`"([^"]*` + regexp.QuoteMeta(key) + `)"`).FindSubmatch(a.Body)
	if whole == nil {
		return fmt.Errorf("no setting ends with %s", key)
	}
	return board.Call(ctx, http.MethodPut, "/api/settings", map[string]any{"version": now.Version, "changes": map[string]any{string(whole[1]): value}}, nil)
}

// insertSiteURL puts the site's address into a body.
func (s *controlSuite) insertSiteURL(body any) any {
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
	return []byte(strings.ReplaceAll(string(data), "SITE", s.Site.URL))
}

// wantEqualJSON says how something is not as wanted. Both are compared as JSON.
func wantEqualJSON(what string, got, want any) error {
	g, _ := json.Marshal(got)
	w, _ := json.Marshal(want)
	if string(g) != string(w) {
		return fmt.Errorf("%s = %s, want %s", what, g, w)
	}
	return nil
}

// waitUntil asks again and again until it is so, for as long as the case may take.
func (s *controlSuite) waitUntil(ctx context.Context, what string, is func() (bool, error)) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		ok, err := is()
		if err != nil || ok {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, context.Cause(ctx))
		}
	}
}
