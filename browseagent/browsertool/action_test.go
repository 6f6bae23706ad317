package browsertool_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"clank/browseagent/browsertool"
	"clank/browsermgr/page/action/actiontable"
)

func TestTheToolTakesEveryActionOfTheTable(t *testing.T) {
	d := (&browsertool.Tool{}).Definition()
	var schema struct {
		Properties map[string]struct {
			Type string
			Enum []string
		}
	}
	if err := json.Unmarshal(d.Schema, &schema); err != nil {
		t.Fatal(err)
	}
	for _, kind := range actiontable.Kinds(actiontable.API) {
		spec, _ := actiontable.Lookup(actiontable.API, actiontable.Kind(kind))
		if spec.Unlisted {
			continue
		}
		if !slices.Contains(schema.Properties["kind"].Enum, kind) || !strings.Contains(d.Description, kind+spec.Sketch) {
			t.Errorf("%s is not offered", kind)
		}
		for _, p := range spec.ParamsIn(actiontable.API) {
			want := strings.Replace(p.Type.String(), "objects", "array", 1)
			if got := schema.Properties[p.Name]; got.Type != want || !slices.Equal(got.Enum, p.Enum) {
				t.Errorf("%s %s: got %+v, want %s of %q", kind, p.Name, got, want, p.Enum)
			}
			a := newAPI(t)
			a.on("POST /act", 200, `{"ok":true}`)
			run(t, a.session(), `{"action":"act","kind":"`+kind+`","`+p.Name+`":7}`)
			if got := a.taken(); !strings.Contains(got, `"`+p.Name+`":7`) {
				t.Errorf("%s beside action is not sent: %s", p.Name, got)
			}
		}
	}
}
