package client_test

import (
	"encoding/json"
	"testing"
	"time"

	"clank/browsermgr/control/client"
	"clank/browsermgr/page/action/actiontable"
)

// sample is a value that a field may have, as JSON has it.
func sample(p actiontable.Param) any {
	switch {
	case p.Enum != nil:
		return p.Enum[0]
	case p.Type == actiontable.Ref:
		return "e1"
	case p.Type == actiontable.Key:
		return "Enter"
	case p.Type == actiontable.Modifiers:
		return []any{"Alt"}
	case p.Type == actiontable.Points:
		return []any{"1,2", "3,4"}
	case p.Type == actiontable.Entries:
		return []any{map[string]any{"ref": "e1"}, map[string]any{"ref": "e2"}}
	case p.Type == actiontable.Requests:
		return []any{map[string]any{"kind": "click", "timeoutMs": 1000}, map[string]any{"kind": "wait", "text": "a"}}
	}
	return map[string]any{"boolean": true, "integer": 700, "number": 2.5, "array": []any{"a"}, "string": "äöü"}[p.Type.String()]
}

func TestNoActionIsWaitedForLessLongThanItMayTake(t *testing.T) {
	const launch, slack = 60 * time.Second, 5 * time.Second
	for _, kind := range actiontable.Kinds(actiontable.API) {
		spec, _ := actiontable.Lookup(actiontable.API, actiontable.Kind(kind))
		body := map[string]any{"kind": kind}
		bodies := []map[string]any{body}
		for _, p := range spec.ParamsIn(actiontable.API) {
			body[p.Name] = sample(p)
			if p.Name != "timeoutMs" {
				bodies = append(bodies, map[string]any{"kind": kind, p.Name: sample(p)})
			}
		}
		for _, b := range bodies {
			payload, err := json.Marshal(b)
			if err != nil {
				t.Fatal(err)
			}
			want, actions := spec.Action(read(t, spec, b)).Limit(), 1
			if entries, ok := b["actions"]; kind == "batch" {
				want, actions = 0, 0
				if ok {
					want, actions = time.Second+20*time.Second, len(entries.([]any))
				}
			}
			want += launch + slack + time.Duration(actions)*250*time.Millisecond
			if got := client.CallTimeOf("POST", "/act", nil, payload).Total(); got != want {
				t.Errorf("%s: got %s, want %s", payload, got, want)
			}
		}
	}
}

func read(t *testing.T, spec *actiontable.Spec, body map[string]any) actiontable.Values {
	t.Helper()
	values, err := spec.Read(actiontable.API, body)
	if err != nil && len(body) > 2 {
		t.Fatalf("%v: %v", body, err)
	}
	return values
}
