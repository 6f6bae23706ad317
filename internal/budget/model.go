package budget

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"clank/computeruse"
	"clank/llm"
)

// Model returns m limited by the budget: a call that it does not allow fails with an [*llm.Error] of the kind
// [llm.ErrBudgetSpent], and nothing is sent. Each call is charged to the [llm.Account] of its context; without one it
// counts only for the day.
func (k *Enforcer) Model(m llm.Model) llm.Model {
	return &limitedModel{Model: m, enforcer: k}
}

type limitedModel struct {
	llm.Model

	enforcer *Enforcer

	mu        sync.Mutex
	estimated int64 // estimated tokens of the last request
	read      int64 // actual tokens of it
}

func (m *limitedModel) Generate(ctx context.Context, req llm.Request,
	onDelta func(llm.Delta),
) (reply llm.Reply, err error) {
	estimated := requestTokens(req)
	c := modelCall{
		model: m.Name(), input: m.correct(estimated), maxTokens: req.MaxTokens,
		contextSize: m.Caps().ContextSize,
	}
	reply.Usage, err = m.enforcer.call(ctx, c, func(ctx context.Context, maxTokens int) (llm.Usage, error) {
		req.MaxTokens = maxTokens
		reply, err = m.Model.Generate(ctx, req, onDelta)
		return reply.Usage, err
	})
	if read := int64(reply.Usage.InputTokens); err == nil && read > 0 {
		m.mu.Lock()
		m.estimated, m.read = estimated, read
		m.mu.Unlock()
	}
	return reply, err
}

// correct adjusts an estimate by the error of the last one: requests of one conversation are similar.
func (m *limitedModel) correct(estimate int64) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.estimated == 0 {
		return estimate
	}
	likely := float64(estimate) * float64(m.read) / float64(m.estimated)
	return min(estimate, int64(likely*likelyMargin)+1)
}

// likelyMargin is how much larger a request may be than a similar one.
const likelyMargin = 1.1

// ComputerUseModel returns m limited by the budget, as [Enforcer.Model] does for a model.
func (k *Enforcer) ComputerUseModel(m computeruse.Model) computeruse.Model {
	return &screenModel{Model: m, enforcer: k}
}

type screenModel struct {
	computeruse.Model

	enforcer *Enforcer
}

func (m *screenModel) Begin(b computeruse.ConversationOptions) (computeruse.Conversation, error) {
	t, err := m.Model.Begin(b)
	if err != nil {
		return nil, err
	}
	caps, _ := llm.CapsOf(withoutProvider(m.Name()))
	return &screenConversation{
		Conversation: t, enforcer: m.enforcer,
		call: modelCall{
			model: m.Name(), maxTokens: b.MaxTokens, contextSize: caps.ContextSize,
			input: tokensPerPart + textTokens(b.System) + toolTokens(b.Tools) + textTokens(string(b.Memory)) +
				textTokens(b.EndUser),
		},
	}, nil
}

// screenConversation tracks the length of a conversation from call to call, because earlier messages are sent, or
// charged, again with each call.
type screenConversation struct {
	computeruse.Conversation

	enforcer *Enforcer
	call     modelCall         // the next call, without its input
	unsent   computeruse.Input // input of a call that the budget refused
}

// Next implements [computeruse.Conversation]. The input of a call that the budget refuses is sent with the next call.
func (t *screenConversation) Next(ctx context.Context, in computeruse.Input) (turn computeruse.Turn, err error) {
	in = mergeInput(t.unsent, in)
	next, asked := t.call, false
	next.input += inputTokens(in)
	turn.Usage, err = t.enforcer.call(ctx, next, func(ctx context.Context, maxTokens int) (llm.Usage, error) {
		asked = true
		if maxTokens != next.maxTokens {
			in.MaxTokens = maxTokens
		}
		turn, err = t.Conversation.Next(ctx, in)
		return turn.Usage, err
	})
	if !asked {
		t.unsent = in
		return turn, err
	}
	t.unsent, t.call = computeruse.Input{}, next // sent again with the next call if this one failed
	if used := tokenCount(turn.Usage); err == nil && used > 0 {
		t.call.input = used
	}
	return turn, err
}

// mergeInput returns in combined with old, which was not sent.
func mergeInput(old, in computeruse.Input) computeruse.Input {
	return computeruse.Input{
		Says:     slices.Concat(old.Says, in.Says),
		Outcomes: slices.Concat(old.Outcomes, in.Outcomes),
		Results:  slices.Concat(old.Results, in.Results),
		Shot:     cmp.Or(in.Shot, old.Shot),
		Final:    in.Final,
	}
}

// inputTokens returns the estimated tokens of a turn's input.
func inputTokens(in computeruse.Input) (n int64) {
	for _, s := range in.Says {
		n += tokensPerPart + textTokens(s)
	}
	for _, o := range in.Outcomes {
		n += tokensPerPart + textTokens(o.CallID) + textTokens(o.Text) + textTokens(o.Err)
		if o.Image != nil {
			n += imageTokens(o.Image.Data)
		}
		for _, s := range o.Acknowledged {
			n += tokensPerPart + textTokens(s.ID) + textTokens(s.Code) + textTokens(s.Message)
		}
	}
	for _, r := range in.Results {
		n += tokensPerPart + resultTokens(r)
	}
	if in.Shot != nil {
		n += tokensPerPart + textTokens(in.Shot.URL) + imageTokens(in.Shot.Image.Data)
	}
	return n
}
