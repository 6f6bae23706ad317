package controltest

func attachByDirectory(s *suite, b *foreignBrowser) {
	joinAs(s, "mine", m{"driver": "existing-session", "userDataDir": b.data}, func() {
		all := listProfiles(s)
		if p := all["mine"]; p.Driver != "existing-session" {
			s.Fatalf("listed as %+v", p)
		}
		s.send(requestCase{Path: "/?profile=mine", Contains: []string{b.data, `"attachOnly":true`}})
		worksForeignBrowser(s, b, "mine", "about:blank")
	})
}

// personsLimits returns the actions that a browser in use by a person is spared. What else the contract lets servers refuse there
// may work.
func personsLimits(s *suite, b *foreignBrowser) {
	joinAs(s, "mine", m{"driver": "existing-session", "userDataDir": b.data}, func() {
		s.call("POST", "/tabs/open?profile=mine", m{"url": s.Site.URL + "/form"}, nil)
		for _, body := range []m{
			{"kind": "click", "selector": "#save"},
			{"kind": "type", "ref": "e1", "text": "x", "slowly": true},
			{"kind": "press", "key": "a", "delayMs": 5},
			{"kind": "type", "selector": "#name", "text": "x"},
			{"kind": "hover", "selector": "#save"},
			{"kind": "scrollIntoView", "selector": "#save"},
			{"kind": "drag", "startSelector": "#save", "endRef": "e2"},
			{"kind": "select", "selector": "#country", "values": []string{"no"}},
			{"kind": "batch", "actions": []any{m{"kind": "press", "key": "a"}}},
			{"kind": "dragCoords", "x": 1, "y": 1, "endX": 2, "endY": 2},
		} {
			s.send(requestCase{Path: "/act?profile=mine", Body: body, Status: 501, Code: "ACT_EXISTING_SESSION_UNSUPPORTED"})
		}
		s.send([]requestCase{
			{Path: "/screenshot?profile=mine", Body: m{"element": "#save"}, Status: 400},
			{Path: "/act?profile=mine", Body: m{"kind": "evaluate", "fn": "document.title", "timeoutMs": 3000}, Contains: []string{"Form"}},
			{Path: "/start?profile=mine&headless=true", Method: "POST", Status: 400},
			{Path: "/hooks/file-chooser?profile=mine", Body: m{"paths": []string{"a.txt"}, "element": "input"}, Status: 501},
			{Path: "/hooks/file-chooser?profile=mine", Body: m{"paths": []string{"a.txt"}}, Status: 501},
			{Path: "/wait/download?profile=mine", Body: m{"timeoutMs": 500}, Status: 501},
			{Path: "/set/offline?profile=mine", Body: m{"offline": true}, Status: 501},
			{Path: "/set/headers?profile=mine", Body: m{"headers": m{"a": "b"}}, Status: 501},
			{Path: "/set/credentials?profile=mine", Body: m{"username": "a", "password": "b"}, Status: 501},
			{Path: "/set/geolocation?profile=mine", Body: m{"latitude": 1, "longitude": 1}, Status: 501},
			{Path: "/cookies/clear?profile=mine", Method: "POST", Status: 501},
			{Path: "/act?profile=mine", Body: m{"kind": "evaluate", "fn": "navigator.onLine"}, Contains: []string{`"result":true`}},
			{Path: "/set/timezone?profile=mine", Body: m{"timezoneId": "Asia/Tokyo"}},
			{Path: "/pdf?profile=mine", Method: "POST"},
			{Path: "/tabs?profile=mine", Excludes: []string{"wsUrl"}},
		}...)
		var snap snapshotAnswer
		s.call("GET", "/snapshot?profile=mine", nil, &snap)
		save, name := s.ref(snap, "button", "Save"), s.ref(snap, "textbox", "Name")
		for _, body := range []m{
			{"kind": "click", "ref": save, "button": "middle", "modifiers": []string{"Shift"}, "timeoutMs": 5000},
			{"kind": "type", "ref": name, "text": "Ada", "timeoutMs": 5000},
			{"kind": "fill", "fields": []any{m{"ref": name, "value": "Bob"}}, "timeoutMs": 5000},
			{"kind": "wait", "selector": "button", "loadState": "networkidle"},
		} {
			s.send(requestCase{Path: "/act?profile=mine", Body: body})
		}
		s.send(requestCase{Path: "/screenshot?profile=mine", Body: m{"ref": save, "labels": true}})
	})
}
