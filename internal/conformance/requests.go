package main

// requests are how parameters are read, on every route alike.
func requests() []check {
	press := func(delay any) map[string]any { return map[string]any{"kind": "press", "key": "a", "delayMs": delay} }
	resize := func(w, h any) map[string]any { return map[string]any{"kind": "resize", "width": w, "height": h} }
	return checks([]exchange{
		{name: "an unknown profile is named", path: "/?profile=nosuch", status: 404, says: []string{"not found", "nosuch", "clank"}},
		{name: "an unknown profile in the body", path: "/act", body: map[string]any{"kind": "press", "key": "a", "profile": "nosuch"}, status: 404, says: []string{"not found"}},
		{name: "the query's profile wins", path: "/act?profile=clank", body: map[string]any{"kind": "press", "key": "a", "profile": "nosuch"}, page: "/plain"},
		{name: "an empty profile is the default one", path: "/?profile="},
		{name: "a known client's default profile", path: "/?profile=openclaw"},
		{name: "digits in a string are a number", path: "/act", body: press("25"), page: "/plain"},
		{name: "a blank number is absent", path: "/act", body: press(" "), page: "/plain"},
		{name: "null is absent", path: "/act", body: press(nil), page: "/plain"},
		{name: "hexadecimal digits are no number", path: "/act", body: press("0x10"), status: 400, says: []string{"must be a non-negative integer."}},
		{name: "an exponent is no integer", path: "/act", body: press("1e3"), status: 400, says: []string{"must be a non-negative integer."}},
		{name: "a unit is no number", path: "/act", body: press("1000ms"), status: 400, says: []string{"must be a non-negative integer."}},
		{name: "a fraction is no integer", path: "/act", body: press("1.5"), status: 400, says: []string{"must be a non-negative integer."}},
		{name: "a negative one", path: "/act", body: press(-1), status: 400, says: []string{"must be a non-negative integer."}},
		{name: "an object is no number", path: "/act", body: press(map[string]any{}), status: 400},
		{name: "a malformed time limit", path: "/act", body: map[string]any{"kind": "wait", "timeMs": 1, "timeoutMs": "soon"}, status: 400, says: []string{"must be a positive integer."}},
		{name: "no time limit of zero", path: "/navigate", body: map[string]any{"url": "SITE/plain", "timeoutMs": 0}, status: 400, says: []string{"must be a positive integer."}},
		{name: "a coordinate with a fraction in a string", path: "/act", body: map[string]any{"kind": "clickCoords", "x": "42.5", "y": 3}, page: "/plain"},
		{name: "a boolean in a string", path: "/act", body: map[string]any{"kind": "clickCoords", "x": 1, "y": 1, "doubleClick": "true"}, page: "/plain"},
		{name: "a boolean in other words", path: "/act", body: map[string]any{"kind": "batch", "stopOnError": "No", "actions": []any{press(0)}}, page: "/plain"},
		{name: "stopOnError in a string", path: "/act", body: map[string]any{"kind": "batch", "stopOnError": "false", "actions": []any{press(0)}}, page: "/plain"},
		{name: "a size in strings", path: "/act", body: resize("640", "480"), page: "/plain"},
		{name: "a size of zero", path: "/act", body: resize(0, 480), status: 400, says: []string{"resize requires positive width and height"}},
		{name: "a size too large", path: "/act", body: resize(8193, 480), status: 400, says: []string{"resize width and height must not exceed 8192"}},
		{name: "a ref given as a number", path: "/act", body: map[string]any{"kind": "click", "ref": 987654}, page: "/plain", status: 500, says: []string{"Unknown ref"}},
		{name: "strings are trimmed", path: "/tabs/open", body: map[string]any{"url": "  SITE/plain  "}},
		{name: "a missing address", path: "/navigate", body: map[string]any{}, status: 400, says: []string{"url is required"}},
		{name: "a missing address of a new tab", path: "/tabs/open", body: map[string]any{"url": "  "}, status: 400, says: []string{"url is required"}},
		{name: "a missing target", path: "/tabs/focus", body: map[string]any{}, status: 400, says: []string{"targetId is required"}},
		{name: "not an address", path: "/navigate", body: map[string]any{"url": "http://not a url"}, status: 400, says: []string{"Invalid URL:"}},
		{name: "a scheme that is not allowed", path: "/navigate", body: map[string]any{"url": "file:///etc/passwd"}, status: 400, says: []string{"unsupported protocol"}},
		{name: "a script as an address", path: "/navigate", body: map[string]any{"url": "javascript:alert(1)"}, status: 400, says: []string{"unsupported protocol"}},
		{name: "a data address", path: "/tabs/open", body: map[string]any{"url": "data:text/html,x"}, status: 400, says: []string{"unsupported protocol"}},
		{name: "about:blank is allowed", path: "/navigate", body: map[string]any{"url": "about:blank"}, has: []string{"ok", "targetId", "url"}},
		{name: "only exactly about:blank is", path: "/navigate", body: map[string]any{"url": "about:config"}, status: 400},
		{name: "a password in an address", path: "/navigate", body: map[string]any{"url": "http://ada:secret@127.0.0.1/"}, status: 400, never: []string{"secret"}},
		{name: "an unknown tab", path: "/snapshot?targetId=nosuch", status: 404, says: []string{"tab not found"}},
		{name: "a number is no tab", path: "/snapshot?targetId=1", status: 404, says: []string{"tab not found", "tab"}},
		{name: "start takes a boolean only", method: "POST", path: "/start?headless=maybe", status: 400},
		{name: "an unknown storage", path: "/storage/nosuch", status: 400},
	})
}
