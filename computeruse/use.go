package computeruse

import (
	"cmp"
	"context"

	"clank/llm"
	"clank/sessions"
	"clank/sessions/working"
)

// use does one tool call and answers it.
func (r *run) use(ctx context.Context, c llm.ToolCall, last bool) (res llm.ToolResult, err error) {
	res.ID = c.ID
	in, wrong := understand(c, r.set)
	step := &sessions.Step{Kind: sessions.StepAct, Tool: cmp.Or(c.Name, "unknown"), Input: c.Input, Label: in.label(c.Name)}
	if len(c.Input) == 0 || c.Malformed != "" {
		step.Input = []byte("{}")
	}
	next := &r.held.memory.Next
	if wrong != "" {
		step.Label = "use " + working.Quote(c.Name)
		res.Text, res.IsError = "Not done: "+wrong+".", true
		next.result(res)
		return res, r.around(ctx, step, func() error {
			step.Text, step.Failed = res.Text, true
			return nil
		})
	}
	r.useless = 0
	if c.Name == ToolHandOver {
		next.result(llm.ToolResult{ID: c.ID, Text: "Handed over."})
		if err := r.around(ctx, step, func() error { step.Text = in.Brief; return nil }); err != nil {
			return res, err
		}
		return res, &sessions.HandOverError{Runtime: in.Runtime, Brief: in.Brief}
	}
	s, err := r.open(ctx)
	if err != nil {
		return res, err
	}
	err = r.around(ctx, step, func() error {
		d := r.tool(ctx, s, in, c.Name)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		res.Text, res.IsError = cmp.Or(d.text(), "Done."), d.failed()
		next.result(res)
		step.Text, step.Failed = d.brief(), d.failed()
		if last {
			step.View = r.look(ctx, s)
		}
		return working.Ended(ctx, nil)
	})
	return res, err
}

// tool does what a tool is there for.
func (r *run) tool(ctx context.Context, s Screen, in toolInput, name string) (d deed) {
	if m := in.move(name); m != nil {
		r.fresh = false
		return r.attempt(ctx, s, *m, "", r.set.StepTimeout)
	}
	looking, cancel := context.WithTimeout(ctx, r.set.StepTimeout)
	defer cancel()
	d.body, d.err = in.look(looking, s, name, r.set.TextChars)
	return d
}
