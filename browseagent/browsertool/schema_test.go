package browsertool_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"clank/browseagent/browsertool"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func TestTheSchemaIsOneFlatObjectThatCostsLittle(t *testing.T) {
	for _, evaluates := range []bool{true, false} {
		d := (&browsertool.Tool{EvaluateEnabled: func() bool { return evaluates }}).Definition()
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(d.Schema)))
		if err != nil {
			t.Fatalf("%s: %v", d.Schema, err)
		}
		comp := jsonschema.NewCompiler()
		if err := comp.AddResource("mem:///tool.json", doc); err != nil {
			t.Fatal(err)
		}
		if _, err := comp.Compile("mem:///tool.json"); err != nil {
			t.Error(err)
		}
		for _, word := range []string{"anyOf", "oneOf", "allOf", "$ref"} {
			if strings.Contains(string(d.Schema), `"`+word+`"`) {
				t.Errorf("the schema has %s", word)
			}
		}
		size := len(d.Name) + len(d.Description) + len(d.Schema)
		tokens := float64(size) / 3.5
		t.Logf("%d bytes, about %.0f tokens", size, tokens)
		if tokens >= 3000 {
			t.Errorf("the tool costs about %.0f tokens", tokens)
		}
		if strings.Contains(d.Description, "%") {
			t.Errorf("a part of the description was not filled in: %s", d.Description)
		}
	}
}

func TestTheSchemaHidesWhatCannotBeDone(t *testing.T) {
	for _, evaluates := range []bool{true, false} {
		d := (&browsertool.Tool{EvaluateEnabled: func() bool { return evaluates }}).Definition()
		var s struct {
			Properties map[string]struct{ Enum []string } `json:"properties"`
		}
		if err := json.Unmarshal(d.Schema, &s); err != nil {
			t.Fatal(err)
		}
		_, fn := s.Properties["fn"]
		kinds := s.Properties["kind"].Enum
		if slices.Contains(kinds, "evaluate") != evaluates || fn != evaluates || strings.Contains(d.Description, "evaluate") != evaluates ||
			!slices.Contains(kinds, "batch") {
			t.Errorf("scripts may run: %t; kinds %v, fn %t, %s", evaluates, kinds, fn, d.Description)
		}
	}
}
