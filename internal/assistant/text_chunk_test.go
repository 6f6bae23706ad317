package assistant_test

import (
	"context"
	"strings"
	"testing"

	"clank/internal/assistant"
	"clank/internal/test/check"
	"clank/llm"
	"clank/sessions"

	"github.com/google/go-cmp/cmp"
)

// streaming is a model that tells its replies in pieces.
type streaming struct {
	scripted

	silent bool // tells nothing before the end
	asked  bool // somebody wanted to be told
}

func (m *streaming) Generate(ctx context.Context, req llm.Request, onDelta func(llm.Delta)) (llm.Reply, error) {
	got, err := m.scripted.Generate(ctx, req, nil)
	if onDelta == nil {
		return got, err
	}
	m.asked = true
	for piece := range strings.SplitAfterSeq(got.Text(), " ") {
		if !m.silent {
			onDelta(llm.Delta{Reasoning: "hm"})
			onDelta(llm.Delta{Text: piece})
		}
	}
	return got, err
}

// ended returns a reply that ends for a reason.
func ended(text string, why llm.StopReason) func(llm.Request) (llm.Reply, error) {
	return func(req llm.Request) (llm.Reply, error) {
		r, err := says(text)(req)
		r.Stop = why
		return r, err
	}
}

func TestTheModelsTextIsStreamed(t *testing.T) {
	browse := func(req llm.Request) (llm.Reply, error) {
		r, err := browses(`{"query":"ferries"}`)(req)
		r.Message.Parts = append([]llm.Part{{Text: "One moment."}}, r.Message.Parts...)
		return r, err
	}
	for name, tc := range map[string]struct {
		replies []func(llm.Request) (llm.Reply, error)
		silent  bool
		pieces  string // with | where tools are used
		text    string
		rest    string
		cut     bool
	}{
		"an answer": {
			replies: []func(llm.Request) (llm.Reply, error){says("At ten. ")}, pieces: "At ten. ",
			text: "At ten.",
		},
		"with tools": {
			replies: []func(llm.Request) (llm.Reply, error){browse, says("At ten.")},
			pieces:  "One moment.|At ten.", text: "At ten.",
		},
		"nothing after tools": {
			replies: []func(llm.Request) (llm.Reply, error){browse, says("")}, pieces: "One moment.|",
			text: "Found it.", rest: "Found it.",
		},
		"all at once": {
			replies: []func(llm.Request) (llm.Reply, error){says("At ten.")}, silent: true,
			text: "At ten.", rest: "At ten.",
		},
		"too long": {
			replies: []func(llm.Request) (llm.Reply, error){ended("At ten. And", llm.StopLength)}, pieces: "At ten. And",
			text: "At ten. And\n\n(The answer grew too long and ends here.)", rest: "\n\n(The answer grew too long and " +
				"ends here.)", cut: true,
		},
		"withheld": {
			replies: []func(llm.Request) (llm.Reply, error){ended("At", llm.StopFilter)}, pieces: "At",
			text: "At\n\n(The rest was withheld by the provider of the model.)", rest: "\n\n(The rest was withheld by the " +
				"provider of the model.)", cut: true,
		},
		"refused in its midst": {
			replies: []func(llm.Request) (llm.Reply, error){ended("First you", llm.StopRefused)}, pieces: "First you",
			text: "First you\n\n(The model declined to go on.)", rest: "\n\n(The model declined to go on.)", cut: true,
		},
		"refused": {
			replies: []func(llm.Request) (llm.Reply, error){ended("I would rather not.", llm.StopRefused)},
			pieces:  "I would rather not.", text: "I would rather not.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := &streaming{scripted: scripted{caps: seeing, replies: tc.replies}, silent: tc.silent}
			b := newBrain(m, answering(sessions.TaskRecord{State: sessions.TaskDone, Answer: "Found it."}))
			var pieces strings.Builder
			a, err := b.Reply(t.Context(), assistant.Turn{
				Origin: ada, Lines: []assistant.ChatLine{{Speaker: "ada", Text: "when does it go"}},
				OnText: func(p assistant.TextChunk) {
					pieces.WriteString(p.Text)
					if p.Complete {
						pieces.WriteString("|")
					}
				},
			}, nil)
			check.Must(t, err)
			if diff := cmp.Diff([]string{tc.pieces, tc.text, tc.rest},
				[]string{pieces.String(), a.Text, a.Remainder}); diff != "" || a.Truncated != tc.cut {
				t.Errorf("pieces, text and rest, cut = %v (-want +got):\n%s", a.Truncated, diff)
			}
		})
	}
}

func TestTextIsNotStreamedInAChat(t *testing.T) {
	m := &streaming{scripted: scripted{caps: seeing, replies: []func(llm.Request) (llm.Reply, error){says("At ten.")}}}
	b := newBrain(m, answering(sessions.TaskRecord{}))
	if _, err := b.Reply(t.Context(), assistant.Turn{Origin: ada, Lines: []assistant.ChatLine{{Text: "when"}}},
		nil); err != nil || m.asked {
		t.Errorf("%v; told = %v", err, m.asked)
	}
}

func TestTextAfterAStopIsNotStreamed(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	m := &streaming{scripted: scripted{
		caps:    seeing,
		replies: []func(llm.Request) (llm.Reply, error){says("At ten. And at noon.")},
	}}
	b := newBrain(m, answering(sessions.TaskRecord{}))
	n := 0
	_, err := b.Reply(ctx, assistant.Turn{
		Origin: ada, Lines: []assistant.ChatLine{{Text: "when"}},
		OnText: func(assistant.TextChunk) {
			n++
			stop(context.Canceled)
		},
	}, nil)
	check.Fails(t, err, context.Canceled)
	check.Equal(t, "pieces", n, 1)
}
