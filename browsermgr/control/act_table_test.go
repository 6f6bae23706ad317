package control_test

import (
	"testing"

	"clank/browsermgr/control"
	"clank/browsermgr/page/action/actiontable"

	"github.com/google/go-cmp/cmp"
)

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
