package budget

import (
	"context"

	"clank/llm"
)

// Model returns m within the budget: a call for which there is none left fails
// with an [*llm.Error] of the kind [llm.ErrBudgetSpent], and nothing is sent. Each call
// is put down to the [llm.Account] of its context; one without counts for the
// day alone.
func (k *Enforcer) Model(m llm.Model) llm.Model {
	return &limitedModel{Model: m, enforcer: k}
}

type limitedModel struct {
	llm.Model

	enforcer *Enforcer
}

// Generate implements [llm.Model].
func (m *limitedModel) Generate(ctx context.Context, req llm.Request, onDelta func(llm.Delta)) (reply llm.Reply, err error) {
	c := modelCall{model: m.Name(), input: requestTokens(req), maxTokens: req.MaxTokens, contextSize: m.Caps().ContextSize}
	reply.Usage, err = m.enforcer.call(ctx, c, func(ctx context.Context) (llm.Usage, error) {
		reply, err = m.Model.Generate(ctx, req, onDelta)
		return reply.Usage, err
	})
	return reply, err
}
