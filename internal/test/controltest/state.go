package controltest

// stateCases returns the cases of what a page is told of its surroundings, and what is stored for it.
func stateCases() []testCase {
	bad := func(name, path, says string, body m) requestCase {
		return requestCase{Name: name, Path: path, Body: body, Status: 400, Contains: []string{says}}
	}
	seen := func(name, path string, body m, look string, want any) testCase {
		return testCase{Name: name, Run: func(s *suite) {
			t := s.newTab("/form", "")
			s.call("POST", path, s.insertSiteURL(body), nil)
			s.openPage("/plain")
			s.wantPage(look, want)
			s.closeTab(t.TargetID)
		}}
	}
	return append(requestCases([]requestCase{
		bad("a cookie without a name", "/cookies/set", "name", m{"cookie": m{"value": "x", "url": "SITE"}}),
		bad("a cookie without a place", "/cookies/set", "url", m{"cookie": m{"name": "a", "value": "x"}}),
		bad("a store that is not there", "/storage/cloud/set", "local", m{"key": "a", "value": "b"}),
		bad("permission for a file server", "/permissions/grant", "origin", m{"origin": "ftp://x", "permissions": []string{"geolocation"}}),
		{Name: "a time zone that is not there", Path: "/set/timezone", Page: "/plain", Body: m{"timezoneId": "Mars/Olympus"}, Status: 500, Contains: []string{"Invalid timezone ID"}},
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

func cookieCase(s *suite) {
	s.openPage("/plain")
	set := m{"cookie": m{"name": "crumb", "value": "42", "url": s.Site.URL, "sameSite": "Lax"}}
	s.call("POST", "/cookies/set", set, nil)
	var got struct {
		Cookies []struct{ Name, Value, Domain, Path, SameSite string }
	}
	s.call("GET", "/cookies", nil, &got)
	if len(got.Cookies) != 1 || got.Cookies[0].Name != "crumb" || got.Cookies[0].Value != "42" || got.Cookies[0].SameSite != "Lax" {
		s.Fatalf("cookies = %+v", got.Cookies)
	}
	s.wantPage("document.cookie", "crumb=42")
	s.call("POST", "/cookies/clear", nil, nil)
	got.Cookies = nil
	s.call("GET", "/cookies", nil, &got)
	s.wantEqual("cookies left", len(got.Cookies), 0)
}

func storageAreas(s *suite) {
	s.openPage("/plain")
	for _, kind := range []string{"local", "session"} {
		for _, key := range []string{" a ", "b"} {
			s.call("POST", "/storage/"+kind+"/set", m{"key": key, "value": key + kind}, nil)
		}
		for query, want := range map[string]map[string]string{"?key=b": {"b": "b" + kind}, "?key=%20a%20": {" a ": " a " + kind}, "?key=nosuch": {}} {
			var got struct{ Values map[string]string }
			s.call("GET", "/storage/"+kind+query, nil, &got)
			s.wantEqual(kind+query, got.Values, want)
		}
		s.call("POST", "/storage/"+kind+"/clear", nil, nil)
		var got struct{ Values map[string]string }
		s.call("GET", "/storage/"+kind, nil, &got)
		s.wantEqual(kind+" after clear", got.Values, map[string]string{})
	}
}

func offlineCase(s *suite) {
	s.openPage("/plain")
	s.call("POST", "/set/offline", m{"offline": "true"}, nil)
	s.wantPage("async () => [navigator.onLine, await fetch('/form').then(() => 'came', () => 'failed')]", []any{false, "failed"})
	s.call("POST", "/set/offline", m{"offline": false}, nil)
	s.openPage("/plain")
}

func extraHeaders(s *suite) {
	set := func(h m) {
		s.call("POST", "/set/headers", m{"headers": h}, nil)
	}
	set(m{"X-One": "1", "X-Number": 7})
	for _, want := range [][]any{{"1", ""}, {"", "2"}} {
		s.openPage("/echo")
		s.wantPage("JSON.parse(document.body.textContent)", want)
		set(m{"X-Two": "2"})
	}
	set(m{})
}

func httpCredentials(s *suite) {
	s.openPage("/plain")
	s.call("POST", "/set/credentials", m{"username": "ada", "password": "lovelace"}, nil)
	s.wantPage("fetch('/locked').then(r => r.status)", 200)
	s.call("POST", "/set/credentials", m{"clear": true}, nil)
}
