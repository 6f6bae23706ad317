package recording

import (
	"context"
	"encoding/json"

	"clank/computeruse"
	"clank/llm"
)

// ComputerUseModel returns m wrapped so that it is recorded.
func (r *Recorder) ComputerUseModel(m computeruse.Model) computeruse.Model {
	return &recordedScreenModel{Model: m, recorder: r}
}

type recordedScreenModel struct {
	computeruse.Model

	recorder *Recorder
}

func (m *recordedScreenModel) Begin(b computeruse.ConversationOptions) (computeruse.Conversation, error) {
	t, err := m.Model.Begin(b)
	if err != nil {
		return nil, err
	}
	return &recordedConversation{Conversation: t, model: m, brief: b}, nil
}

type recordedConversation struct {
	computeruse.Conversation

	model *recordedScreenModel
	brief computeruse.ConversationOptions
}

func (t *recordedConversation) Next(ctx context.Context, in computeruse.Input) (computeruse.Turn, error) {
	run := t.model.recorder.runOf(ctx)
	if run == nil {
		return t.Conversation.Next(ctx, in)
	}
	begun := t.model.recorder.now()
	answer, err := t.Conversation.Next(ctx, in)
	run.recordTurn(t.model.Name(), t.brief, in, answer, err, t.model.recorder.millisSince(begun))
	return answer, err
}

func (r *runWriter) recordTurn(name string, b computeruse.ConversationOptions, in computeruse.Input, answer computeruse.Turn, failed error, took float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	turn := &ScreenTurn{Model: name}
	if !r.systemWritten || r.system != b.System {
		r.systemWritten, r.system = true, b.System
		r.recordTools(b.Tools)
	}
	turn.Input = encodeCanonical(r.input(in))
	if failed != nil {
		turn.Error = modelFailure(failed)
	} else {
		r.typed = r.typed[:0]
		for _, c := range answer.Calls {
			for _, a := range c.Actions {
				if a.Kind == computeruse.ActType || a.Kind == computeruse.ActFill {
					r.typed = append(r.typed, typedText{text: a.Text})
				}
			}
		}
		for _, c := range answer.Tools {
			r.learnTyped(c)
		}
		turn.Answer = encodeCanonical(answer)
	}
	r.add(Entry{Kind: KindTurn, Millis: took, Turn: turn})
}

// input returns in with its pictures by name. The run is locked.
func (r *runWriter) input(in computeruse.Input) computeruse.Input {
	if in.Shot != nil {
		shot := *in.Shot
		shot.Image = *r.image(&shot.Image)
		in.Shot = &shot
	}
	outcomes := in.Outcomes
	in.Outcomes = nil
	for _, o := range outcomes {
		o.Image = r.image(o.Image)
		in.Outcomes = append(in.Outcomes, o)
	}
	results := in.Results
	in.Results = nil
	for _, res := range results {
		m := r.message(llm.Message{Parts: []llm.Part{{Result: &res}}})
		in.Results = append(in.Results, *m.Parts[0].Result)
	}
	return in
}

// encodeCanonical returns v as JSON in the form of [canonicalJSON].
func encodeCanonical(v any) json.RawMessage {
	raw, err := marshalPlain(v)
	if err != nil {
		return nil
	}
	return canonicalJSON(raw)
}
