package controltest

// requestFormCases returns how parameters are read, on every route alike.
func requestFormCases() []testCase {
	press := func(delay any) m { return m{"kind": "press", "key": "a", "delayMs": delay} }
	resize := func(w, h any) m { return m{"kind": "resize", "width": w, "height": h} }
	return requestCases([]requestCase{
		{Name: "an unknown profile is named", Path: "/?profile=nosuch", Status: 404, Contains: []string{"not found", "nosuch", "clank"}},
		{Name: "an unknown profile in the body", Path: "/act", Body: m{"kind": "press", "key": "a", "profile": "nosuch"}, Status: 404, Contains: []string{"not found"}},
		{Name: "the query's profile wins", Path: "/act?profile=clank", Body: m{"kind": "press", "key": "a", "profile": "nosuch"}, Page: "/plain"},
		{Name: "an empty profile is the default one", Path: "/?profile="},
		{Name: "a known client's default profile", Path: "/?profile=openclaw"},
		{Name: "digits in a string are a number", Path: "/act", Body: press("25"), Page: "/plain"},
		{Name: "a blank number is absent", Path: "/act", Body: press(" "), Page: "/plain"},
		{Name: "null is absent", Path: "/act", Body: press(nil), Page: "/plain"},
		{Name: "hexadecimal digits are no number", Path: "/act", Body: press("0x10"), Status: 400, Contains: []string{"must be a non-negative integer."}},
		{Name: "an exponent is no integer", Path: "/act", Body: press("1e3"), Status: 400, Contains: []string{"must be a non-negative integer."}},
		{Name: "a unit is no number", Path: "/act", Body: press("1000ms"), Status: 400, Contains: []string{"must be a non-negative integer."}},
		{Name: "a fraction is no integer", Path: "/act", Body: press("1.5"), Status: 400, Contains: []string{"must be a non-negative integer."}},
		{Name: "a negative one", Path: "/act", Body: press(-1), Status: 400, Contains: []string{"must be a non-negative integer."}},
		{Name: "an object is no number", Path: "/act", Body: press(m{}), Status: 400},
		{Name: "a malformed time limit", Path: "/act", Body: m{"kind": "wait", "timeMs": 1, "timeoutMs": "soon"}, Status: 400, Contains: []string{"must be a positive integer."}},
		{Name: "no time limit of zero", Path: "/navigate", Body: m{"url": "SITE/plain", "timeoutMs": 0}, Status: 400, Contains: []string{"must be a positive integer."}},
		{Name: "a coordinate with a fraction in a string", Path: "/act", Body: m{"kind": "clickCoords", "x": "42.5", "y": 3}, Page: "/plain"},
		{Name: "a boolean in a string", Path: "/act", Body: m{"kind": "clickCoords", "x": 1, "y": 1, "doubleClick": "true"}, Page: "/plain"},
		{Name: "a boolean in other words", Path: "/act", Body: m{"kind": "batch", "stopOnError": "No", "actions": []any{press(0)}}, Page: "/plain"},
		{Name: "stopOnError in a string", Path: "/act", Body: m{"kind": "batch", "stopOnError": "false", "actions": []any{press(0)}}, Page: "/plain"},
		{Name: "a size in strings", Path: "/act", Body: resize("640", "480"), Page: "/plain"},
		{Name: "a size of zero", Path: "/act", Body: resize(0, 480), Status: 400, Contains: []string{"resize requires positive width and height"}},
		{Name: "a size too large", Path: "/act", Body: resize(8193, 480), Status: 400, Contains: []string{"resize width and height must not exceed 8192"}},
		{Name: "a ref given as a number", Path: "/act", Body: m{"kind": "click", "ref": 987654}, Page: "/plain", Status: 500, Contains: []string{"Unknown ref"}},
		{Name: "strings are trimmed", Path: "/tabs/open", Body: m{"url": "  SITE/plain  "}},
		{Name: "a missing address", Path: "/navigate", Body: m{}, Status: 400, Contains: []string{"url is required"}},
		{Name: "a missing address of a new tab", Path: "/tabs/open", Body: m{"url": "  "}, Status: 400, Contains: []string{"url is required"}},
		{Name: "a missing target", Path: "/tabs/focus", Body: m{}, Status: 400, Contains: []string{"targetId is required"}},
		{Name: "not an address", Path: "/navigate", Body: m{"url": "http://not a url"}, Status: 400, Contains: []string{"Invalid URL:"}},
		{Name: "a scheme that is not allowed", Path: "/navigate", Body: m{"url": "file:///etc/passwd"}, Status: 400, Contains: []string{"unsupported protocol"}},
		{Name: "a script as an address", Path: "/navigate", Body: m{"url": "javascript:alert(1)"}, Status: 400, Contains: []string{"unsupported protocol"}},
		{Name: "a data address", Path: "/tabs/open", Body: m{"url": "data:text/html,x"}, Status: 400, Contains: []string{"unsupported protocol"}},
		{Name: "about:blank is allowed", Path: "/navigate", Body: m{"url": "about:blank"}, Members: []string{"ok", "targetId", "url"}},
		{Name: "only exactly about:blank is", Path: "/navigate", Body: m{"url": "about:config"}, Status: 400},
		{Name: "a password in an address", Path: "/navigate", Body: m{"url": "http://ada:secret@127.0.0.1/"}, Status: 400, Excludes: []string{"secret"}},
		{Name: "an unknown tab", Path: "/snapshot?targetId=nosuch", Status: 404, Contains: []string{"tab not found"}},
		{Name: "a number is no tab", Path: "/snapshot?targetId=1", Status: 404, Contains: []string{"tab not found", "tab"}},
		{Name: "start takes a boolean only", Method: "POST", Path: "/start?headless=maybe", Status: 400},
		{Name: "an unknown storage", Path: "/storage/nosuch", Status: 400},
	})
}
