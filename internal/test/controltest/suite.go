package controltest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"clank/internal/test/running"
)

// m is a JSON object.
type m = map[string]any

func (s *suite) check(err error) {
	if err != nil {
		s.Helper()
		s.Fatal(err)
	}
}

// request sends an authenticated request and returns the response, whatever it is.
func (s *suite) request(method, path string, body any) running.Answer {
	s.Helper()
	a, err := s.Request(s.ctx(), method, path, body)
	s.check(err)
	return a
}

// call sends a request that must succeed, and decodes the response into v unless v is nil.
func (s *suite) call(method, path string, body, v any) {
	s.Helper()
	if err := s.Call(s.ctx(), method, path, body, v); err != nil {
		sent, _ := json.Marshal(body)
		s.Fatalf("%v; sent %.300s", err, sent)
	}
}

// openPage navigates the current tab to a page of the site.
func (s *suite) openPage(path string) {
	s.Helper()
	s.call("POST", "/navigate", m{"url": s.Site.URL + path}, nil)
}

// act performs an action in the current tab, which must succeed, and returns the response.
func (s *suite) act(action m) (answer m) {
	s.Helper()
	s.call("POST", "/act", action, &answer)
	return answer
}

// click clicks the element that matches a selector.
func (s *suite) click(selector string) {
	s.Helper()
	s.act(m{"kind": "click", "selector": selector})
}

// run runs a script in the current tab.
func (s *suite) run(fn string) m {
	s.Helper()
	return s.act(m{"kind": "evaluate", "fn": fn})
}

// evaluate runs a script in the current tab and decodes its result.
func (s *suite) evaluate(fn string, into any) {
	s.Helper()
	var answer struct{ Result json.RawMessage }
	s.call("POST", "/act", m{"kind": "evaluate", "fn": fn}, &answer)
	if err := json.Unmarshal(answer.Result, into); err != nil {
		s.Fatalf("result of %s: %v: %s", fn, err, answer.Result)
	}
}

// wantPage checks the result of a script in the current tab.
func (s *suite) wantPage(fn string, want any) {
	s.Helper()
	var got any
	s.evaluate(fn, &got)
	s.wantEqual(fn, got, want)
}

// waitForSaid waits until the element with the id "said" has the given text.
func (s *suite) waitForSaid(want string) {
	s.Helper()
	s.waitUntil(fmt.Sprintf("the page to say %q", want), func() bool {
		var got string
		s.evaluate("document.getElementById('said').textContent", &got)
		return got == want
	})
}

// waitForAnswer requests a route and decodes the response until is returns true.
func (s *suite) waitForAnswer(path string, into any, is func() bool) {
	s.Helper()
	s.waitUntil(path+" to be as wanted", func() bool {
		s.call("GET", path, nil, into)
		return is()
	})
}

// waitUntil polls is until it returns true or the case times out.
func (s *suite) waitUntil(what string, is func() bool) {
	s.Helper()
	ctx := s.ctx()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			s.Fatalf("waiting for %s: %v", what, context.Cause(ctx))
		}
	}
}

// wantWithin checks that no more than limit has passed since begin.
func (s *suite) wantWithin(limit time.Duration, begin time.Time) {
	s.Helper()
	if took := time.Since(begin); took > limit {
		s.Fatalf("it took %v, want %v at most", took, limit)
	}
}

// wantEqual compares two values as JSON.
func (s *suite) wantEqual(what string, got, want any) {
	s.Helper()
	g, _ := json.Marshal(got)
	w, _ := json.Marshal(want)
	if string(g) != string(w) {
		s.Fatalf("%s = %s, want %s", what, g, w)
	}
}

// read reads a file.
func (s *suite) read(path string) []byte {
	s.Helper()
	data, err := os.ReadFile(path)
	s.check(err)
	return data
}

// insertSiteURL inserts the site's address into a body.
func (s *suite) insertSiteURL(body any) any {
	if body == nil {
		return nil
	}
	data, raw := body.([]byte)
	if !raw {
		var err error
		data, err = json.Marshal(body)
		s.check(err)
	}
	return []byte(strings.ReplaceAll(string(data), "SITE", s.Site.URL))
}

// changeSetting changes the setting whose key ends with key, through the dashboard.
func changeSetting(ctx context.Context, clank *running.Clank, key string, value any) error {
	var place struct{ URL, Secret string }
	data, err := os.ReadFile(filepath.Join(clank.Home, "server.json"))
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
	return board.Call(ctx, http.MethodPut, "/api/settings",
		m{"version": now.Version, "changes": m{string(whole[1]): value}}, nil)
}

// commandOutput is the output and exit code of a command.
type commandOutput struct {
	Stdout, Stderr string
	Code           int
}

// command runs "clank browser" with arguments and with input as its standard input.
func (s *suite) command(input string, args ...string) commandOutput {
	s.Helper()
	ctx := s.ctx()
	cmd := exec.CommandContext(ctx, s.Bin, append([]string{"browser"}, args...)...)
	cmd.Env = s.Environ()
	cmd.Stdin = strings.NewReader(input)
	var out, talk bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &talk
	err := cmd.Run()
	if failed := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &failed) || ctx.Err() != nil) {
		s.Fatalf("clank browser %s: %v", strings.Join(args, " "), err)
	}
	return commandOutput{Stdout: out.String(), Stderr: talk.String(), Code: cmd.ProcessState.ExitCode()}
}

// tabAnswer is a tab in a response.
type tabAnswer struct {
	SuggestedTargetID string `json:"suggestedTargetId"`
	TabID             string `json:"tabId"`
	Label             string `json:"label"`
	TargetID          string `json:"targetId"`
	Title, URL, Type  string
}

// tabs lists the tabs of the default profile.
func (s *suite) tabs() []tabAnswer {
	s.Helper()
	var answer struct{ Tabs []tabAnswer }
	s.call("GET", "/tabs", nil, &answer)
	return answer.Tabs
}

// tab returns the tab with a raw id, or nil if it is not listed.
func (s *suite) tab(targetID string) *tabAnswer {
	s.Helper()
	for _, t := range s.tabs() {
		if t.TargetID == targetID {
			return &t
		}
	}
	return nil
}

// newTab opens a page of the site in a tab, with a label unless that is empty.
func (s *suite) newTab(path, label string) (t tabAnswer) {
	s.Helper()
	body := m{"url": s.Site.URL + path}
	if label != "" {
		body["label"] = label
	}
	s.call("POST", "/tabs/open", body, &t)
	return t
}

// closeTab closes a tab by any of its names.
func (s *suite) closeTab(id string) {
	s.Helper()
	s.call("DELETE", "/tabs/"+url.PathEscape(id), nil, nil)
}

// closeOtherTabs closes all tabs but one, and opens one if there is none.
func (s *suite) closeOtherTabs() {
	s.Helper()
	all := s.tabs()
	if len(all) == 0 {
		s.newTab("/plain", "")
		return
	}
	for _, t := range all[1:] {
		s.closeTab(t.TargetID)
	}
}

// openScope opens the page with same-origin, cross-site and cross-origin frames, and waits for them.
func (s *suite) openScope() {
	s.Helper()
	s.openPage("/scope")
	s.act(m{"kind": "wait", "fn": "window.ready === 3"})
}

// snapshotAnswer is the response of GET /snapshot.
type snapshotAnswer struct {
	OK          bool
	Format      string
	TargetID    string `json:"targetId"`
	URL         string
	Snapshot    string
	Refs        map[string]snapshotRef
	Stats       struct{ Lines, Chars, Refs, Interactive int }
	Truncated   bool
	NewElements *int
	Nodes       []struct {
		Ref, Role, Name string
		Depth           int
	}
}

// snapshotRef is an element with a ref in a snapshot.
type snapshotRef struct {
	Role, Name string
	Nth        *int
}

// ref returns the ref of the element with a role and name.
func (s *suite) ref(snap snapshotAnswer, role, name string) string {
	s.Helper()
	for id, r := range snap.Refs {
		if r.Role == role && r.Name == name {
			return id
		}
	}
	s.Fatalf("there is no ref for %s %q in\n%s", role, name, snap.Snapshot)
	return ""
}

// snapshot takes a snapshot of the current tab with a query.
func (s *suite) snapshot(query string) (snap snapshotAnswer) {
	s.Helper()
	s.call("GET", strings.TrimSuffix("/snapshot?"+query, "?"), nil, &snap)
	return snap
}

// snapshotOf opens a page of the site and takes a snapshot.
func (s *suite) snapshotOf(page, query string) snapshotAnswer {
	s.Helper()
	s.openPage(page)
	return s.snapshot(query)
}

// refOn opens a page of the site and returns the ref of the element with a role and name.
func (s *suite) refOn(page, role, name string) string {
	s.Helper()
	return s.ref(s.snapshotOf(page, ""), role, name)
}

// changeSetting changes the setting whose key ends with key, through the dashboard.
func (s *suite) changeSetting(key string, value any) {
	s.Helper()
	s.check(changeSetting(s.ctx(), s.Clank, key, value))
}
