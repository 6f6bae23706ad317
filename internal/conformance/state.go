package main

import (
	"context"
	"fmt"
)

// state is what a page is told of its surroundings, and what is stored for it.
func state() []check {
	type m = map[string]any
	bad := func(name, path, says string, body m) exchange {
		return exchange{name: name, path: path, body: body, status: 400, says: []string{says}}
	}
	seen := func(name, path string, body m, look string, want any) check {
		return check{name, func(ctx context.Context, s *suite) error {
			t, err := s.newTab(ctx, "/form", "")
			if err != nil {
				return err
			}
			if err := s.Call(ctx, "POST", path, s.fill(body), nil); err != nil {
				return err
			}
			if err := s.open(ctx, "/plain"); err != nil {
				return err
			}
			var got any
			if err := s.evaluate(ctx, look, &got); err != nil {
				return err
			}
			if err := same(look, got, want); err != nil {
				return err
			}
			return s.closeTab(ctx, t.TargetID)
		}}
	}
	return append(checks([]exchange{
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
		{name: "a time zone that is not there", path: "/set/timezone", page: "/plain", body: m{"timezoneId": "Mars/Olympus"}, status: 500, says: []string{"Invalid timezone ID"}},
		{name: "a device that is not there", path: "/set/device", page: "/plain", body: m{"name": "Pocket Calculator"}, status: 500, says: []string{"Pocket Calculator"}},
		{name: "grant permissions", path: "/permissions/grant", page: "/plain", body: m{"origin": "SITE/some/path", "permissions": []string{"geolocation"}}, has: []string{"origin", "grantedPermissions", "unsupportedPermissions", "grantMethod"}},
		{name: "an optional permission that is not there", path: "/permissions/grant", page: "/plain", body: m{"origin": "SITE", "permissions": []string{"geolocation"}, "optionalPermissions": []string{"timeTravel"}}, says: []string{"timeTravel"}},
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
		check{"cookies", cookies},
		check{"stores are read and cleared", stores},
		check{"offline", offline},
		check{"headers", headers},
		check{"credentials", credentials},
	)
}

func cookies(ctx context.Context, s *suite) error {
	if err := s.open(ctx, "/plain"); err != nil {
		return err
	}
	set := map[string]any{"cookie": map[string]any{"name": "crumb", "value": "42", "url": s.site.URL, "sameSite": "Lax"}}
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
	if err := s.evaluate(ctx, "document.cookie", &seen); err != nil {
		return err
	}
	if err := same("document.cookie", seen, "crumb=42"); err != nil {
		return err
	}
	if err := s.Call(ctx, "POST", "/cookies/clear", nil, nil); err != nil {
		return err
	}
	got.Cookies = nil
	if err := s.Call(ctx, "GET", "/cookies", nil, &got); err != nil {
		return err
	}
	return same("cookies left", len(got.Cookies), 0)
}

func stores(ctx context.Context, s *suite) error {
	if err := s.open(ctx, "/plain"); err != nil {
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
			if err := same(kind+query, got.Values, want); err != nil {
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
		if err := same(kind+" after clear", got.Values, map[string]string{}); err != nil {
			return err
		}
	}
	return nil
}

func offline(ctx context.Context, s *suite) error {
	if err := s.open(ctx, "/plain"); err != nil {
		return err
	}
	if err := s.Call(ctx, "POST", "/set/offline", map[string]any{"offline": "true"}, nil); err != nil {
		return err
	}
	var got []any
	err := s.evaluate(ctx, "async () => [navigator.onLine, await fetch('/form').then(() => 'came', () => 'failed')]", &got)
	if err == nil {
		err = same("offline", got, []any{false, "failed"})
	}
	if back := s.Call(ctx, "POST", "/set/offline", map[string]any{"offline": false}, nil); err == nil {
		err = back
	}
	if err != nil {
		return err
	}
	return s.open(ctx, "/plain")
}

func headers(ctx context.Context, s *suite) error {
	set := func(h map[string]any) error {
		return s.Call(ctx, "POST", "/set/headers", map[string]any{"headers": h}, nil)
	}
	if err := set(map[string]any{"X-One": "1", "X-Number": 7}); err != nil {
		return err
	}
	for _, want := range [][]any{{"1", ""}, {"", "2"}} {
		if err := s.open(ctx, "/echo"); err != nil {
			return err
		}
		var got []any
		if err := s.evaluate(ctx, "JSON.parse(document.body.textContent)", &got); err != nil {
			return err
		}
		if err := same("headers seen", got, want); err != nil {
			return err
		}
		if err := set(map[string]any{"X-Two": "2"}); err != nil {
			return err
		}
	}
	return set(map[string]any{})
}

func credentials(ctx context.Context, s *suite) error {
	look := func() (status int, err error) {
		err = s.evaluate(ctx, "fetch('/locked').then(r => r.status)", &status)
		return status, err
	}
	if err := s.open(ctx, "/plain"); err != nil {
		return err
	}
	if err := s.Call(ctx, "POST", "/set/credentials", map[string]any{"username": "ada", "password": "lovelace"}, nil); err != nil {
		return err
	}
	status, err := look()
	if err != nil {
		return err
	}
	if err := same("status with credentials", status, 200); err != nil {
		return err
	}
	return s.Call(ctx, "POST", "/set/credentials", map[string]any{"clear": true}, nil)
}
