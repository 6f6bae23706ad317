package controltest

// requestFormCases returns how parameters are read, on every route alike.
func requestFormCases() []testCase {
	press := func(delay any) m { return m{"kind": "press", "key": "a", "delayMs": delay} }
	return requestCases([]requestCase{
		{Name: "an unknown profile is named", Path: "/?profile=nosuch", Status: 404, Contains: []string{"not found", "nosuch", "clank"}},
		{Name: "an unknown profile in the body", Path: "/act", Body: m{"kind": "press", "key": "a", "profile": "nosuch"}, Status: 404, Contains: []string{"not found"}},
		{Name: "the query's profile wins", Path: "/act?profile=clank", Body: m{"kind": "press", "key": "a", "profile": "nosuch"}, Page: "/plain"},
		{Name: "an empty profile is the default one", Path: "/?profile="},
		{Name: "a known client's default profile", Path: "/?profile=openclaw"},
		{Name: "hexadecimal digits are no number", Path: "/act", Body: press("0x10"), Status: 400, Contains: []string{"must be a non-negative integer."}},
		{Name: "a boolean in a string", Path: "/act", Body: m{"kind": "clickCoords", "x": 1, "y": 1, "doubleClick": "true"}, Page: "/plain"},
		{Name: "a ref given as a number", Path: "/act", Body: m{"kind": "click", "ref": 987654}, Page: "/plain", Status: 500, Contains: []string{"Unknown ref"}},
		{Name: "strings are trimmed", Path: "/tabs/open", Body: m{"url": "  SITE/plain  "}},
		{Name: "a data address", Path: "/tabs/open", Body: m{"url": "data:text/html,x"}, Status: 400, Contains: []string{"unsupported protocol"}},
		{Name: "about:blank is allowed", Path: "/navigate", Body: m{"url": "about:blank"}, Members: []string{"ok", "targetId", "url"}},
		{Name: "only exactly about:blank is", Path: "/navigate", Body: m{"url": "about:config"}, Status: 400},
		{Name: "a password in an address", Path: "/navigate", Body: m{"url": "http://ada:secret@127.0.0.1/"}, Status: 400, Excludes: []string{"secret"}},
		{Name: "a number is no tab", Path: "/snapshot?targetId=1", Status: 404, Contains: []string{"tab not found", "tab"}},
		{Name: "start takes a boolean only", Method: "POST", Path: "/start?headless=maybe", Status: 400},
		{Name: "an unknown storage", Path: "/storage/nosuch", Status: 400},
	})
}
