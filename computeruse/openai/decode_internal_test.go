package openai

import (
	"encoding/json"
	"image"
	"strings"
	"testing"

	"clank/computeruse"
	"clank/internal/test/check"
	"clank/llm"
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

func TestArgumentsOfAFunctionAreAnObjectOrMalformed(t *testing.T) {
	for raw, want := range map[string]llm.ToolCall{
		`"{\"a\": 1}"`: {Input: json.RawMessage(`{"a": 1}`)},
		`{"a": 1}`:     {Input: json.RawMessage(`{"a": 1}`)},
		`" "`:          {Input: json.RawMessage("{}")},
		`"null"`:       {Input: json.RawMessage("{}")},
		`"{\"a\":"`:    {Input: json.RawMessage("{}"), Malformed: `{"a":`},
		`[1]`:          {Input: json.RawMessage("{}"), Malformed: `[1]`},
	} {
		check.Diff(t, raw, outputItem{Arguments: json.RawMessage(raw)}.function(), want)
	}
}

func TestACallWithoutAnActionHasNone(t *testing.T) {
	for _, raw := range []string{
		`{"type":"computer_call","call_id":"a"}`, `{"type":"computer_call","call_id":"a","actions":[],"action":null}`,
	} {
		turn, open, err := readTurn([]json.RawMessage{json.RawMessage(raw)})
		if err != nil || len(open) != 1 || len(turn.Calls) != 1 || len(turn.Calls[0].Actions) != 0 {
			t.Errorf("%s: got %+v, %+v, %v", raw, turn, open, err)
		}
	}
}

func TestEachCallIsAnsweredAndTheRestIsOneMessage(t *testing.T) {
	part, picture := &llm.Image{Data: []byte("part")}, llm.Image{Data: []byte("screen")}
	shot := &computeruse.Screenshot{Image: picture, URL: "http://shop.test/"}
	screen := func(i *llm.Image) inputItem {
		return inputItem{Kind: kindScreen, CallID: "a", Parts: []inputPart{imagePart(i)}}
	}
	message := func(parts ...inputPart) inputItem { return inputItem{Kind: kindMessage, Parts: parts} }
	function := func(parts ...inputPart) inputItem {
		return inputItem{Kind: kindFunction, CallID: "b", Parts: parts}
	}
	calls := []openCall{{ID: "a", Screen: true}, {ID: "b"}}
	for name, tt := range map[string]struct {
		in   computeruse.Input
		open []openCall
		want []inputItem
	}{
		"nothing": {},
		"a task":  {computeruse.Input{Says: []string{"buy"}}, nil, []inputItem{message(textPart("buy"))}},
		"a task and the screen": {
			computeruse.Input{Says: []string{"buy"}, Shot: shot},
			nil,
			[]inputItem{message(textPart("buy"), textPart(shot.Note()), imagePart(&picture))},
		},
		"an act and a tool": {
			computeruse.Input{
				Outcomes: []computeruse.CallResult{{CallID: "a", Image: part}},
				Results:  []llm.ToolResult{{ID: "b", Images: []llm.Image{picture}}}, Shot: shot,
			},
			calls,
			[]inputItem{
				screen(&picture), function(textPart("(no output)"), imagePart(&picture)),
				message(textPart("The part you wanted to see closer:"), imagePart(part), textPart(shot.Note())),
			},
		},
		"failures, unseen": {
			computeruse.Input{
				Outcomes: []computeruse.CallResult{{CallID: "a", Err: "It failed.", Text: "x=1"}},
				Results:  []llm.ToolResult{{ID: "b", IsError: true}},
			},
			calls,
			[]inputItem{
				screen(nil), function(textPart("The tool failed.")), message(
					textPart("About your action: It failed.\nAbout your action: x=1"),
					textPart("The screen could not be seen: the grey picture is not it."),
				),
			},
		},
		"an interruption": {
			computeruse.Input{Shot: shot},
			calls,
			[]inputItem{
				screen(&picture), function(textPart("The tool failed: interrupted")),
				message(textPart("About your action: interrupted"), textPart(shot.Note())),
			},
		},
	} {
		check.Diff(t, name, inputItems(tt.in, tt.open), tt.want)
	}
}

func TestAConversationThatIsTooLongBeginsAnewInWords(t *testing.T) {
	m := &conversation{model: &Model{}, state: storedState{
		Whole: true, Items: make([]inputItem, maxItems+1),
		Log: []string{"told: find a lamp"}, Open: []openCall{{ID: "a", Screen: true}},
	}}
	m.addInput(computeruse.Input{
		Outcomes: []computeruse.CallResult{{CallID: "a", Err: "It failed."}},
		Results:  []llm.ToolResult{{ID: "b", Text: "39"}},
		Says:     []string{"go on"},
	})
	raw, err := json.Marshal(m.state.Told)
	check.Must(t, err)
	for _, part := range []string{"find a lamp", "It failed.", "A tool answered: 39", "go on", "left out"} {
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
