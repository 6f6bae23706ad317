package browsertool_test

import (
	"encoding/json"
	"strings"
	"testing"

	"clank/browseagent/browsertool"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func TestTheSchemaIsOneFlatObjectThatCostsLittle(t *testing.T) {
	for _, c := range []browsertool.Capability{{}, {Attached: true}, {Screenless: true}} {
		d := (&browsertool.Tool{}).Definition(c)
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
		t.Logf("%+v: %d bytes, about %.0f tokens", c, size, tokens)
		if tokens >= 3000 {
			t.Errorf("the tool costs about %.0f tokens", tokens)
		}
		if strings.Contains(d.Description, "%") {
			t.Errorf("a part of the description was not filled in: %s", d.Description)
		}
	}
}

func TestTheSchemaHidesWhatCannotBeDone(t *testing.T) {
	read := func(tool *browsertool.Tool, c browsertool.Capability) (props map[string]struct{ Enum []string }, text string) {
		d := tool.Definition(c)
		var s struct {
			Properties map[string]struct{ Enum []string } `json:"properties"`
		}
		if err := json.Unmarshal(d.Schema, &s); err != nil {
			t.Fatal(err)
		}
		return s.Properties, d.Description
	}
	has := func(list []string, s string) bool {
		return strings.Contains(" "+strings.Join(list, " ")+" ", " "+s+" ")
	}

	all, text := read(&browsertool.Tool{}, browsertool.Capability{})
	if !has(all["kind"].Enum, "evaluate") || !has(all["kind"].Enum, "batch") || all["fn"].Enum != nil || !strings.Contains(text, "evaluate") {
		t.Errorf("kinds %v", all["kind"].Enum)
	}
	safe, text := read(&browsertool.Tool{EvaluateEnabled: func() bool { return false }}, browsertool.Capability{Attached: true})
	_, fn := safe["fn"]
	_, batch := safe["actions"]
	if has(safe["kind"].Enum, "evaluate") || has(safe["kind"].Enum, "batch") || fn || batch || strings.Contains(text, "evaluate") || strings.Contains(text, "batch") {
		t.Errorf("kinds %v, fn %t, actions %t, text %s", safe["kind"].Enum, fn, batch, text)
	}
	if got, _ := read(&browsertool.Tool{}, browsertool.Capability{Screenless: true}); has(got["action"].Enum, "screenshot") {
		t.Error("screenshot is offered to those who cannot use it")
	}
}
