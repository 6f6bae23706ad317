package budget

import (
	"cmp"
	"context"
	"slices"

	"clank/computeruse"
	"clank/llm"
)

// Mind returns m within the budget, as [Keeper.Model] does for a model.
func (k *Keeper) Mind(m computeruse.Mind) computeruse.Mind {
	return &mind{Mind: m, keeper: k}
}

type mind struct {
	computeruse.Mind

	keeper *Keeper
}

// Begin implements [computeruse.Mind].
func (m *mind) Begin(b computeruse.Brief) (computeruse.Talk, error) {
	t, err := m.Mind.Begin(b)
	if err != nil {
		return nil, err
	}
	caps, _ := llm.CapsOf(withoutProvider(m.Name()))
	return &talk{
		Talk: t, keeper: m.keeper,
		call: call{
			model: m.Name(), maxTokens: b.MaxTokens, contextSize: caps.ContextSize,
			input: perPart + textTokens(b.System) + toolTokens(b.Tools) + textTokens(string(b.Memory)) + textTokens(b.EndUser),
		},
	}, nil
}

// talk is a conversation whose length is followed from call to call, as what was
// said before is sent, or charged, again with each.
type talk struct {
	computeruse.Talk

	keeper *Keeper
	call   call              // of the next call, without what it will be told
	untold computeruse.Input // what a call that the budget refused would have told
}

// Next implements [computeruse.Talk]. What is told with a call that the budget
// refuses is told with the next.
func (t *talk) Next(ctx context.Context, in computeruse.Input) (turn computeruse.Turn, err error) {
	in = after(t.untold, in)
	next, asked := t.call, false
	next.input += inputTokens(in)
	turn.Usage, err = t.keeper.call(ctx, next, func(ctx context.Context) (llm.Usage, error) {
		asked = true
		turn, err = t.Talk.Next(ctx, in)
		return turn.Usage, err
	})
	if !asked {
		t.untold = in
		return turn, err
	}
	t.untold, t.call = computeruse.Input{}, next // told again with the next call if this one failed
	if used := tokens(turn.Usage); err == nil && used > 0 {
		t.call.input = used
	}
	return turn, err
}

// after is what there is to tell after old was not told.
func after(old, in computeruse.Input) computeruse.Input {
	return computeruse.Input{
		Says:     slices.Concat(old.Says, in.Says),
		Outcomes: slices.Concat(old.Outcomes, in.Outcomes),
		Results:  slices.Concat(old.Results, in.Results),
		Shot:     cmp.Or(in.Shot, old.Shot),
		Final:    in.Final,
	}
}

// inputTokens is how many tokens a turn's news may be.
func inputTokens(in computeruse.Input) (n int64) {
	for _, s := range in.Says {
		n += perPart + textTokens(s)
	}
	for _, o := range in.Outcomes {
		n += perPart + textTokens(o.CallID) + textTokens(o.Text) + textTokens(o.Err)
		if o.Image != nil {
			n += pictureTokens(o.Image.Data)
		}
		for _, s := range o.Acknowledged {
			n += perPart + textTokens(s.ID) + textTokens(s.Code) + textTokens(s.Message)
		}
	}
	for _, r := range in.Results {
		n += perPart + resultTokens(r)
	}
	if in.Shot != nil {
		n += perPart + textTokens(in.Shot.URL) + pictureTokens(in.Shot.Image.Data)
	}
	return n
}
