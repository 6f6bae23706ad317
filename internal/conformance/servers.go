package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"clank/internal/running"
)

// servers are others than the usual one: with another environment, with other settings.
func servers() []check {
	return []check{{"scripts switched off", evaluateOff}, {"a password", passwordDoor}, {"a token of the environment", givenToken}}
}

// another starts a server with an environment of its own.
func (s *suite) another(ctx context.Context, work func(*suite) error, env ...string) error {
	clank, err := running.Start(ctx, s.Bin, env...)
	if err != nil {
		return err
	}
	err = work(&suite{Clank: clank, site: s.site})
	return errors.Join(err, clank.Close())
}

// evaluateOff switches it off at the dashboard, where settings are.
func evaluateOff(ctx context.Context, s *suite) error {
	return s.another(ctx, func(s *suite) error {
		if err := s.set(ctx, "browser.evaluateEnabled", false); err != nil {
			return err
		}
		const off = "ACT_EVALUATE_DISABLED"
		script := map[string]any{"kind": "evaluate", "fn": "1"}
		for _, x := range []exchange{
			{path: "/act", body: script, status: 403, code: off, says: []string{"browser.evaluateEnabled=false"}},
			{path: "/act", body: map[string]any{"kind": "evaluate", "fn": "1", "targetId": "nosuch"}, status: 403, code: off},
			{path: "/act", body: map[string]any{"kind": "wait", "fn": "1"}, status: 403, code: off},
			{path: "/act", body: map[string]any{"kind": "evaluate"}, status: 400, code: "ACT_INVALID_REQUEST"},
			{path: "/act", page: "/form", body: map[string]any{"kind": "batch", "stopOnError": false, "actions": []any{script, map[string]any{"kind": "press", "key": "a"}}}, says: []string{`"ok":false`, "browser.evaluateEnabled=false", `{"ok":true}`}},
			{path: "/storage/local/set", body: map[string]any{"key": "a", "value": "b"}},
			{path: "/storage/local", says: []string{`"a":"b"`}},
			{path: "/snapshot?interactive=true", says: []string{"Save"}},
		} {
			if err := x.run(ctx, s); err != nil {
				return fmt.Errorf("%s %v: %w", x.path, x.body, err)
			}
		}
		return nil
	})
}

// set changes one setting, whose key ends so.
func (s *suite) set(ctx context.Context, key string, value any) error {
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

func passwordDoor(ctx context.Context, s *suite) error {
	return s.another(ctx, func(s *suite) error {
		basic := func(text string) http.Header {
			return http.Header{"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte(text))}}
		}
		for _, x := range []exchange{
			{name: "header", path: "/", header: http.Header{"X-Openclaw-Password": {"open: sesame"}}},
			{name: "any user", path: "/", header: basic("anybody:open: sesame")},
			{name: "no user", path: "/", header: basic(":open: sesame")},
			{name: "a wrong one", path: "/", header: basic("anybody:closed"), status: 401},
			{name: "as a token", path: "/", header: http.Header{"Authorization": {"Bearer open: sesame"}}, status: 401},
			{name: "no colon", path: "/", header: basic("open"), status: 401},
			{name: "the beginning", path: "/", header: http.Header{"X-Openclaw-Password": {"open"}}, status: 401},
			{name: "the token", path: "/"},
		} {
			if err := x.run(ctx, s); err != nil {
				return fmt.Errorf("%s: %w", x.name, err)
			}
		}
		return nil
	}, "OPENCLAW_GATEWAY_PASSWORD= open: sesame ")
}

func givenToken(ctx context.Context, s *suite) error {
	return s.another(ctx, func(s *suite) error {
		return exchange{path: "/", header: http.Header{"Authorization": {"Bearer a token of mine"}}}.run(ctx, s)
	}, "OPENCLAW_GATEWAY_TOKEN=a token of mine")
}
