package control_test

import (
	"strings"
	"testing"

	"clank/browsermgr/control"
	"clank/browsermgr/page/action/actiontable"

	"github.com/google/go-cmp/cmp"
)

func TestTheDocumentListsEveryRouteThatIsServed(t *testing.T) {
	c := serve(t, nil)
	doc := c.ok("GET", "/openapi.json", nil)
	if got := doc.str("openapi"); got != "3.1.0" {
		t.Errorf("openapi: got %q", got)
	}
	paths, _ := doc.body["paths"].(map[string]any)
	listed := map[string]bool{}
	for path, item := range paths {
		for method, op := range item.(map[string]any) {
			listed[strings.ToUpper(method)+" "+path] = true
			if o, _ := op.(map[string]any); o["summary"] == "" || o["responses"] == nil {
				t.Errorf("%s %s is not described", method, path)
			}
		}
	}
	served := map[string]bool{}
	for _, route := range control.RouteTable() {
		served[route] = true
	}
	if diff := cmp.Diff(served, listed); diff != "" {
		t.Errorf("served and listed (-want +got):\n%s", diff)
	}
}

func TestHandlersReadNothingThatTheDocumentDoesNotDeclare(t *testing.T) {
	c := serve(t, nil)
	bodies := map[string][]string{
		"POST /tabs/open":          {`{"url":"about:blank","label":"x"}`},
		"POST /navigate":           {`{"url":"about:blank","timeoutMs":1000}`},
		"POST /tabs/action":        {`{"action":"select","index":0}`, `{"action":"label","targetId":"t1","label":"y"}`, `{"action":"new","label":"z"}`},
		"POST /tabs/focus":         {`{"targetId":"x"}`},
		"POST /permissions/grant":  {`{"origin":"https://example.com","permissions":["geolocation"]}`},
		"POST /cookies/set":        {`{"cookie":{"name":"a","value":"b","url":"https://example.com"}}`},
		"POST /storage/{kind}/set": {`{"key":"a","value":"b"}`},
		"POST /profiles/create":    {`{"name":"BAD NAME"}`},
		"POST /hooks/dialog":       {`{"accept":true,"promptText":"x","dialogId":"d1","timeoutMs":500}`},
	}
	for _, route := range control.RouteTable() {
		for _, body := range append([]string{"{}"}, bodies[route]...) {
			if got := control.UndeclaredFields(c.server, "asleep", route, body); len(got) > 0 {
				t.Errorf("%s %s reads %q", route, body, got)
			}
		}
	}
}

func TestTheDocumentDescribesEveryActionOfTheTable(t *testing.T) {
	c := serve(t, nil)
	doc := c.ok("GET", "/openapi.json", nil)
	at := func(v any, path ...string) any {
		for _, name := range path {
			object, _ := v.(map[string]any)
			v = object[name]
		}
		return v
	}
	properties := at(doc.body, "paths", "/act", "post", "requestBody", "content", "application/json", "schema", "properties")
	var kinds []string
	for _, kind := range at(properties, "kind", "enum").([]any) {
		kinds = append(kinds, kind.(string))
	}
	if diff := cmp.Diff(actiontable.Kinds(actiontable.API), kinds); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
	for _, kind := range kinds {
		spec, _ := actiontable.Lookup(actiontable.API, actiontable.Kind(kind))
		for _, p := range spec.ParamsIn(actiontable.API) {
			want := p.Type.String()
			if want == "objects" {
				want = "array"
			}
			if got := at(properties, p.Name, "type"); got != want || at(properties, p.Name, "description") == "" {
				t.Errorf("%s %s: got %v, want a described %s", kind, p.Name, got, want)
			}
		}
		for _, body := range []string{`{"kind":"` + kind + `"}`, `{"kind":"` + kind + `","timeoutMs":"x"}`} {
			if a := c.do("POST", "/act", body); a.str("code") == "ACT_KIND_REQUIRED" {
				t.Errorf("%s is not read: %s", kind, a.text)
			}
			if got := control.UndeclaredFields(c.server, "asleep", "POST /act", body); len(got) > 0 {
				t.Errorf("%s reads %q, which the document does not declare", kind, got)
			}
		}
	}
}
