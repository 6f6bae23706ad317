package browsertool_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"clank/browseagent/browsertool"
	"clank/browsermgr/page/action/actiontable"
)

func TestTheToolTakesEveryActionOfTheTable(t *testing.T) {
	d := (&browsertool.Tool{}).Definition(browsertool.Capability{})
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

func TestTheToolWaitsAsLongAsTheActionMayTake(t *testing.T) {
	const floor, slack, guard = 60 * time.Second, 5 * time.Second, 250 * time.Millisecond
	text := strings.Repeat("ä", 1000)
	deep := func(n int) string {
		return strings.Repeat(`{"kind":"batch","actions":[`, n) + `{"kind":"wait","timeMs":30000,"text":"a","url":"b","textGone":"c"}` + strings.Repeat(`]}`, n)
	}
	for request, want := range map[string]time.Duration{
		`{"kind":"type","ref":"e1","slowly":true,"text":"` + text + `"}`:  8*time.Second + 75*time.Second + guard + slack,
		`{"kind":"drag","startRef":"e1","endRef":"e2","timeoutMs":60000}`: 60*time.Second + guard + slack,
		deep(5): 90*time.Second + guard + slack,
		deep(6): floor,
	} {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			targets := browsertool.Targets{Host: &browsertool.Target{API: silent{}}, AllowHostControl: true}
			run(t, &browsertool.Session{Tool: &browsertool.Tool{Targets: targets}}, `{"action":"act","request":`+request+`}`)
			if got := time.Since(begin); got != want {
				t.Errorf("%.90s: left after %v, want %v", request, got, want)
			}
		})
	}
}
