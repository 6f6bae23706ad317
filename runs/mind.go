package runs

import (
	"bytes"
	"context"
	"encoding/json"

	"clank/computeruse"
	"clank/llm"
)

// Mind is m, recorded.
func (r *Recorder) Mind(m computeruse.Mind) computeruse.Mind { return &mind{Mind: m, recorder: r} }

type mind struct {
	computeruse.Mind

	recorder *Recorder
}

// Begin implements [computeruse.Mind].
func (m *mind) Begin(b computeruse.Brief) (computeruse.Talk, error) {
	t, err := m.Mind.Begin(b)
	if err != nil {
		return nil, err
	}
	return &talk{Talk: t, mind: m, brief: b}, nil
}

type talk struct {
	computeruse.Talk

	mind  *mind
	brief computeruse.Brief
}

// Next implements [computeruse.Talk].
func (t *talk) Next(ctx context.Context, in computeruse.Input) (computeruse.Turn, error) {
	run := t.mind.recorder.of(ctx)
	if run == nil {
		return t.Talk.Next(ctx, in)
	}
	begun := t.mind.recorder.now()
	answer, err := t.Talk.Next(ctx, in)
	run.turned(t.mind.Name(), t.brief, in, answer, err, millis(t.mind.recorder.now().Sub(begun)))
	return answer, err
}

// turned writes a turn.
func (r *run) turned(name string, b computeruse.Brief, in computeruse.Input, answer computeruse.Turn, failed error, took float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	turn := &Turn{Model: name}
	if !r.told || r.system != b.System {
		r.told, r.system = true, b.System
		r.offered(b.Tools)
	}
	turn.Input = encode(r.input(in))
	if failed != nil {
		turn.Error = failure(failed)
	} else {
		r.typed = r.typed[:0]
		for _, c := range answer.Calls {
			for _, a := range c.Actions {
				if a.Kind == computeruse.ActType || a.Kind == computeruse.ActFill {
					r.typed = append(r.typed, typed{text: a.Text})
				}
			}
		}
		for _, c := range answer.Tools {
			r.types(c)
		}
		turn.Answer = encode(answer)
	}
	r.add(Entry{Kind: KindTurn, Millis: took, Turn: turn})
}

// input is in with its pictures by name. The run is locked.
func (r *run) input(in computeruse.Input) computeruse.Input {
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

// encode is v as JSON in the spelling of [canonical].
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return nil
	}
	return canonical(b.Bytes())
}
