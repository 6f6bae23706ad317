package client_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/control/client"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/check"

	"github.com/google/go-cmp/cmp"
)

// sample is a possible value of a JSON field.
func sample(p actiontable.Param) any {
	switch {
	case p.Enum != nil:
		return p.Enum[0]
	case p.Type == actiontable.Ref:
		return "e1"
	case p.Type == actiontable.Key:
		return "Enter"
	case p.Type == actiontable.Modifiers:
		return []any{"Alt"}
	case p.Type == actiontable.Points:
		return []any{"1,2", "3,4"}
	case p.Type == actiontable.Entries:
		return []any{map[string]any{"ref": "e1"}, map[string]any{"ref": "e2"}}
	case p.Type == actiontable.Requests:
		return []any{map[string]any{"kind": "click", "timeoutMs": 1000}, map[string]any{"kind": "wait", "text": "a"}}
	}
	return map[string]any{
		"boolean": true, "integer": 700, "number": 2.5, "array": []any{"a"},
		"string": "äöü",
	}[p.Type.String()]
}

func TestNoActionIsWaitedForLessLongThanItMayTake(t *testing.T) {
	const launch, slack = 90 * time.Second, 5 * time.Second
	for _, kind := range actiontable.Kinds(actiontable.API) {
		spec, _ := actiontable.Lookup(actiontable.API, actiontable.Kind(kind))
		body := map[string]any{"kind": kind}
		bodies := []map[string]any{body}
		for _, p := range spec.ParamsIn(actiontable.API) {
			body[p.Name] = sample(p)
			if p.Name != "timeoutMs" {
				bodies = append(bodies, map[string]any{"kind": kind, p.Name: sample(p)})
			}
		}
		for _, b := range bodies {
			payload, err := json.Marshal(b)
			check.Must(t, err)
			want, actions := spec.Action(read(t, spec, b)).Limit(), 1
			if entries, ok := b["actions"]; kind == "batch" {
				want, actions = 0, 0
				if ok {
					want, actions = time.Second+20*time.Second, len(entries.([]any))
				}
			}
			want += launch + slack + time.Duration(actions)*250*time.Millisecond
			check.Equal(t, string(payload), client.CallTimeOf("POST", "/act", nil, payload).Total(), want)
		}
	}
}

func read(t *testing.T, spec *actiontable.Spec, body map[string]any) actiontable.Values {
	t.Helper()
	values, err := spec.Read(actiontable.API, body)
	if err != nil && len(body) > 2 {
		t.Fatalf("%v: %v", body, err)
	}
	return values
}

func TestTheWaitForAnAnswerNeverCutsWhatTheServerKeeps(t *testing.T) {
	const launch, slack, guard = 90 * time.Second, 5 * time.Second, 250 * time.Millisecond
	for name, tc := range map[string]struct {
		route, query, body string
		want               time.Duration
	}{
		"tabs":               {"GET /tabs", "", "", 30 * time.Second},
		"close a tab":        {"DELETE /tabs/t1", "", "", 30 * time.Second},
		"start":              {"POST /start", "", "", launch + slack},
		"doctor":             {"GET /doctor", "", "", 50 * time.Second},
		"snapshot":           {"GET /snapshot", "", "", launch + slack + guard + 20*time.Second},
		"snapshot, own time": {"GET /snapshot", "timeoutMs=60000", "", launch + slack + guard + 60*time.Second},
		"click":              {"POST /act", "", `{"kind":"click"}`, launch + slack + guard + 8*time.Second},
		"click, delay": {"POST /act", "", `{"kind":"click","delayMs":5000}`, launch + slack + guard +
			13*time.Second},
		"click, own time": {"POST /act", "", `{"kind":"click","timeoutMs":"50000"}`, launch + slack + guard +
			50*time.Second},
		"slow typing": {"POST /act", "", `{"kind":"type","slowly":true,"text":"` + strings.Repeat("ä", 1000) +
			`"}`, launch + slack + guard + 83*time.Second},
		"wait": {"POST /act", "", `{"kind":"wait","timeMs":30000}`, launch + slack + guard +
			30*time.Second},
		"wait, three conditions": {
			"POST /act", "",
			`{"kind":"wait","timeMs":1000,"text":"a","url":"b","fn":"c","timeoutMs":100000}`, launch + slack + guard +
				301*time.Second,
		},
		"beyond what is allowed": {"POST /act", "", `{"kind":"evaluate","timeoutMs":9999999999}`, launch + slack + guard +
			120*time.Second},
		"fill": {
			"POST /act", "", `{"kind":"fill","fields":[{"ref":"e1"},{"ref":"e2"},{"ref":"e3"},{}]}`,
			launch + slack + guard + 24*time.Second,
		},
		"batch": {
			"POST /act", "", `{"kind":"batch","actions":[{"kind":"click"},{"kind":"batch","actions":[{"kind":"evaluate","timeoutMs":1000}]}]}`,
			launch + slack + 2*guard + 9*time.Second,
		},
		"download":            {"POST /download", "", `{}`, launch + slack + guard + 120*time.Second},
		"garbage as a time":   {"POST /navigate", "", `{"timeoutMs":"soon"}`, launch + slack + guard + 20*time.Second},
		"another form":        {"POST /navigate", "", `{"timeoutMs":{}}`, launch + slack + guard + 20*time.Second},
		"negative":            {"POST /navigate", "", `{"timeoutMs":-5}`, launch + slack + guard + 20*time.Second},
		"body that is no map": {"POST /navigate", "", `[1]`, launch + slack + guard + 20*time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			method, path, _ := strings.Cut(tc.route, " ")
			query, err := url.ParseQuery(tc.query)
			check.Must(t, err)
			check.Equal(t, "total", client.CallTimeOf(method, path, query, []byte(tc.body)).Total(), tc.want)
		})
	}
}

func FuzzBudget(f *testing.F) {
	f.Add("POST", "/act", "5", `{"kind":"batch","actions":[{"kind":"wait","timeMs":1e300}]}`)
	f.Add("GET", "/snapshot", "1e9999", "")
	f.Fuzz(func(t *testing.T, method, path, ms, body string) {
		a := client.CallTimeOf(method, path, url.Values{"timeoutMs": {ms}}, []byte(body))
		if whole := a.Total(); whole < 5*time.Second {
			t.Errorf("got %s, want no less than the slack", whole)
		}
	})
}

func TestLocate(t *testing.T) {
	const announced = "http://127.0.0.1:4321"
	home := t.TempDir()
	check.Must(t, check.Err(client.Announce(home, announced, "from file")))
	type found struct {
		URL    string
		Secret client.Secret
	}
	for name, tc := range map[string]struct {
		hints client.LocateHints
		env   map[string]string
		want  found
	}{
		"nothing":   {want: found{URL: "http://127.0.0.1:18791"}},
		"gateway":   {env: map[string]string{"OPENCLAW_GATEWAY_PORT": " 20000 "}, want: found{URL: "http://127.0.0.1:20002"}},
		"announced": {hints: client.LocateHints{Home: home}, want: found{announced, client.Secret{Token: "from file"}}},
		"announced before gateway": {
			hints: client.LocateHints{Home: home}, env: map[string]string{"OPENCLAW_GATEWAY_PORT": "20000"},
			want: found{announced, client.Secret{Token: "from file"}},
		},
		"environment": {
			hints: client.LocateHints{Home: home}, env: map[string]string{"CLANK_BROWSER_URL": "http://127.0.0.1:5"},
			want: found{URL: "http://127.0.0.1:5"},
		},
		"flag": {
			hints: client.LocateHints{Home: home, URL: "http://127.0.0.1:6"},
			env:   map[string]string{"CLANK_BROWSER_URL": "http://127.0.0.1:5"},
			want:  found{URL: "http://127.0.0.1:6"},
		},
		"flag that names the announced one": {
			hints: client.LocateHints{Home: home, URL: "127.0.0.1:4321/"},
			want:  found{"127.0.0.1:4321/", client.Secret{Token: "from file"}},
		},
		"token flag": {
			hints: client.LocateHints{Home: home, Token: "given"}, env: map[string]string{"CLANK_BROWSER_TOKEN": "env"},
			want: found{announced, client.Secret{Token: "given", AnyHost: true}},
		},
		"token of the environment": {
			hints: client.LocateHints{Home: home},
			env:   map[string]string{"CLANK_BROWSER_TOKEN": " env ", "OPENCLAW_GATEWAY_TOKEN": "old"},
			want:  found{announced, client.Secret{Token: "env"}},
		},
		"token of the environment for another server": {
			hints: client.LocateHints{URL: "https://control.example"},
			env:   map[string]string{"CLANK_BROWSER_TOKEN": "env", "CLANK_BROWSER_URL": "http://a.example"},
			want:  found{"https://control.example", client.Secret{Token: "env"}},
		},
		"token and server of the environment": {
			env:  map[string]string{"CLANK_BROWSER_TOKEN": "env", "CLANK_BROWSER_URL": "https://control.example"},
			want: found{"https://control.example", client.Secret{Token: "env", AnyHost: true}},
		},
		"gateway's secrets": {
			env:  map[string]string{"OPENCLAW_GATEWAY_TOKEN": "old", "OPENCLAW_GATEWAY_PASSWORD": "pw"},
			want: found{"http://127.0.0.1:18791", client.Secret{Token: "old", Password: "pw"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			tc.hints.Getenv = func(name string) string { return tc.env[name] }
			var got found
			var err error
			if got.URL, got.Secret, err = client.Locate(tc.hints); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLocateRefusesWhatItCannotUse(t *testing.T) {
	broken := t.TempDir()
	check.Must(t, os.WriteFile(filepath.Join(broken, "control.json"), []byte("{"), 0o600))
	for want, tc := range map[string]struct {
		hints client.LocateHints
		env   map[string]string
	}{
		`"65534": set a port from 1 to 65533`:      {env: map[string]string{"OPENCLAW_GATEWAY_PORT": "65534"}},
		`OPENCLAW_GATEWAY_PORT is "tcp://1"`:       {env: map[string]string{"OPENCLAW_GATEWAY_PORT": "tcp://1"}},
		"is not an http address":                   {hints: client.LocateHints{URL: "ws://127.0.0.1:18789"}},
		"remove it, or name the server with --url": {hints: client.LocateHints{Home: broken}},
	} {
		tc.hints.Getenv = func(name string) string { return tc.env[name] }
		_, _, err := client.Locate(tc.hints)
		check.Fails(t, err, nil, want)
	}
	named := client.LocateHints{Home: broken, URL: "http://127.0.0.1:6", Getenv: func(string) string { return "" }}
	if _, _, err := client.Locate(named); err != nil {
		t.Errorf("a broken file stands in the way of a named server: %v", err)
	}
}

func TestAnnounceAndDiscover(t *testing.T) {
	home := t.TempDir()
	check.Fails(t, check.Err(client.Discover(home)), client.ErrNotAnnounced)
	first, err := client.Announce(home, "http://127.0.0.1:1", "one")
	check.Must(t, err)
	info, err := os.Stat(filepath.Join(home, "control.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v %v, want mode 0600", info.Mode(), err)
	}
	second, err := client.Announce(home, "http://127.0.0.1:2", "two")
	check.Must(t, err)
	check.Must(t, errors.Join(first.Remove(), first.Restore())) // must leave what the second said
	got, err := client.Discover(home)
	if want := (client.Announcement{URL: "http://127.0.0.1:2", Token: "two", PID: os.Getpid()}); got != want ||
		err != nil {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	for _, text := range []string{"", "{", "\x00"} {
		check.Must(t, os.WriteFile(filepath.Join(home, "control.json"), []byte(text), 0o600))
		check.Must(t, second.Restore())
		if now, err := client.Discover(home); now != got || err != nil {
			t.Errorf("after %q: %+v, %v", text, now, err)
		}
	}
	check.Must(t, os.Remove(filepath.Join(home, "control.json")))
	check.Must(t, second.Restore())
	check.Must(t, errors.Join(second.Remove(), second.Remove()))
	if left, err := os.ReadDir(home); len(left) != 0 || err != nil {
		t.Errorf("got %v, %v, want an empty directory", left, err)
	}
}

func TestAnnounceWhereNothingCanBeWritten(t *testing.T) {
	check.Fails(t, check.Err(client.Announce(filepath.Join(t.TempDir(), "missing"), "http://127.0.0.1:1", "x")),
		fs.ErrNotExist, "announce the server")
	home := t.TempDir()
	check.Must(t, os.Mkdir(filepath.Join(home, "control.json"), 0o700))
	check.Fails(t, check.Err(client.Announce(home, "http://127.0.0.1:1", "x")), fs.ErrExist, "announce the server")
	if left, err := os.ReadDir(home); len(left) != 1 || err != nil {
		t.Errorf("got %v, %v, want no temporary file left", left, err)
	}
	if _, err := client.Discover(home); err == nil || errors.Is(err, client.ErrNotAnnounced) {
		t.Errorf("got %v, want that it is no file", err)
	}
}
