package control

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"clank/browsermgr/fault"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/check"
)

func read(t *testing.T, json string) (actRequest, error) {
	t.Helper()
	f, err := DecodeFields([]byte(json))
	check.Must(t, err)
	return readAction(f)
}

func TestActionsAreReadAsClientsSpellThem(t *testing.T) {
	a, err := read(t, `{"kind":"batch","targetId":"t1","stopOnError":"no","actions":[
		{"kind":"click","ref":" e1 ","doubleClick":"yes","delayMs":"5","targetId":"t2"},
		{"kind":"press","key":" "},
		{"kind":"fill","fields":[{"ref":"e2","value":7},{"value":"lost"},{"ref":"e3","type":"checkbox","value":true}]},
		{"kind":"wait","timeMs":0},
		{"kind":"batch","actions":[{"kind":"evaluate","fn":"1","targetId":"t3"}]}]}`)
	check.Must(t, err)
	if a.target != "t1" || a.stopOnError || len(a.actions) != 5 || strings.Join(a.targets(), " ") != "t2 t3" {
		t.Errorf("batch: %+v", a)
	}
	if click := a.actions[0]; click.Ref != "e1" || !click.DoubleClick || click.DelayMs != 5 {
		t.Errorf("click: %+v", click)
	}
	if press := a.actions[1]; press.Key != " " {
		t.Errorf("press: %+v", press)
	}
	want := []actiontable.Field{{Ref: "e2", Type: "text", Value: "7"}, {Ref: "e3", Type: "checkbox", Value: true}}
	if got := a.actions[2].Fields; len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("fill: got %+v, want %+v", got, want)
	}
	if !a.actions[3].noWait || !a.actions[4].actions[0].evaluates() {
		t.Errorf("wait and evaluate: %+v", a.actions[3:])
	}
}

func FuzzActions(f *testing.F) {
	for _, seed := range []string{
		`{"kind":"click","ref":"e1"}`, `{"kind":"wait","fn":"1","timeMs":0}`,
		`{"kind":"batch","actions":[{"kind":"batch","actions":[{}]}]}`,
		`{"kind":"fill","fields":[{"ref":"e1","value":null}]}`, `{"kind":"clickCoords","x":"1e9","y":-1}`, `[]`, `{"kind":7}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, json string) {
		fields, err := DecodeFields([]byte(json))
		if err != nil {
			return
		}
		a, err := readAction(fields)
		if err != nil {
			if told := ClassifyError(err); told.Status != http.StatusBadRequest || !strings.HasPrefix(told.Code, "ACT_") {
				t.Errorf("%s: told as %d %q: %v", json, told.Status, told.Code, err)
			}
			return
		}
		if a.Kind == actiontable.KindBatch && (len(a.actions) == 0 || len(a.actions) > actiontable.MaxBatchActions) {
			t.Errorf("%s: a batch of %d", json, len(a.actions))
		}
		if a.Kind != actiontable.KindBatch && len(a.actions) > 0 {
			t.Errorf("%s: %s has entries", json, a.Kind)
		}
	})
}

func TestSnapshotParameters(t *testing.T) {
	for query, want := range map[string]struct {
		mode  string // what holds otherwise
		refs  string
		chars int
		depth int // -1: none
	}{
		"":                          {"", "", maxChars, -1},
		"interactive=1":             {"", "role", maxChars, -1},
		"refs=aria&compact=1":       {"", "aria", maxChars, -1},
		"depth=0":                   {"", "role", maxChars, 0},
		"maxChars=0":                {"", "", 0, -1},
		"maxChars=all":              {"", "", 0, -1},
		"mode=efficient":            {"", "role", maxCharsEfficient, depthEfficient},
		"maxChars=9":                {modeEfficient, "role", 9, depthEfficient},
		"mode=efficient&depth=2":    {"", "role", maxCharsEfficient, 2},
		"format=aria&maxChars=1000": {modeEfficient, "", 1000, -1},
	} {
		q, err := url.ParseQuery(query)
		check.Must(t, err)
		v, err := readSnapshotParams(QueryFields(q), want.mode)
		depth := -1
		if v.Depth != nil {
			depth = *v.Depth
		}
		if err != nil || string(v.Refs) != want.refs || v.MaxChars != want.chars || depth != want.depth {
			t.Errorf("%q: got refs %q, %d characters, depth %d, %v; want %+v", query, v.Refs, v.MaxChars, depth, err, want)
		}
	}
	for given, want := range map[string]int{"": 500, "1": 1, "2001": 2000} {
		v, err := readSnapshotParams(QueryFields(url.Values{"limit": {given}}), "")
		if err != nil || v.limit != want {
			t.Errorf("limit=%s: got %d nodes, %v; want %d", given, v.limit, err, want)
		}
	}
	for query, want := range map[string]string{
		"format=html": "format must be ai or aria", "refs=all": "refs must be role or aria",
		"refs=aria&frame=x": "cannot be combined", "refs=aria&selector=p": "cannot be combined",
		"format=aria&labels=1": "need format=ai", "format=aria&mode=efficient": "need format=ai",
		"limit=many": "limit must be a positive integer", "depth=-1": "depth must be a non-negative integer",
	} {
		q, err := url.ParseQuery(query)
		check.Must(t, err)
		check.Fails(t, check.Err(readSnapshotParams(QueryFields(q), "")), fault.ErrInvalid, want)
	}
}
