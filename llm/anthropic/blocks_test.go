package anthropic_test

import (
	"encoding/json"
	"testing"

	"clank/llm/anthropic"

	"github.com/google/go-cmp/cmp"
)

func TestBlocksAreReadAsTheyWereWritten(t *testing.T) {
	for name, block := range map[string]anthropic.Content{
		"text":      anthropic.NewText("a < b"),
		"result":    anthropic.NewResult("toolu_1", "computer", "Done.", nil, false),
		"failure":   anthropic.NewResult("toolu_1", "", "No.", nil, true),
		"no output": anthropic.NewResult("toolu_1", "", "", nil, false),
		"unknown":   anthropic.RawBlock(`{"type":"hologram","light":[1,2.50]}`),
		"a picture": anthropic.RawBlock(`{"type":"image","source":{"type":"url","url":"http://a.test/"}}`),
	} {
		written, err := json.Marshal(block)
		if err != nil {
			t.Fatal(err)
		}
		read, err := anthropic.ReadBlock(written)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(block, read); diff != "" {
			t.Errorf("%s (-written +read):\n%s", name, diff)
		}
	}
	for _, raw := range []string{`"x"`, `{"type":7}`, `{"type":"text","text":7}`, `{"type":"tool_result","content":"x"}`, `{"type":"tool_result","content":["x"]}`} {
		if b, err := anthropic.ReadBlock(json.RawMessage(raw)); err == nil {
			t.Errorf("%s is read as %v", raw, b)
		}
	}
}

func TestResultsStoredByFormerReleasesAreRead(t *testing.T) {
	stored := `{"tool_use_id":"toolu_1","toolset_name":"computer","is_error":true,"content":[{"text":"No.","type":"text"}],"type":"tool_result"}`
	got, err := anthropic.ReadBlock(json.RawMessage(stored))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(anthropic.Content(anthropic.NewResult("toolu_1", "computer", "No.", nil, true)), got); diff != "" {
		t.Errorf("block (-want +got):\n%s", diff)
	}
}
