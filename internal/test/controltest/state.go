package main

import (
	"context"
	"fmt"
)

// stateCases is what a page is told of its surroundings, and what is stored for it.
func stateCases() []testCase {
	type m = map[string]any
	bad := func(name, path, says string, body m) requestCase {
		return requestCase{Name: name, Path: path, Body: body, Status: 400, Contains: []string{says}}
	}
	seen := func(name, path string, body m, look string, want any) testCase {
		return testCase{Name: name, Run: func(ctx context.Context, s *controlSuite) error {
			t, err := s.NewTab(ctx, "/form", "")
			if err != nil {
				return err
			}
			if err := s.Call(ctx, "POST", path, s.insertSiteURL(body), nil); err != nil {
				return err
			}
			if err := s.openPage(ctx, "/plain"); err != nil {
				return err
			}
			var got any
			if err := s.Evaluate(ctx, look, &got); err != nil {
				return err
			}
			if err := wantEqualJSON(look, got, want); err != nil {
				return err
			}
			return s.CloseTab(ctx, t.TargetID)
		}}
	}
	return append(requestCases([]requestCase{
		bad("no cookie", "/cookies/set", "cookie is required", m{}),
		bad("a cookie without a name", "/cookies/set", "name", m{"cookie": m{"value": "x", "url": "SITE"}}),
		bad("a cookie without a place", "/cookies/set", "url", m{"cookie": m{"name": "a", "value": "x"}}),
		bad("a store that is not there", "/storage/cloud/set", "local", m{"key": "a", "value": "b"}),
		bad("a store without a key", "/storage/local/set", "key is required", m{"value": "b"}),
		bad("offline without a word", "/set/offline", "offline is required", m{}),
		bad("headers without any", "/set/headers", "headers", m{}),
		bad("a place without one", "/set/geolocation", "latitude", m{}),
		bad("a colour scheme that is none", "/set/media", "colorScheme", m{"colorScheme": "pink"}),
		bad("no timezone", "/set/timezone", "timezoneId is required", m{}),
		bad("no locale", "/set/locale", "locale is required", m{}),
		bad("no device", "/set/device", "name is required", m{}),
		bad("permission without an origin", "/permissions/grant", "origin is required", m{"permissions": []string{"audioCapture"}}),
		bad("no permission", "/permissions/grant", "permissions", m{"origin": "https://example.com"}),
		{Name: "a time zone that is not there", Path: "/set/timezone", Page: "/plain", Body: m{"timezoneId": "Mars/Olympus"}, Status: 500, Contains: []string{"Invalid timezone ID"}},
		{Name: "a device that is not there", Path: "/set/device", Page: "/plain", Body: m{"name": "Pocket Calculator"}, Status: 500, Contains: []string{"Pocket Calculator"}},
		{Name: "grant permissions", Path: "/permissions/grant", Page: "/plain", Body: m{"origin": "SITE/some/path", "permissions": []string{"geolocation"}}, Members: []string{"origin", "grantedPermissions", "unsupportedPermissions", "grantMethod"}},
		{Name: "an optional permission that is not there", Path: "/permissions/grant", Page: "/plain", Body: m{"origin": "SITE", "permissions": []string{"geolocation"}, "optionalPermissions": []string{"timeTravel"}}, Contains: []string{"timeTravel"}},
	}),
		seen("dark", "/set/media", m{"colorScheme": "dark"}, "matchMedia('(prefers-color-scheme: dark)').matches", true),
		seen("a time zone", "/set/timezone", m{"timezoneId": "Asia/Tokyo"}, "Intl.DateTimeFormat().resolvedOptions().timeZone", "Asia/Tokyo"),
		seen("a language", "/set/locale", m{"locale": "de-DE"}, "Intl.NumberFormat().resolvedOptions().locale", "de-DE"),
		seen("a phone", "/set/device", m{"name": "iPhone 14"}, "[screen.width, devicePixelRatio, navigator.maxTouchPoints > 0, /iPhone/.test(navigator.userAgent)]", []any{390, 3, true, true}),
		seen("a place", "/set/geolocation", m{"latitude": 60.39, "longitude": 5.32, "accuracy": 10, "origin": "SITE"},
			"new Promise((done, no) => navigator.geolocation.getCurrentPosition(p => done([p.coords.latitude, p.coords.longitude]), e => no(e.message)))", []any{60.39, 5.32}),
		seen("a store of the tab", "/storage/session/set", m{"key": " padded ", "value": "v"}, "sessionStorage.getItem(' padded ')", "v"),
		seen("a store of the site", "/storage/local/set", m{"key": "k", "value": "v"}, "localStorage.getItem('k')", "v"),
		seen("a value that is no text", "/storage/local/set", m{"key": "k", "value": 12}, "localStorage.getItem('k')", ""),
		testCase{Name: "cookies", Run: cookieCase},
		testCase{Name: "stores are read and cleared", Run: storageAreas},
		testCase{Name: "offline", Run: offlineCase},
		testCase{Name: "headers", Run: extraHeaders},
		testCase{Name: "credentials", Run: httpCredentials},
	)
}

func cookieCase(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/plain"); err != nil {
		return err
	}
	set := map[string]any{"cookie": map[string]any{"name": "crumb", "value": "42", "url": s.Site.URL, "sameSite": "Lax"}}
	if err := s.Call(ctx, "POST", "/cookies/set", set, nil); err != nil {
		return err
	}
	var got struct {
		Cookies []struct{ Name, Value, Domain, Path, SameSite string }
	}
	if err := s.Call(ctx, "GET", "/cookies", nil, &got); err != nil {
		return err
	}
	if len(got.Cookies) != 1 || got.Cookies[0].Name != "crumb" || got.Cookies[0].Value != "42" || got.Cookies[0].SameSite != "Lax" {
		return fmt.Errorf("cookies = %+v", got.Cookies)
	}
	var seen string
	if err := s.Evaluate(ctx, "document.cookie", &seen); err != nil {
		return err
	}
	if err := wantEqualJSON("document.cookie", seen, "crumb=42"); err != nil {
		return err
	}
	if err := s.Call(ctx, "POST", "/cookies/clear", nil, nil); err != nil {
		return err
	}
	got.Cookies = nil
	if err := s.Call(ctx, "GET", "/cookies", nil, &got); err != nil {
		return err
	}
	return wantEqualJSON("cookies left", len(got.Cookies), 0)
}

func storageAreas(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/plain"); err != nil {
		return err
	}
	for _, kind := range []string{"local", "session"} {
		for _, key := range []string{" a ", "b"} {
			if err := s.Call(ctx, "POST", "/storage/"+kind+"/set", map[string]any{"key": key, "value": key + kind}, nil); err != nil {
				return err
			}
		}
		for query, want := range map[string]map[string]string{"?key=b": {"b": "b" + kind}, "?key=%20a%20": {" a ": " a " + kind}, "?key=nosuch": {}} {
			var got struct{ Values map[string]string }
			if err := s.Call(ctx, "GET", "/storage/"+kind+query, nil, &got); err != nil {
				return err
			}
			if err := wantEqualJSON(kind+query, got.Values, want); err != nil {
				return err
			}
		}
		if err := s.Call(ctx, "POST", "/storage/"+kind+"/clear", nil, nil); err != nil {
			return err
		}
		var got struct{ Values map[string]string }
		if err := s.Call(ctx, "GET", "/storage/"+kind, nil, &got); err != nil {
			return err
		}
		if err := wantEqualJSON(kind+" after clear", got.Values, map[string]string{}); err != nil {
			return err
		}
	}
	return nil
}

func offlineCase(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/plain"); err != nil {
		return err
	}
	if err := s.Call(ctx, "POST", "/set/offline", map[string]any{"offline": "true"}, nil); err != nil {
		return err
	}
	var got []any
	err := s.Evaluate(ctx, "async () => [navigator.onLine, await fetch('/form').then(() => 'came', () => 'failed')]", &got)
	if err == nil {
		err = wantEqualJSON("offline", got, []any{false, "failed"})
	}
	if back := s.Call(ctx, "POST", "/set/offline", map[string]any{"offline": false}, nil); err == nil {
		err = back
	}
	if err != nil {
		return err
	}
	return s.openPage(ctx, "/plain")
}

func extraHeaders(ctx context.Context, s *controlSuite) error {
	set := func(h map[string]any) error {
		return s.Call(ctx, "POST", "/set/headers", map[string]any{"headers": h}, nil)
	}
	if err := set(map[string]any{"X-One": "1", "X-Number": 7}); err != nil {
		return err
	}
	for _, want := range [][]any{{"1", ""}, {"", "2"}} {
		if err := s.openPage(ctx, "/echo"); err != nil {
			return err
		}
		var got []any
		if err := s.Evaluate(ctx, "JSON.parse(document.body.textContent)", &got); err != nil {
			return err
		}
		if err := wantEqualJSON("headers seen", got, want); err != nil {
			return err
		}
		if err := set(map[string]any{"X-Two": "2"}); err != nil {
			return err
		}
	}
	return set(map[string]any{})
}

func httpCredentials(ctx context.Context, s *controlSuite) error {
	look := func() (status int, err error) {
		err = s.Evaluate(ctx, "fetch('/locked').then(r => r.status)", &status)
		return status, err
	}
	if err := s.openPage(ctx, "/plain"); err != nil {
		return err
	}
	if err := s.Call(ctx, "POST", "/set/credentials", map[string]any{"username": "ada", "password": "lovelace"}, nil); err != nil {
		return err
	}
	status, err := look()
	if err != nil {
		return err
	}
	if err := wantEqualJSON("status with credentials", status, 200); err != nil {
		return err
	}
	return s.Call(ctx, "POST", "/set/credentials", map[string]any{"clear": true}, nil)
}
