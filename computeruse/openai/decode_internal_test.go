package openai

import (
	"encoding/json"
	"image"
	"strings"
	"testing"

	"clank/computeruse"
	"clank/internal/test/check"
)

func TestActionsAreReadInAllTheirForms(t *testing.T) {
	at := &image.Point{X: 3, Y: 4}
	for raw, want := range map[string]computeruse.Action{
		`{"type":"click","button":"back","x":3,"y":4}`: {
			Kind: computeruse.ActClick, At: at,
			Button: computeruse.ButtonBack, Clicks: 1,
		},
		`{"type":"click","button":"wheel","x":3.2,"y":3.9,"keys":["SHIFT"]}`: {
			Kind: computeruse.ActClick, At: at,
			Button: computeruse.ButtonMiddle, Clicks: 1, Held: []string{"SHIFT"},
		},
		`{"type":"double_click","x":3,"y":4,"keys":null}`: {
			Kind: computeruse.ActClick, At: at,
			Button: computeruse.ButtonLeft, Clicks: 2,
		},
		`{"type":"move","x":3,"y":4}`: {Kind: computeruse.ActMove, At: at},
		`{"type":"scroll","x":3,"y":4,"scroll_x":0,"scroll_y":-200}`: {
			Kind: computeruse.ActScroll, At: at,
			Scroll: image.Pt(0, -200),
		},
		`{"type":"drag","path":[{"x":1,"y":2},[3,4]]}`: {
			Kind: computeruse.ActDrag,
			Path: []image.Point{{X: 1, Y: 2}, {X: 3, Y: 4}},
		},
		`{"type":"keypress","keys":["CTRL","A"]}`: {
			Kind: computeruse.ActKeys,
			Keys: []string{"CTRL", "A"},
		},
		`{"type":"type","text":"lamp"}`: {Kind: computeruse.ActType, Text: "lamp"},
		`{"type":"wait"}`:               {Kind: computeruse.ActWait},
		`{"type":"screenshot"}`:         {Kind: computeruse.ActScreenshot},
		`{"type":"teleport"}`: {
			Kind: computeruse.ActUnknown,
			Text: "teleport",
		},
		`{"type":"click","button":"left","x":3}`: {
			Kind: computeruse.ActUnknown,
			Text: "click without x and y",
		},
		`{"type":"drag","path":[{"x":1},[3,4]]}`: {
			Kind: computeruse.ActUnknown,
			Text: "drag with a point 1 that is not of the agreed form",
		},
		`{"type":"click","x":"left","y":2}`: {
			Kind: computeruse.ActUnknown,
			Text: "an action that is not of the agreed form",
		},
		`{"type":"scroll","x":3,"y":4,"scroll_y":1e300}`: {
			Kind: computeruse.ActScroll, At: at,
			Scroll: image.Pt(0, 1<<20),
		},
	} {
		check.Diff(t, raw, readAction(json.RawMessage(raw)), want)
	}
}

func TestThePictureThatStandsForOneThatIsGoneIsOne(t *testing.T) {
	out := inputItem{Kind: kindScreen, CallID: "a", Parts: []inputPart{imagePart(nil)}}.request("original")
	if shot := out.(map[string]any)["output"].(map[string]any); shot["image_url"] != removedImage ||
		shot["detail"] != nil {
		t.Errorf("got %v", shot)
	}
}

func TestAConversationThatIsTooLongBeginsAnewInWords(t *testing.T) {
	m := &conversation{model: &Model{}, state: storedState{
		Whole: true, Items: make([]inputItem, maxItems+1),
		Log: []string{"told: find a lamp"}, Open: []openCall{{ID: "a", Screen: true}},
	}}
	m.addInput(computeruse.Input{
		Outcomes: []computeruse.CallResult{{CallID: "a", Err: "It failed."}},
		Says:     []string{"go on"},
	})
	raw, err := json.Marshal(m.state.Told)
	check.Must(t, err)
	for _, part := range []string{"find a lamp", "It failed.", "go on", "left out"} {
		if !strings.Contains(string(raw), part) {
			t.Errorf("it is told %s, want %q in it", raw, part)
		}
	}
	if len(m.state.Items) != 0 || len(m.state.Open) != 0 || strings.Contains(string(raw), kindScreen) {
		t.Errorf("it keeps %d items and %d calls", len(m.state.Items), len(m.state.Open))
	}
}

func FuzzReadTurn(f *testing.F) {
	f.Add(`[{"type":"computer_call","call_id":"a","actions":[{"type":"click","x":1,"y":2}],"pending_safety_checks":[{"id":"x"}]}]`)
	f.Add(`[{"type":"computer_call","call_id":"a","action":{"type":"drag","path":[[1,2],{"x":3,"y":4}]}}]`)
	f.Add(`[{"type":"function_call","call_id":"b","name":"n","arguments":"{"},{"type":"message","content":[{"type":"refusal","refusal":"no"}]}]`)
	f.Fuzz(func(t *testing.T, raw string) {
		var items []json.RawMessage
		if json.Unmarshal([]byte(raw), &items) != nil {
			return
		}
		turn, open, err := readTurn(items)
		if err != nil {
			return
		}
		check.Equal(t, "len(open)", len(open), len(turn.Calls)+len(turn.Tools))
		for _, c := range turn.Tools {
			var object map[string]json.RawMessage
			if json.Unmarshal(c.Input, &object) != nil || object == nil {
				t.Errorf("the input %s is no object", c.Input)
			}
		}
	})
}
