package computeruse

import (
	"cmp"
	"context"

	"clank/llm"
	"clank/sessions"
	"clank/sessions/agent"
)

// runToolCall does one tool call and answers it.
func (r *run) runToolCall(ctx context.Context, c llm.ToolCall, last bool) (res llm.ToolResult, err error) {
	res.ID = c.ID
	in, wrong := parseToolInput(c, r.set)
	step := &sessions.Step{Kind: sessions.StepAct, Tool: cmp.Or(c.Name, "unknown"), Input: c.Input, Label: in.label(c.Name)}
	if len(c.Input) == 0 || c.Malformed != "" {
		step.Input = []byte("{}")
	}
	next := &r.state.memory.Next
	if wrong != "" {
		step.Label = "use " + agent.Quote(c.Name)
		res.Text, res.IsError = "Not done: "+wrong+".", true
		next.answerTool(res)
		return res, r.recordStep(ctx, step, func() error {
			step.Text, step.Failed = res.Text, true
			return nil
		})
	}
	r.emptyReplies = 0
	if c.Name == ToolHandOver {
		next.answerTool(llm.ToolResult{ID: c.ID, Text: "Handed over."})
		if err := r.recordStep(ctx, step, func() error { step.Text = in.Brief; return nil }); err != nil {
			return res, err
		}
		return res, &sessions.HandOverError{Runtime: in.Runtime, Summary: in.Brief}
	}
	s, err := r.open(ctx)
	if err != nil {
		return res, err
	}
	err = r.recordStep(ctx, step, func() error {
		d := r.runTool(ctx, s, in, c.Name)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		res.Text, res.IsError = cmp.Or(d.text(), "Done."), d.failed()
		next.answerTool(res)
		step.Text, step.Failed = d.summary(), d.failed()
		if last {
			step.View = r.capture(ctx, s)
		}
		return agent.ContextError(ctx, nil)
	})
	return res, err
}

// runTool does what a tool is there for.
func (r *run) runTool(ctx context.Context, s sessions.Page, in toolInput, name string) (d actionResult) {
	if m := in.move(name); m != nil {
		r.screenshotCurrent = false
		return r.performApproved(ctx, s, *m, "", r.set.StepTimeout)
	}
	looking, cancel := context.WithTimeout(ctx, r.set.StepTimeout)
	defer cancel()
	d.body, d.err = in.read(looking, s, name, maxTextChars)
	return d
}
