package anthropic_test

import (
	"encoding/json"
	"fmt"
	"image"
	"slices"
	"strings"
	"testing"
	"time"

	"clank/computeruse"
	"clank/computeruse/anthropic"
	"clank/internal/test/check"
	"clank/internal/test/llmtest"
	"clank/llm"

	"github.com/google/go-cmp/cmp"
)

type action = computeruse.Action

// computerMembers is what each member of the computer toolset does.
var computerMembers = []struct {
	member, input string
	want          []action
}{
	{
		"left_click", `{"coordinate":[10,20]}`,
		[]action{{Kind: computeruse.ActClick, At: at(10, 20), Button: computeruse.ButtonLeft, Clicks: 1}},
	},
	{
		"left_click", `{"coordinate":[10,20],"text":"ctrl+shift"}`,
		[]action{{
			Kind: computeruse.ActClick, At: at(10, 20), Button: computeruse.ButtonLeft, Clicks: 1,
			Held: []string{"ctrl", "shift"},
		}},
	},
	{"left_click", `{}`, []action{{Kind: computeruse.ActClick, Button: computeruse.ButtonLeft, Clicks: 1}}},
	{
		"left_click", `{"coordinate":"[10.4, 20.6]"}`,
		[]action{{Kind: computeruse.ActClick, At: at(10, 21), Button: computeruse.ButtonLeft, Clicks: 1}},
	},
	{
		"left_click", `{"coordinate":[-5,99999]}`,
		[]action{{Kind: computeruse.ActClick, At: at(-5, 99999), Button: computeruse.ButtonLeft, Clicks: 1}},
	},
	{
		"right_click", `{"coordinate":[1,2]}`,
		[]action{{Kind: computeruse.ActClick, At: at(1, 2), Button: computeruse.ButtonRight, Clicks: 1}},
	},
	{
		"middle_click", `{"coordinate":[1,2]}`,
		[]action{{Kind: computeruse.ActClick, At: at(1, 2), Button: computeruse.ButtonMiddle, Clicks: 1}},
	},
	{
		"double_click", `{"coordinate":[1,2]}`,
		[]action{{Kind: computeruse.ActClick, At: at(1, 2), Button: computeruse.ButtonLeft, Clicks: 2}},
	},
	{
		"triple_click", `{"coordinate":[1,2]}`,
		[]action{{Kind: computeruse.ActClick, At: at(1, 2), Button: computeruse.ButtonLeft, Clicks: 3}},
	},
	{
		"left_click_drag", `{"start_coordinate":[1,2],"coordinate":[3,4],"text":"alt"}`,
		[]action{{Kind: computeruse.ActDrag, Path: []image.Point{{X: 1, Y: 2}, {X: 3, Y: 4}}, Held: []string{"alt"}}},
	},
	{"left_mouse_down", `{}`, []action{{Kind: computeruse.ActDown}}},
	{"left_mouse_up", `{}`, []action{{Kind: computeruse.ActUp}}},
	{"mouse_move", `{"coordinate":[7,8]}`, []action{{Kind: computeruse.ActMove, At: at(7, 8)}}},
	{
		"scroll", `{"coordinate":[7,8],"scroll_direction":"down","scroll_amount":3}`,
		[]action{{Kind: computeruse.ActScroll, At: at(7, 8), Scroll: image.Pt(0, 300)}},
	},
	{
		"scroll", `{"scroll_direction":"left","scroll_amount":2,"text":"shift"}`,
		[]action{{Kind: computeruse.ActScroll, Scroll: image.Pt(-200, 0), Held: []string{"shift"}}},
	},
	{"key", `{"text":"ctrl+s"}`, []action{{Kind: computeruse.ActKeys, Keys: []string{"ctrl", "s"}}}},
	{"key", `{"text":"ctrl++","repeat":2}`, []action{{Kind: computeruse.ActKeys, Keys: []string{"ctrl", "+"}, Repeat: 2}}},
	{"key", `{"text":"Down Return"}`, []action{
		{Kind: computeruse.ActKeys, Keys: []string{"Down"}},
		{Kind: computeruse.ActKeys, Keys: []string{"Return"}},
	}},
	{"key", `{"text":" "}`, []action{{Kind: computeruse.ActKeys, Keys: []string{"space"}}}},
	{
		"hold_key", `{"text":"w","duration":2}`,
		[]action{{Kind: computeruse.ActKeys, Keys: []string{"w"}, For: 2 * time.Second}},
	},
	{"type", `{"text":"héllo\n"}`, []action{{Kind: computeruse.ActType, Text: "héllo\n"}}},
	{"wait", `{"duration":1.5}`, []action{{Kind: computeruse.ActWait, For: 1500 * time.Millisecond}}},
	{"wait", `{"duration":9999}`, []action{{Kind: computeruse.ActWait, For: 30 * time.Second}}},
	{"screenshot", `{}`, []action{{Kind: computeruse.ActScreenshot}}},
	{"cursor_position", `{}`, []action{{Kind: computeruse.ActCursor}}},
	{"zoom", `{"region":[1,2,30,40]}`, []action{{Kind: computeruse.ActZoom, Region: image.Rect(1, 2, 30, 40)}}},

	{"teleport", `{}`, []action{{Kind: computeruse.ActUnknown, Text: "teleport"}}},
	{
		"left_click", `{"coordinate":[1]}`,
		[]action{{Kind: computeruse.ActUnknown, Text: "left_click: a coordinate is [x, y]"}},
	},
	{"mouse_move", `{}`, []action{{Kind: computeruse.ActUnknown, Text: "mouse_move: where to? there is no coordinate"}}},
	{"zoom", `{"region":[5,5,5,5]}`, []action{{Kind: computeruse.ActUnknown, Text: "zoom: the region is empty"}}},
	{
		"scroll", `{"scroll_direction":"in"}`,
		[]action{{Kind: computeruse.ActUnknown, Text: `scroll: scroll_direction must be up, down, left or right, not "in"`}},
	},
	{"key", `{}`, []action{{Kind: computeruse.ActUnknown, Text: "key: which key? there is no text"}}},
	{
		"left_click", `{"coordinate":[1,`,
		[]action{{Kind: computeruse.ActUnknown, Text: "left_click: its input is not a JSON object"}},
	},
}

func TestEachMemberOfTheComputerToolsetIsRead(t *testing.T) {
	var script llmtest.Reply
	var want [][]action
	for _, m := range computerMembers {
		script.Calls = append(script.Calls, llmtest.Call{Name: "computer." + m.member, Arguments: m.input})
		want = append(want, m.want)
	}
	server := llmtest.NewAnthropicServer(t, llmtest.Answer(script), llmtest.Say("that was much"))
	talk := begin(t, open(t, server, "claude-opus-5-5", anthropic.ToolsAuto), nil)
	turn := next(t, talk, task("do all"))
	compare(t, want, turn.Calls)
	next(t, talk, done(turn, 2)) // the server wants each answered in the name of its toolset
}

func TestTheBetaToolsDoTheSameByAction(t *testing.T) {
	for tools, model := range map[anthropic.Tools]string{
		anthropic.Tools20251124: "claude-opus-4-6",
		anthropic.Tools20250124: "claude-haiku-4-5",
	} {
		var script llmtest.Reply
		var want [][]action
		for _, m := range computerMembers {
			if !strings.HasSuffix(m.input, "}") {
				continue
			}
			var in map[string]any
			check.Must(t, json.Unmarshal([]byte(m.input), &in))
			in["action"] = m.member
			data, err := json.Marshal(in)
			check.Must(t, err)
			script.Calls = append(script.Calls, llmtest.Call{Name: "computer", Arguments: string(data)})
			want = append(want, m.want)
		}
		server := llmtest.NewAnthropicServer(t, llmtest.Answer(script), llmtest.Say("that was much"))
		talk := begin(t, open(t, server, model, anthropic.ToolsAuto), nil)
		turn := next(t, talk, task("do all"))
		compare(t, want, turn.Calls)
		next(t, talk, done(turn, 2))
		body := string(server.Requests()[1].Body)
		if !strings.Contains(body, `"type":"`+string(tools)+`"`) || !strings.Contains(body, `"display_width_px":1002`) {
			t.Errorf("request does not offer %s for a screen of 1002 pixels", tools)
		}
		check.Equal(t, fmt.Sprintf("%s offers to zoom", tools), strings.Contains(body, `"enable_zoom":true`),
			tools == anthropic.Tools20251124)
	}
}

func TestEachMemberOfTheBrowserToolsetIsRead(t *testing.T) {
	const point, ref = `"target":{"type":"coordinate","x":3,"y":4}`, `"target":{"type":"ref","ref":"e5"}`
	members := []struct {
		member, input string
		want          []action
	}{
		{
			"left_click", `{` + point + `,"modifiers":"ctrl+shift"}`,
			[]action{{
				Kind: computeruse.ActClick, At: at(3, 4), Button: computeruse.ButtonLeft, Clicks: 1,
				Held: []string{"ctrl", "shift"},
			}},
		},
		{
			"double_click", `{` + ref + `}`,
			[]action{{Kind: computeruse.ActClick, Ref: "e5", Button: computeruse.ButtonLeft, Clicks: 2}},
		},
		{"hover", `{` + ref + `}`, []action{{Kind: computeruse.ActMove, Ref: "e5"}}},
		{"mouse_move", `{` + point + `}`, []action{{Kind: computeruse.ActMove, At: at(3, 4)}}},
		{"left_mouse_down", `{` + point + `}`, []action{{Kind: computeruse.ActDown, At: at(3, 4)}}},
		{"left_mouse_up", `{` + point + `}`, []action{{Kind: computeruse.ActUp, At: at(3, 4)}}},
		{
			"left_click_drag", `{"from":{"type":"coordinate","x":1,"y":2},` + point + `}`,
			[]action{{Kind: computeruse.ActDrag, Path: []image.Point{{X: 1, Y: 2}, {X: 3, Y: 4}}}},
		},
		{
			"scroll", `{` + point + `,"scroll_direction":"up"}`,
			[]action{{Kind: computeruse.ActScroll, At: at(3, 4), Scroll: image.Pt(0, -300)}},
		},
		{
			"scroll", `{` + ref + `,"scroll_direction":"left"}`,
			[]action{{Kind: computeruse.ActScroll, Ref: "e5", Scroll: image.Pt(-300, 0)}},
		},
		{"left_mouse_up", `{` + ref + `}`, []action{{Kind: computeruse.ActUp, Ref: "e5"}}},
		{"scroll_to", `{` + ref + `}`, []action{{Kind: computeruse.ActReveal, Ref: "e5"}}},
		{"form_input", `{` + ref + `,"value":"x y"}`, []action{{Kind: computeruse.ActFill, Ref: "e5", Text: "x y"}}},
		{"form_input", `{` + ref + `,"value":true}`, []action{{Kind: computeruse.ActFill, Ref: "e5", Text: "true"}}},
		{"navigate", `{"url":"http://a.test/"}`, []action{{Kind: computeruse.ActNavigate, URL: "http://a.test/"}}},
		{"navigate", `{"url":"back"}`, []action{{Kind: computeruse.ActBack}}},
		{"navigate", `{"url":"forward"}`, []action{{Kind: computeruse.ActForward}}},
		{"navigate", `{"url":"reload"}`, []action{{Kind: computeruse.ActNavigate, URL: "http://example.test/"}}},
		{"key", `{"text":"Tab"}`, []action{{Kind: computeruse.ActKeys, Keys: []string{"Tab"}}}},
		{"zoom", `{"region":[0,0,9,9]}`, []action{{Kind: computeruse.ActZoom, Region: image.Rect(0, 0, 9, 9)}}},
		{"screenshot", `{"tab_id":"t1"}`, []action{{Kind: computeruse.ActScreenshot}}},
		{"left_click", `{}`, []action{{Kind: computeruse.ActUnknown, Text: "left_click: where? there is no target"}}},
		{
			"left_click", `{"target":{"type":"coordinate","x":3}}`,
			[]action{{Kind: computeruse.ActUnknown, Text: "left_click: a target has x and y, or a ref"}},
		},
		{
			"scroll_to", `{` + point + `}`,
			[]action{{Kind: computeruse.ActUnknown, Text: "scroll_to: scroll to what? there is no ref"}},
		},
		{"javascript_exec", `{"text":"alert(1)"}`, []action{{Kind: computeruse.ActUnknown, Text: "javascript_exec"}}},
		{"find", `{"query":"the button"}`, []action{{Kind: computeruse.ActUnknown, Text: "find"}}},
	}
	var script llmtest.Reply
	var want [][]action
	for _, m := range members {
		script.Calls = append(script.Calls, llmtest.Call{Name: "browser." + m.member, Arguments: m.input})
		want = append(want, m.want)
	}
	server := llmtest.NewAnthropicServer(t, llmtest.Answer(script), llmtest.Say("done"))
	talk := begin(t, open(t, server, "claude-sonnet-5-5", anthropic.ToolsBrowser), nil)
	turn := next(t, talk, task("do all"))
	compare(t, want, turn.Calls)
	next(t, talk, done(turn, 2))
	body := string(server.Requests()[0].Body)
	for _, member := range []string{"javascript_exec", "file_upload", "read_console", "read_network", "find"} {
		if !strings.Contains(body, `"`+member+`":{"enabled":false}`) {
			t.Errorf("%s is offered", member)
		}
	}
	var offered []string
	for _, tool := range server.Requests()[0].Tools {
		offered = append(offered, tool.Name)
	}
	check.Diff(t, "tools", offered, []string{"hand_over", "browser_toolset_20260801"})
}

func TestMembersThatReadOrChangeTabsBecomeToolsOfTheLoop(t *testing.T) {
	server := llmtest.NewAnthropicServer(t,
		llmtest.Answer(use("browser.read_page", `{"filter":"interactive","depth":3}`, "browser.get_page_text", `{}`,
			"browser.list_tabs", `{}`,
			"browser.new_tab", `{}`, "browser.close_tab", `{"tab_id":"t2"}`, "browser.switch_tab", `{"tab_id":"t1"}`,
			"hand_over", `{"brief":"x"}`)),
		llmtest.Answer(use("browser.screenshot", `{"tab_id":"t1"}`, "browser.screenshot", `{"tab_id":"t9"}`)),
		llmtest.Say("done"))
	talk := begin(t, open(t, server, "claude-opus-5-5", anthropic.ToolsBrowser), nil)
	turn := next(t, talk, task("read"))
	var got []string
	for _, c := range turn.Tools {
		got = append(got, c.Name+string(c.Input))
	}
	want := []string{
		`read_page{"interactive":true}`, `read_text{}`, `list_tabs{}`, `open_tab{"url":""}`, `close_tab{"tab":"t2"}`,
		`select_tab{"tab":"t1"}`,
		`hand_over{"brief":"x"}`,
	}
	if diff := cmp.Diff(want, got); diff != "" || len(turn.Calls) != 0 {
		t.Errorf("tools (-want +got):\n%s\ncalls %+v", diff, turn.Calls)
	}
	turn = next(t, talk, done(turn, 2))
	compare(t, [][]action{
		{{Kind: computeruse.ActScreenshot}},
		{{Kind: computeruse.ActUnknown, Text: "screenshot: switch_tab to that tab first"}},
	}, turn.Calls)
	next(t, talk, done(turn, 3))
}

func TestMembersThatTheLoopHasNoToolForAreNotOffered(t *testing.T) {
	server := llmtest.NewAnthropicServer(t, llmtest.Say("done"))
	mind := open(t, server, "claude-opus-5-5", anthropic.ToolsBrowser)
	talk, err := mind.Begin(computeruse.ConversationOptions{Tools: []llm.Tool{{Name: "read_text"}, {Name: "list_tabs"}}})
	check.Must(t, err)
	next(t, talk, task("read"))
	var body struct {
		Tools []struct {
			Configs map[string]struct{ Enabled bool }
		}
	}
	check.Must(t, json.Unmarshal(server.Requests()[0].Body, &body))
	var off []string
	for member, config := range body.Tools[len(body.Tools)-1].Configs {
		if !config.Enabled {
			off = append(off, member)
		}
	}
	slices.Sort(off)
	check.Diff(t, "not offered", off, []string{
		"close_tab", "file_upload", "find", "javascript_exec", "new_tab", "read_console", "read_network", "read_page",
		"switch_tab",
	})
}

func compare(t *testing.T, want [][]action, calls []computeruse.Call) {
	t.Helper()
	var got [][]action
	for _, c := range calls {
		got = append(got, c.Actions)
	}
	check.Diff(t, "actions", got, want)
}

func TestModelsThatDoNotWorkAScreenAreRefused(t *testing.T) {
	server := llmtest.NewAnthropicServer(t)
	check.Equal(t, "name", open(t, server, "claude-opus-5-5", "").Name(), "anthropic:claude-opus-5-5")
	for model, tt := range map[string]struct {
		tools anthropic.Tools
		want  string
	}{
		"claude-3-haiku-20240307": {anthropic.ToolsAuto, "does not work a screen"},
		"claude-opus-5-5":         {anthropic.Tools20251124, "does not know the tools computer_20251124"},
		"claude-sonnet-4-5":       {anthropic.ToolsBrowser, "does not know the tools browser_toolset_20260801"},
		"claude-haiku-5-5":        {"mouse", `not "mouse"`},
	} {
		check.Fails(t, check.Err(tryOpen(server, model, tt.tools)), nil, tt.want)
	}
}

func FuzzCallsOfToolsAreReadOrAnswered(f *testing.F) {
	for _, m := range computerMembers {
		f.Add("computer."+m.member, m.input)
	}
	f.Add("browser.left_click", `{"target":{"ref":"e1"},"tab_id":"x"}`)
	f.Add("computer", `{"action":"key","text":"++ + a+","repeat":"7"}`)
	f.Fuzz(func(t *testing.T, name, input string) {
		calls, tools := anthropic.Read(name, input)
		if len(calls)+len(tools) != 1 {
			t.Fatalf("%d calls and %d tools, want one", len(calls), len(tools))
		}
		for _, c := range calls {
			if len(c.Actions) == 0 || len(c.Actions) > 100 {
				t.Errorf("%d actions", len(c.Actions))
			}
			for _, a := range c.Actions {
				if a.Kind == "" || a.For < 0 || a.For > time.Minute || a.Kind == computeruse.ActKeys && len(a.Keys) == 0 {
					t.Errorf("action %+v", a)
				}
			}
		}
		for _, c := range tools {
			if !json.Valid(c.Input) {
				t.Errorf("input %s", c.Input)
			}
		}
	})
}
