package controltest

import "strings"

// openAPICases returns the description of the API at /openapi.json.
func openAPICases() []testCase {
	return []testCase{{Name: "every route is described", Run: describedRoutes}}
}

// documentedRoutes returns the routes of the contract that are not optional.
func documentedRoutes() []string {
	return strings.Fields(`GET:/ GET:/doctor GET:/profiles POST:/start POST:/stop POST:/reset-profile POST:/profiles/create DELETE:/profiles/{name}
		GET:/tabs POST:/tabs/open POST:/tabs/focus DELETE:/tabs/{targetId} POST:/tabs/action GET:/snapshot GET:/text POST:/screenshot POST:/pdf
		POST:/navigate POST:/act POST:/hooks/file-chooser POST:/hooks/dialog POST:/wait/download POST:/download POST:/response/body
		POST:/highlight GET:/console GET:/errors GET:/requests GET:/dialogs POST:/trace/start POST:/trace/stop POST:/permissions/grant
		GET:/cookies POST:/cookies/set POST:/cookies/clear GET:/storage/{kind} POST:/storage/{kind}/set POST:/storage/{kind}/clear
		POST:/set/offline POST:/set/headers POST:/set/credentials POST:/set/geolocation POST:/set/media POST:/set/timezone
		POST:/set/locale POST:/set/device GET:/openapi.json GET:/screencast`)
}

func describedRoutes(s *suite) {
	var doc struct {
		OpenAPI string
		Paths   map[string]m
	}
	s.call("GET", "/openapi.json", nil, &doc)
	if !strings.HasPrefix(doc.OpenAPI, "3.") {
		s.Fatalf("openapi = %q", doc.OpenAPI)
	}
	for _, route := range documentedRoutes() {
		method, path, _ := strings.Cut(route, ":")
		if doc.Paths[path][strings.ToLower(method)] == nil {
			s.Fatalf("%s %s is not described", method, path)
		}
	}
}
