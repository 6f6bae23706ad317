package gemini_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"testing"
	"time"

	"clank/computeruse"
	"clank/computeruse/gemini"
	"clank/internal/test/check"
	"clank/internal/test/llmtest"
)

func TestActionsOfBothGenerations(t *testing.T) {
	at := func(x, y int) *image.Point { p := image.Pt(x, y); return &p }
	one := func(a computeruse.Action) []computeruse.Action { return []computeruse.Action{a} }
	left, click := computeruse.ButtonLeft, computeruse.ActClick
	grid := image.Pt(1000, 1000)
	tests := []struct {
		model, name, args string
		want              []computeruse.Action
	}{
		{
			newer, "click", `{"x":0,"y":999}`,
			one(computeruse.Action{Kind: click, At: at(0, 999), Grid: grid, Button: left, Clicks: 1}),
		},
		{
			newer, "double_click", `{"x":"500","y":500.4}`,
			one(computeruse.Action{Kind: click, At: at(500, 500), Grid: grid, Button: left, Clicks: 2}),
		},
		{
			newer, "triple_click", `{"x":999,"y":0}`,
			one(computeruse.Action{Kind: click, At: at(999, 0), Grid: grid, Button: left, Clicks: 3}),
		},
		{
			newer, "right_click", `{"x":1,"y":1}`,
			one(computeruse.Action{Kind: click, At: at(1, 1), Grid: grid, Button: computeruse.ButtonRight, Clicks: 1}),
		},
		{
			newer, "middle_click", `{"x":1,"y":1}`,
			one(computeruse.Action{Kind: click, At: at(1, 1), Grid: grid, Button: computeruse.ButtonMiddle, Clicks: 1}),
		},
		{newer, "mouse_down", `{}`, one(computeruse.Action{Kind: computeruse.ActDown, Button: left})},
		{
			newer, "mouse_up", `{"x":1,"y":1}`,
			one(computeruse.Action{Kind: computeruse.ActUp, At: at(1, 1), Grid: grid, Button: left}),
		},
		{newer, "move", `{"x":1,"y":1}`, one(computeruse.Action{Kind: computeruse.ActMove, At: at(1, 1), Grid: grid})},
		{newer, "type", `{"text":"cats"}`, one(computeruse.Action{Kind: computeruse.ActType, Text: "cats"})},
		{
			newer, "drag_and_drop", `{"start_x":1,"start_y":1,"end_x":500,"end_y":500}`,
			one(computeruse.Action{
				Kind: computeruse.ActDrag, Path: []image.Point{{1, 1}, {500, 500}}, Grid: grid,
				Button: left,
			}),
		},
		{newer, "wait", `{"seconds":2.5}`, one(computeruse.Action{Kind: computeruse.ActWait, For: 2500 * time.Millisecond})},
		{newer, "wait", `{"seconds":1e9}`, one(computeruse.Action{Kind: computeruse.ActWait, For: time.Minute})},
		{newer, "press_key", `{"key":"Enter"}`, one(computeruse.Action{Kind: computeruse.ActKeys, Keys: []string{"Enter"}})},
		{newer, "press_key", `{"key":" "}`, one(computeruse.Action{Kind: computeruse.ActKeys, Keys: []string{"Space"}})},
		{
			newer, "key_down", `{"key":"shift"}`,
			one(computeruse.Action{Kind: computeruse.ActKeyDown, Keys: []string{"shift"}}),
		},
		{newer, "key_up", `{"key":"shift"}`, one(computeruse.Action{Kind: computeruse.ActKeyUp, Keys: []string{"shift"}})},
		{
			newer, "hotkey", `{"keys":["ctrl","c"]}`,
			one(computeruse.Action{Kind: computeruse.ActKeys, Keys: []string{"ctrl", "c"}}),
		},
		{
			newer, "hotkey", `{"keys":["ctrl++"]}`,
			one(computeruse.Action{Kind: computeruse.ActKeys, Keys: []string{"ctrl", "+"}}),
		},
		{newer, "take_screenshot", `{}`, one(computeruse.Action{Kind: computeruse.ActScreenshot})},
		{
			newer, "scroll", `{"x":500,"y":500,"direction":"up"}`,
			one(computeruse.Action{Kind: computeruse.ActScroll, At: at(500, 500), Grid: grid, Scroll: image.Pt(0, -300)}),
		},
		{
			newer, "scroll", `{"direction":"RIGHT","magnitude_in_pixels":40}`,
			one(computeruse.Action{Kind: computeruse.ActScroll, Scroll: image.Pt(40, 0)}),
		},
		{newer, "go_back", `{}`, one(computeruse.Action{Kind: computeruse.ActBack})},
		{newer, "go_forward", `{}`, one(computeruse.Action{Kind: computeruse.ActForward})},
		{
			newer, "navigate", `{"url":"https://example.com"}`,
			one(computeruse.Action{Kind: computeruse.ActNavigate, URL: "https://example.com"}),
		},

		{older, "open_web_browser", `{}`, one(computeruse.Action{Kind: computeruse.ActScreenshot})},
		{older, "wait_5_seconds", `{}`, one(computeruse.Action{Kind: computeruse.ActWait, For: 5 * time.Second})},
		{older, "hover_at", `{"x":1,"y":1}`, one(computeruse.Action{Kind: computeruse.ActMove, At: at(1, 1), Grid: grid})},
		{older, "type_text_at", `{"x":1,"y":1,"text":"cats"}`, []computeruse.Action{
			{Kind: click, At: at(1, 1), Grid: grid, Button: left, Clicks: 1},
			{Kind: computeruse.ActType, Text: "cats", Enter: true, Clear: true},
		}},
		{
			older, "type_text_at", `{"x":1,"y":1,"text":"cats","press_enter":false,"clear_before_typing":"false"}`,
			[]computeruse.Action{
				{Kind: click, At: at(1, 1), Grid: grid, Button: left, Clicks: 1},
				{Kind: computeruse.ActType, Text: "cats"},
			},
		},
		{
			older, "key_combination", `{"keys":"Control+A"}`,
			one(computeruse.Action{Kind: computeruse.ActKeys, Keys: []string{"Control", "A"}}),
		},
		{
			older, "scroll_document", `{"direction":"down"}`,
			one(computeruse.Action{Kind: computeruse.ActScroll, Scroll: image.Pt(0, 576)}),
		},
		{
			older, "scroll_at", `{"x":500,"y":500,"direction":"left","magnitude":500}`,
			one(computeruse.Action{Kind: computeruse.ActScroll, At: at(500, 500), Grid: grid, Scroll: image.Pt(-640, 0)}),
		},
		{
			older, "drag_and_drop", `{"x":1,"y":1,"destination_x":500,"destination_y":500}`,
			one(computeruse.Action{
				Kind: computeruse.ActDrag, Path: []image.Point{{1, 1}, {500, 500}}, Grid: grid,
				Button: left,
			}),
		},
	}
	for _, tt := range tests {
		s := llmtest.NewGeminiServer(t,
			llmtest.GeminiUnchecked(llmtest.Reply{Calls: []llmtest.Call{{Name: tt.name, Arguments: tt.args}}}))
		turn := next(t, begin(t, mind(t, s, tt.model), computeruse.ConversationOptions{}), say("go"))
		if len(turn.Calls) != 1 {
			t.Fatalf("%s: turn = %+v", tt.name, turn)
		}
		check.Diff(t, fmt.Sprintf("%s %s", tt.name, tt.args), turn.Calls[0].Actions, tt.want)
	}
}

func TestPlacesOutsideBecomeTheNearestInside(t *testing.T) {
	s := llmtest.NewGeminiServer(t,
		llmtest.GeminiUnchecked(llmtest.Reply{Calls: []llmtest.Call{{Name: "click", Arguments: `{"x":1200,"y":-3}`}}}))
	turn := next(t, begin(t, mind(t, s, newer), computeruse.ConversationOptions{}), say("go"))
	check.Equal(t, "at", *turn.Calls[0].Actions[0].At, image.Pt(999, 0))
}

// Whatever a model says, its actions have what their kind needs and stay on the picture.
func FuzzDecode(f *testing.F) {
	for name := range gemini.Actions() {
		for _, args := range []string{
			`{}`, `{"x":1,"y":2,"text":"a","direction":"up","keys":["a+b",3],"key":"+","url":"u"}`,
			`{"x":1e308,"y":"NaN","seconds":-1,"magnitude":1e300,"direction":"down"}`,
		} {
			f.Add(name, args, 1280, 720)
		}
	}
	f.Fuzz(func(t *testing.T, name, raw string, w, h int) {
		var args map[string]any
		if json.Unmarshal([]byte(raw), &args) != nil || !gemini.Actions()[name] || w > 1<<20 || h > 1<<20 {
			t.Skip("no call of an action on a picture")
		}
		size := image.Pt(w, h)
		done := gemini.Decode(name, args, size)
		if len(done) == 0 {
			t.Fatal("no action")
		}
		for _, a := range done {
			places := a.Path
			if a.At != nil {
				places = append(places, *a.At)
			}
			for _, p := range places {
				if !p.In(image.Rectangle{Max: a.Grid}) {
					t.Errorf("%v is outside of %v", p, a.Grid)
				}
			}
			if err := sound(a); err != nil {
				t.Error(err)
			}
		}
	})
}

func sound(a computeruse.Action) error {
	switch a.Kind {
	case computeruse.ActUnknown:
		if a.Text == "" {
			return errors.New("an unknown action that does not say what it was")
		}
	case computeruse.ActDrag:
		if len(a.Path) < 2 {
			return fmt.Errorf("a drag of %d points", len(a.Path))
		}
	case computeruse.ActKeys, computeruse.ActKeyDown, computeruse.ActKeyUp:
		if len(a.Keys) == 0 {
			return fmt.Errorf("%s without keys", a.Kind)
		}
	case computeruse.ActWait:
		if a.For < 0 || a.For > time.Minute {
			return fmt.Errorf("a wait of %v", a.For)
		}
	case computeruse.ActMove:
		if a.At == nil {
			return errors.New("a move to nowhere")
		}
	}
	return nil
}
