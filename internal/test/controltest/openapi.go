package main

import (
	"context"
	"fmt"
	"strings"
)

// openAPICases is the description of the API at /openapi.json.
func openAPICases() []testCase {
	return []testCase{{Name: "every route is described", Run: describedRoutes}, {Name: "every described route answers", Run: describedAnswer}}
}

// documentedRoutes are those of the contract that are not optional.
func documentedRoutes() []string {
	return strings.Fields(`GET:/ GET:/doctor GET:/profiles POST:/start POST:/stop POST:/reset-profile POST:/profiles/create DELETE:/profiles/{name}
		GET:/tabs POST:/tabs/open POST:/tabs/focus DELETE:/tabs/{targetId} POST:/tabs/action GET:/snapshot GET:/text POST:/screenshot POST:/pdf
		POST:/navigate POST:/act POST:/hooks/file-chooser POST:/hooks/dialog POST:/wait/download POST:/download POST:/response/body
		POST:/highlight GET:/console GET:/errors GET:/requests GET:/dialogs POST:/trace/start POST:/trace/stop POST:/permissions/grant
		GET:/cookies POST:/cookies/set POST:/cookies/clear GET:/storage/{kind} POST:/storage/{kind}/set POST:/storage/{kind}/clear
		POST:/set/offline POST:/set/headers POST:/set/credentials POST:/set/geolocation POST:/set/media POST:/set/timezone
		POST:/set/locale POST:/set/device GET:/openapi.json GET:/screencast`)
}

type openAPIDocument struct {
	OpenAPI string
	Paths   map[string]map[string]any
}

func describedRoutes(ctx context.Context, s *controlSuite) error {
	var doc openAPIDocument
	if err := s.Call(ctx, "GET", "/openapi.json", nil, &doc); err != nil {
		return err
	}
	if !strings.HasPrefix(doc.OpenAPI, "3.") {
		return fmt.Errorf("openapi = %q", doc.OpenAPI)
	}
	for _, route := range documentedRoutes() {
		method, path, _ := strings.Cut(route, ":")
		if doc.Paths[path][strings.ToLower(method)] == nil {
			return fmt.Errorf("%s %s is not described", method, path)
		}
	}
	return nil
}

// describedAnswer sends each a request for a profile that is not there: a route that exists looks for it.
func describedAnswer(ctx context.Context, s *controlSuite) error {
	var doc openAPIDocument
	if err := s.Call(ctx, "GET", "/openapi.json", nil, &doc); err != nil {
		return err
	}
	for path, methods := range doc.Paths {
		for method := range methods {
			a, err := s.Request(ctx, strings.ToUpper(method), strings.NewReplacer("{name}", "nosuch", "{targetId}", "nosuch", "{kind}", "local").Replace(path)+"?profile=nosuch", map[string]any{})
			if err != nil {
				return err
			}
			if a.Status == 405 || a.Status == 404 && !strings.Contains(string(a.Body), "not found") || a.Status >= 500 {
				return fmt.Errorf("%s %s: %d %.200s", method, path, a.Status, a.Body)
			}
		}
	}
	return nil
}
