package recording_test

import (
	"encoding/json"
	"errors"
	"image"
	"strings"
	"testing"

	"clank/computeruse"
	"clank/internal/recording"
	"clank/llm"

	"github.com/google/go-cmp/cmp"
)

// screenRun returns a run of a model that sees the screen, which gave these answers.
func screenRun(tb testing.TB, answers ...computeruse.Turn) *recording.Recording {
	tb.Helper()
	all := []recording.Entry{{Kind: recording.KindBegin, Begin: &recording.RunStart{Format: recording.FormatVersion}}}
	in, err := json.Marshal(computeruse.Input{Shot: &computeruse.Screenshot{Size: image.Pt(800, 600)}})
	if err != nil {
		tb.Fatal(err)
	}
	for _, a := range answers {
		out, err := json.Marshal(a)
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, recording.Entry{Kind: recording.KindTurn, Turn: &recording.ScreenTurn{Model: "test:screen", Input: in, Answer: out}})
	}
	return parsed(tb, all...)
}

func TestMindActsAtTheRecordedPoints(t *testing.T) {
	t.Parallel()
	click := computeruse.Action{Kind: computeruse.ActClick, At: &image.Point{X: 10, Y: 20}}
	b := screenRun(t,
		computeruse.Turn{
			Calls: []computeruse.Call{{ID: "c1", Actions: []computeruse.Action{click, {Kind: computeruse.ActNavigate, URL: "http://a.test/x"}}}},
			Tools: []llm.ToolCall{{ID: "t1", Name: "navigate", Input: json.RawMessage(`{"url":"http://a.test/y"}`)}},
		},
		computeruse.Turn{Calls: []computeruse.Call{{ID: "c2", Actions: []computeruse.Action{{Kind: computeruse.ActType, Text: recording.RedactedText}}}}},
	)
	p := player(t, b, recording.AddressMapping{From: "http://a.test", To: "http://b.test"})
	if !p.UsesScreen() || p.ComputerUseModel().Name() != "test:screen" {
		t.Errorf("screen %t, name %q", p.UsesScreen(), p.ComputerUseModel().Name())
	}
	for screen, want := range map[image.Point]image.Point{image.Pt(1600, 1200): image.Pt(800, 600), image.Pt(640, 480): image.Pt(640, 480)} {
		if got := p.ComputerUseModel().Fit(screen); got != want {
			t.Errorf("%v is seen as %v, want %v", screen, got, want)
		}
	}
	talk, err := p.ComputerUseModel().Begin(computeruse.ConversationOptions{})
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
	if _, err := recording.NewPlayer(screenRun(t), nil); !errors.Is(err, recording.ErrNothingToReplay) {
		t.Errorf("%v", err)
	}
}
