package controltest

import ()

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

// personsLimits are the actions that a browser in use by a person is spared. What else the contract lets servers refuse there
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
		}...)
	})
}
