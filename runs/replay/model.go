package replay

import (
	"context"
	"encoding/json"
	"image"
	"slices"

	"clank/browseagent"
	"clank/computeruse"
	"clank/llm"
	"clank/runs"
	"clank/sessions"
)

// ended is what the player says when the record has no more answers.
const ended = "The record ends here."

// Model is the model of the run, as the record has it.
func (p *Player) Model() llm.Model { return model{p} }

type model struct{ player *Player }

// Name implements [llm.Model].
func (m model) Name() string { return m.player.name() }

// Caps implements [llm.Model].
func (m model) Caps() llm.Caps {
	if len(m.player.calls) == 0 {
		return llm.Caps{Tools: true}
	}
	return m.player.calls[0].Caps
}

// Generate implements [llm.Model].
func (m model) Generate(ctx context.Context, _ llm.Request, _ func(llm.Delta)) (llm.Reply, error) {
	if ctx.Err() != nil {
		return llm.Reply{}, context.Cause(ctx)
	}
	p := m.player
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next >= len(p.calls) {
		return llm.Reply{Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Text: ended}}}, Stop: llm.StopEnd}, nil
	}
	c := p.calls[p.next]
	p.next++
	reply := llm.Reply{Stop: c.Stop, Message: llm.Message{Role: c.Reply.Role}}
	for _, part := range c.Reply.Parts {
		if part.Opaque != nil {
			continue // only its vendor could read it
		}
		if part.Call != nil {
			adapted, err := p.adapt(*part.Call, c.elements)
			if err != nil {
				return llm.Reply{}, err
			}
			part.Call = &adapted
		}
		reply.Message.Parts = append(reply.Message.Parts, part)
	}
	return reply, nil
}

func (p *Player) name() string {
	switch {
	case len(p.calls) > 0:
		return p.calls[0].Model
	case len(p.turns) > 0:
		return p.turns[0].model
	default:
		return p.begin.Task.Model
	}
}

// Mind is the model of a run that worked the screen, as the record has it. It
// acts at the recorded points.
func (p *Player) Mind() computeruse.Mind { return mind{p} }

type mind struct{ player *Player }

// Name implements [computeruse.Mind].
func (m mind) Name() string { return m.player.name() }

// Fit implements [computeruse.Mind]: the size of the recorded pictures, in which
// the points are counted.
func (m mind) Fit(screen image.Point) image.Point {
	for _, t := range m.player.turns {
		if t.shot != nil && t.shot.Size.X > 0 && t.shot.Size.Y > 0 && t.shot.Size.X <= screen.X && t.shot.Size.Y <= screen.Y {
			return t.shot.Size
		}
	}
	return screen
}

// Begin implements [computeruse.Mind].
func (m mind) Begin(computeruse.Brief) (computeruse.Talk, error) { return talk(m), nil }

type talk struct{ player *Player }

// Memory implements [computeruse.Talk].
func (t talk) Memory() (json.RawMessage, error) { return nil, nil }

// Next implements [computeruse.Talk].
func (t talk) Next(ctx context.Context, _ computeruse.Input) (computeruse.Turn, error) {
	if ctx.Err() != nil {
		return computeruse.Turn{}, context.Cause(ctx)
	}
	p := t.player
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next >= len(p.turns) {
		return computeruse.Turn{Text: ended, Stop: llm.StopEnd}, nil
	}
	turn := p.turns[p.next].answer
	p.next++
	turn.Usage = llm.Usage{}
	turn.Calls, turn.Tools = slices.Clone(turn.Calls), slices.Clone(turn.Tools)
	for i, c := range turn.Calls {
		c.Actions = slices.Clone(c.Actions)
		for j, a := range c.Actions {
			if a.Text == runs.Mask {
				return computeruse.Turn{}, errWithheld
			}
			c.Actions[j].URL = p.to(a.URL)
		}
		turn.Calls[i] = c
	}
	for i, c := range turn.Tools {
		var err error
		if turn.Tools[i], err = p.adapt(c, nil); err != nil {
			return computeruse.Turn{}, err
		}
	}
	return turn, nil
}

// Browser is b; the player sees what its pages show.
func (p *Player) Browser(b browseagent.Browser) browseagent.Browser { return browser{b, p} }

type browser struct {
	browseagent.Browser

	player *Player
}

// Open implements [browseagent.Browser].
func (b browser) Open(ctx context.Context, o sessions.Opening) (browseagent.Page, bool, error) {
	o.URL = b.player.to(o.URL)
	p, restored, err := b.Browser.Open(ctx, o)
	if err != nil {
		return nil, restored, err
	}
	w := watched{p, b.player}
	if j, judges := p.(judge); judges {
		return judged{w, j}, restored, nil
	}
	return w, restored, nil
}

type watched struct {
	browseagent.Page

	player *Player
}

// Snapshot implements [browseagent.Page].
func (w watched) Snapshot(ctx context.Context, interactive bool, maxChars int) (string, error) {
	text, err := w.Page.Snapshot(ctx, interactive, maxChars)
	if err == nil {
		w.player.saw(text)
	}
	return text, err
}

// judge is a page that can tell what an action would set off, as browseagent
// wants it.
type judge interface {
	Judge(ctx context.Context, kind string, args map[string]any) (classes []string, text, detail, origin, to, mark string, err error)
	ActIf(ctx context.Context, kind string, args map[string]any, mark string) (notes []string, same bool, err error)
}

type judged struct {
	watched
	judge
}
