package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
)

// serverCases are others than the usual one: with another environment, with other settings.
func serverCases() []testCase {
	return []testCase{{Name: "scripts switched off", Run: evaluateOff}, {Name: "a password", Run: passwordDoor}, {Name: "a token of the environment", Run: givenToken}}
}

// serverNumber is the number of such a server, beside those of the lanes.
const serverNumber = 2

// withOwnServer starts a server with an environment of its own.
func withOwnServer(ctx context.Context, s *controlSuite, work func(*controlSuite) error, env ...string) error {
	clank, err := startNumberedServer(ctx, s.Bin, serverNumber, env...)
	if err != nil {
		return err
	}
	err = work(&controlSuite{Clank: clank, Site: s.Site})
	return errors.Join(err, clank.Close())
}

// evaluateOff switches it off at the dashboard, where settings are.
func evaluateOff(ctx context.Context, s *controlSuite) error {
	return withOwnServer(ctx, s, func(s *controlSuite) error {
		if err := s.changeSetting(ctx, "browser.evaluateEnabled", false); err != nil {
			return err
		}
		const off = "ACT_EVALUATE_DISABLED"
		script := map[string]any{"kind": "evaluate", "fn": "1"}
		for _, x := range []requestCase{
			{Path: "/act", Body: script, Status: 403, Code: off, Contains: []string{"browser.evaluateEnabled=false"}},
			{Path: "/act", Body: map[string]any{"kind": "evaluate", "fn": "1", "targetId": "nosuch"}, Status: 403, Code: off},
			{Path: "/act", Body: map[string]any{"kind": "wait", "fn": "1"}, Status: 403, Code: off},
			{Path: "/act", Body: map[string]any{"kind": "evaluate"}, Status: 400, Code: "ACT_INVALID_REQUEST"},
			{Path: "/act", Page: "/form", Body: map[string]any{"kind": "batch", "stopOnError": false, "actions": []any{script, map[string]any{"kind": "press", "key": "a"}}}, Contains: []string{`"ok":false`, "browser.evaluateEnabled=false", `{"ok":true}`}},
			{Path: "/storage/local/set", Body: map[string]any{"key": "a", "value": "b"}},
			{Path: "/storage/local", Contains: []string{`"a":"b"`}},
			{Path: "/snapshot?interactive=true", Contains: []string{"Save"}},
		} {
			if err := x.Run(ctx, s); err != nil {
				return fmt.Errorf("%s %v: %w", x.Path, x.Body, err)
			}
		}
		return nil
	})
}

func passwordDoor(ctx context.Context, s *controlSuite) error {
	return withOwnServer(ctx, s, func(s *controlSuite) error {
		basic := func(text string) http.Header {
			return http.Header{"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte(text))}}
		}
		for _, x := range []requestCase{
			{Name: "header", Path: "/", Header: http.Header{"X-Openclaw-Password": {"open: sesame"}}},
			{Name: "any user", Path: "/", Header: basic("anybody:open: sesame")},
			{Name: "no user", Path: "/", Header: basic(":open: sesame")},
			{Name: "a wrong one", Path: "/", Header: basic("anybody:closed"), Status: 401},
			{Name: "as a token", Path: "/", Header: http.Header{"Authorization": {"Bearer open: sesame"}}, Status: 401},
			{Name: "no colon", Path: "/", Header: basic("open"), Status: 401},
			{Name: "the beginning", Path: "/", Header: http.Header{"X-Openclaw-Password": {"open"}}, Status: 401},
			{Name: "the token", Path: "/"},
		} {
			if err := x.Run(ctx, s); err != nil {
				return fmt.Errorf("%s: %w", x.Name, err)
			}
		}
		return nil
	}, "OPENCLAW_GATEWAY_PASSWORD= open: sesame ")
}

func givenToken(ctx context.Context, s *controlSuite) error {
	return withOwnServer(ctx, s, func(s *controlSuite) error {
		return requestCase{Path: "/", Header: http.Header{"Authorization": {"Bearer a token of mine"}}}.Run(ctx, s)
	}, "OPENCLAW_GATEWAY_TOKEN=a token of mine")
}
