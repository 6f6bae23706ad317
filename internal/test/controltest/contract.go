package controltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// routeContractCases returns the cases that apply to many routes: required fields, fields of responses, and errors
// for missing tabs and profiles.
func routeContractCases() []testCase {
	return append(requestCases(slices.Concat(neededFields(), answeredFields(), everyRoute())), timesThatAreNone()...)
}

// neededFields returns the cases about required fields.
func neededFields() []requestCase {
	var out []requestCase
	for _, r := range []struct {
		path, field string
		body        m
	}{
		{"/profiles/create", "name", m{"color": "#123456"}},
		{"/tabs/open", "url", m{"label": "x"}},
		{"/tabs/focus", "targetId", m{"targetId": " "}},
		{"/tabs/action", "action", m{}},
		{"/tabs/action", "targetId", m{"action": "label", "label": "x"}},
		{"/tabs/action", "label", m{"action": "label", "targetId": "t1"}},
		{"/navigate", "url", m{"url": nil}},
		{"/hooks/file-chooser", "paths", m{}},
		{"/hooks/file-chooser", "paths", m{"paths": []string{" ", ""}}},
		{"/hooks/dialog", "accept", m{"accept": "perhaps"}},
		{"/hooks/dialog", "accept", m{"accept": 1}},
		{"/download", "ref", m{"path": "x", "ref": ""}},
		{"/download", "path", m{"ref": "e1", "path": " "}},
		{"/response/body", "url", m{"url": " "}},
		{"/highlight", "ref", m{"ref": []string{"e1"}}},
		{"/permissions/grant", "origin", m{"permissions": []string{"geolocation"}, "origin": " "}},
		{"/permissions/grant", "permissions", m{"origin": "SITE", "permissions": []string{" "}}},
		{"/cookies/set", "cookie", m{"cookie": "crumb=1"}},
		{"/cookies/set", "value", m{"cookie": m{"name": "x", "url": "SITE"}}},
		{"/storage/session/set", "key", m{"value": "x"}},
		{"/set/offline", "offline", m{"offline": 1}},
		{"/set/headers", "headers", m{"headers": "X-One: 1"}},
		{"/set/geolocation", "longitude", m{"latitude": 1}},
		{"/set/media", "colorScheme", m{}},
		{"/set/timezone", "timezoneId", m{"timezoneId": " "}},
		{"/set/locale", "locale", m{"locale": nil}},
		{"/set/device", "name", m{"name": ""}},
	} {
		given, _ := json.Marshal(r.body)
		out = append(out, requestCase{
			Name: r.path + " needs " + r.field + ", not " + string(given), Path: r.path,
			Body: r.body, Status: 400, Contains: []string{r.field},
		})
	}
	return out
}

// answeredFields returns the cases about the fields of responses.
func answeredFields() []requestCase {
	get := func(path string, has ...string) requestCase {
		return requestCase{Name: "the answer of GET " + path, Path: path, Page: "/form", Members: append(has, "ok")}
	}
	post := func(path string, body m, has ...string) requestCase {
		return requestCase{
			Name: "the answer of POST " + path, Path: path, Body: body, Page: "/form",
			Members: append(has, "ok"),
		}
	}
	tab := []string{"suggestedTargetId", "tabId", "targetId", "title", "url", "type"}
	open := post("/tabs/open", m{"url": "SITE/plain"}, append(tab, "resolvedProfile")...)
	open.Members = open.Members[:len(open.Members)-1] // this route returns the tab itself, not wrapped
	return []requestCase{
		open,
		get("/tabs", "running", "tabs"), get("/profiles", "profiles"), get("/text", "targetId", "url", "text", "truncated"),
		get("/console", "targetId", "url", "messages"), get("/errors", "targetId", "errors"),
		get("/requests", "targetId", "requests"),
		get("/dialogs", "targetId", "browserState"), get("/cookies", "targetId", "cookies"),
		get("/storage/local", "targetId", "values"),
		get("/har", "targetId", "har"),
		get("/snapshot", "format", "targetId", "url", "snapshot", "refs", "stats"),
		get("/snapshot?format=aria", "format", "targetId", "url", "nodes"),
		get("/snapshot?labels=1", "labels", "labelsCount", "labelsSkipped", "imagePath", "imageType", "annotations"),
		post("/start", nil, "profile"),
		post("/tabs/action", m{"action": "list"}, "tabs"), post("/tabs/action", m{"action": "new"}, "tab"),
		post("/tabs/action", m{"action": "select", "index": "0"}, "targetId"),
		post("/tabs/action", m{"action": "close"}, "targetId"),
		post("/screenshot", m{}, "path", "targetId", "url"), post("/screenshot", m{"labels": true}, "path", "labels",
			"labelsCount", "labelsSkipped", "annotations"),
		post("/pdf", m{}, "path", "targetId", "url"), post("/navigate", m{"url": "SITE/plain"}, "targetId", "url"),
		post("/hooks/dialog", m{"accept": false, "timeoutMs": 500}),
		post("/cookies/set", m{"cookie": m{"name": "a", "value": "", "url": "SITE"}}, "targetId"),
		post("/cookies/clear", nil, "targetId"), post("/storage/local/clear", nil, "targetId"),
		post("/set/offline", m{"offline": "no"}, "targetId"),
		post("/set/headers", m{"headers": m{}}, "targetId"), post("/set/credentials", m{"clear": true}, "targetId"),
		post("/set/geolocation", m{"clear": "yes"}, "targetId"), post("/set/media", m{"colorScheme": "none"}, "targetId"),
		post("/set/locale", m{"locale": "en-US"}, "targetId"),
	}
}

// aimedRoutes returns the routes that work on a tab, with a valid body for each.
func aimedRoutes() map[string]m {
	return map[string]m{
		"GET /snapshot": nil, "GET /text": nil, "GET /console": nil, "GET /errors": nil, "GET /requests": nil,
		"GET /dialogs": nil, "GET /har": nil,
		"GET /cookies": nil, "GET /storage/local": nil, "DELETE /tabs/nosuch": nil,
		"POST /tabs/focus": {}, "POST /tabs/action": {"action": "label", "label": "x"}, "POST /screenshot": {},
		"POST /pdf":      {},
		"POST /navigate": {"url": "SITE/plain"}, "POST /act": {"kind": "press", "key": "a"},
		"POST /hooks/file-chooser": {"paths": []string{"a.txt"}}, "POST /hooks/dialog": {"accept": true},
		"POST /wait/download": {},
		"POST /download":      {"ref": "e1", "path": "x"}, "POST /response/body": {"url": "x"},
		"POST /highlight":   {"ref": "e1"},
		"POST /trace/start": {}, "POST /trace/stop": {},
		"POST /permissions/grant": {"origin": "SITE", "permissions": []string{"geolocation"}},
		"POST /cookies/set":       {"cookie": m{"name": "a", "value": "b", "url": "SITE"}}, "POST /cookies/clear": {},
		"POST /storage/local/set": {"key": "a", "value": "b"}, "POST /storage/local/clear": {},
		"POST /set/offline": {"offline": false},
		"POST /set/headers": {"headers": m{}}, "POST /set/credentials": {"clear": true},
		"POST /set/geolocation": {"clear": true},
		"POST /set/media":       {"colorScheme": "none"}, "POST /set/timezone": {"timezoneId": "Europe/Oslo"},
		"POST /set/locale": {"locale": "en-US"},
		"POST /set/device": {"name": "iPhone 14"},
	}
}

// everyRoute sends each route of tabs an unknown tab, by name and by number, and an invalid timeout.
func everyRoute() []requestCase {
	var out []requestCase
	for _, route := range slices.Sorted(maps.Keys(aimedRoutes())) {
		tab, profile := aimedRequest(route, m{"targetId": "nosuch"}),
			aimedRequest(route, m{"targetId": "t1", "profile": "nosuch"})
		tab.Name, tab.Status, tab.Contains = route+" of an unknown tab", http.StatusNotFound, []string{"tab not found"}
		profile.Name, profile.Status, profile.Contains = route+" of an unknown profile", http.StatusNotFound,
			[]string{"not found", "nosuch", "clank"}
		out = append(out, tab, profile)
	}
	for _, route := range []string{
		"GET /doctor", "GET /profiles", "GET /tabs", "POST /start", "POST /stop",
		"POST /reset-profile",
	} {
		method, path, _ := strings.Cut(route, " ")
		out = append(out, requestCase{
			Name: route + " of an unknown profile", Method: method, Path: path + "?profile=nosuch", Status: 404,
			Contains: []string{"nosuch"},
		})
	}
	return out
}

// timesThatAreNone sends an invalid value to each route with a time limit.
func timesThatAreNone() []testCase {
	var out []testCase
	for _, route := range []string{
		"POST /navigate", "POST /act", "POST /screenshot", "POST /hooks/file-chooser", "POST /hooks/dialog",
		"POST /wait/download", "POST /download",
		"POST /response/body", "POST /permissions/grant", "GET /snapshot",
	} {
		out = append(out, testCase{Name: route + " with a time that is none", Run: func(s *suite) {
			for _, given := range []any{"1.5", "-1", "0x10", "1e3", "5s", "0"} {
				x := aimedRequest(route, m{"timeoutMs": given})
				x.Status, x.Contains = http.StatusBadRequest, []string{"timeoutMs must be a positive integer."}
				x.Run(s)
			}
		}})
	}
	return out
}

// aimedRequest returns the request of a route with additional fields in its body, or in the query if it has none.
func aimedRequest(route string, more m) requestCase {
	var x requestCase
	x.Method, x.Path, _ = strings.Cut(route, " ")
	body := aimedRoutes()[route]
	if body == nil {
		query := url.Values{}
		for name, v := range more {
			query.Set(name, fmt.Sprint(v))
		}
		x.Path = strings.TrimSuffix(x.Path+"?"+query.Encode(), "?")
		return x
	}
	body = maps.Clone(body)
	maps.Copy(body, more)
	x.Body = body
	return x
}

// authCases returns the cases about access: the order of the checks, credentials, cross-site requests, hosts, sizes.
func authCases() []testCase {
	with := func(pairs ...string) http.Header {
		h := http.Header{"Authorization": {"Bearer TOKEN"}}
		for i := 0; i < len(pairs); i += 2 {
			h.Set(pairs[i], pairs[i+1])
		}
		return h
	}
	return requestCases([]requestCase{
		{Name: "the secret lets in", Path: "/"},
		{Name: "a token in the query is none", Path: "/?token=TOKEN", Header: http.Header{}, Status: 401},
		{Name: "an unknown route asks for credentials first", Path: "/nosuch", Header: http.Header{}, Status: 401},
		{Name: "an unknown route", Path: "/nosuch", Status: 404, Contains: []string{"route not found: GET /nosuch"}},
		{
			Name: "a cross-site request without credentials", Method: "POST", Path: "/stop",
			Header: http.Header{"Sec-Fetch-Site": {"cross-site"}}, Status: 403, Contains: []string{"Forbidden"},
		},
		{Name: "a foreign origin may read with the secret", Path: "/", Header: with("Origin", "https://evil.example")},
		{
			Name: "a body of more than a megabyte", Path: "/act",
			Body:   append(append([]byte(`{"kind":"type","ref":"e1","text":"`), bytes.Repeat([]byte("x"), 1<<20)...), `"}`...),
			Status: 413,
		},
		{Name: "a body that is not JSON", Path: "/act", Body: []byte(`{"kind":`), Status: 400},
		{
			Name: "a body that is no object counts as empty", Path: "/act", Body: []byte(`[1,2]`), Status: 400,
			Code: "ACT_KIND_REQUIRED",
		},
		{
			Name: "a form is no body", Path: "/act", Header: with("Content-Type", "application/x-www-form-urlencoded"),
			Body: []byte("kind=click"), Status: 400, Code: "ACT_KIND_REQUIRED",
		},
		{
			Name: "the wrong method", Method: "PUT", Path: "/act", Body: m{}, Status: 405,
			Contains: []string{"route not found: PUT /act"},
		},
		{
			Name: "a host before the body", Path: "/act", Header: http.Header{"Host": {"evil.example"}}, Body: []byte("{"),
			Status: 403,
		},
		{
			Name: "the body before the site", Path: "/act", Header: with("Origin", "https://evil.example"), Body: []byte("{"),
			Status: 400, Contains: []string{"not JSON"},
		},
		{
			Name: "the size before the secret", Path: "/act", Header: http.Header{}, Body: bytes.Repeat([]byte(" "), 1<<20+1),
			Status: 413, Contains: []string{"1 MB"},
		},
		{
			Name: "reading asks for the secret, whatever the site", Path: "/nosuch",
			Header: http.Header{"Origin": {"https://evil.example"}}, Status: 401,
		},
	})
}
