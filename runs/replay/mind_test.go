package replay_test

import (
	"encoding/json"
	"errors"
	"image"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"clank/computeruse"
	"clank/llm"
	"clank/runs"
	"clank/runs/replay"
)

// screenRun is a run of a model that sees the screen, which gave these answers.
func screenRun(tb testing.TB, answers ...computeruse.Turn) *runs.Bundle {
	tb.Helper()
	var raw []byte
	add := func(e runs.Entry) {
		line, err := json.Marshal(e)
		if err != nil {
			tb.Fatal(err)
		}
		raw = append(append(raw, line...), '\n')
	}
	add(runs.Entry{Kind: runs.KindBegin, Begin: &runs.Begin{Format: runs.Version}})
	in, err := json.Marshal(computeruse.Input{Shot: &computeruse.Shot{Size: image.Pt(800, 600)}})
	if err != nil {
		tb.Fatal(err)
	}
	for _, a := range answers {
		out, err := json.Marshal(a)
		if err != nil {
			tb.Fatal(err)
		}
		add(runs.Entry{Kind: runs.KindTurn, Turn: &runs.Turn{Model: "test:screen", Input: in, Answer: out}})
	}
	b, err := runs.Parse(raw)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func TestMindActsAtTheRecordedPoints(t *testing.T) {
	t.Parallel()
	click := computeruse.Action{Kind: computeruse.ActClick, At: &image.Point{X: 10, Y: 20}}
	b := screenRun(t,
		computeruse.Turn{
			Calls: []computeruse.Call{{ID: "c1", Actions: []computeruse.Action{click, {Kind: computeruse.ActNavigate, URL: "http://a.test/x"}}}},
			Tools: []llm.ToolCall{{ID: "t1", Name: "navigate", Input: json.RawMessage(`{"url":"http://a.test/y"}`)}},
		},
		computeruse.Turn{Calls: []computeruse.Call{{ID: "c2", Actions: []computeruse.Action{{Kind: computeruse.ActType, Text: runs.Mask}}}}},
	)
	p, err := replay.New(b, []replay.Mapping{{From: "http://a.test", To: "http://b.test"}})
	if err != nil {
		t.Fatal(err)
	}
	if !p.Screen() || p.Mind().Name() != "test:screen" {
		t.Errorf("screen %t, name %q", p.Screen(), p.Mind().Name())
	}
	for screen, want := range map[image.Point]image.Point{image.Pt(1600, 1200): image.Pt(800, 600), image.Pt(640, 480): image.Pt(640, 480)} {
		if got := p.Mind().Fit(screen); got != want {
			t.Errorf("%v is seen as %v, want %v", screen, got, want)
		}
	}
	talk, err := p.Mind().Begin(computeruse.Brief{})
	if err != nil {
		t.Fatal(err)
	}
	turn, err := talk.Next(t.Context(), computeruse.Input{})
	if err != nil {
		t.Fatal(err)
	}
	want := []computeruse.Action{click, {Kind: computeruse.ActNavigate, URL: "http://b.test/x"}}
	if d := cmp.Diff(want, turn.Calls[0].Actions); d != "" {
		t.Error(d)
	}
	if got := string(turn.Tools[0].Input); got != `{"url":"http://b.test/y"}` {
		t.Errorf("the tool is told %s", got)
	}
	if _, err := talk.Next(t.Context(), computeruse.Input{}); err == nil || !strings.Contains(err.Error(), "password") {
		t.Errorf("a password that is not recorded: %v", err)
	}
	if turn, err = talk.Next(t.Context(), computeruse.Input{}); err != nil || len(turn.Calls) != 0 || turn.Text == "" {
		t.Errorf("after the last answer: %+v, %v", turn, err)
	}
}

func TestRecordWithoutAnswersIsNotReplayed(t *testing.T) {
	t.Parallel()
	if _, err := replay.New(screenRun(t), nil); !errors.Is(err, replay.ErrNothing) {
		t.Errorf("%v", err)
	}
}
