package recording

import (
	"context"
	"encoding/json"
	"image"
	"slices"

	"clank/computeruse"
	"clank/llm"
	"clank/sessions"
)

// endOfRecord is the player's answer when the record has no more answers.
const endOfRecord = "The record ends here."

// Model returns a model that gives the recorded answers.
func (p *Player) Model() llm.Model { return replayModel{p} }

type replayModel struct{ player *Player }

func (m replayModel) Name() string { return m.player.name() }

func (m replayModel) Caps() llm.Caps {
	if len(m.player.calls) == 0 {
		return llm.Caps{Tools: true}
	}
	return m.player.calls[0].Caps
}

func (m replayModel) Generate(ctx context.Context, _ llm.Request, _ func(llm.Delta)) (llm.Reply, error) {
	if ctx.Err() != nil {
		return llm.Reply{}, context.Cause(ctx)
	}
	p := m.player
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next >= len(p.calls) {
		return llm.Reply{
			Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Text: endOfRecord}}},
			Stop:    llm.StopEnd,
		}, nil
	}
	c := p.calls[p.next]
	p.next++
	reply := llm.Reply{Stop: c.Stop, Message: llm.Message{Role: c.Reply.Role}}
	for _, part := range c.Reply.Parts {
		if part.Opaque != nil {
			continue // only its vendor could read it
		}
		if part.Call != nil {
			adapted, err := p.adaptCall(*part.Call, c.elements)
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

// ComputerUseModel returns a computer-use model that gives the recorded answers, which act at the recorded points.
func (p *Player) ComputerUseModel() computeruse.Model { return replayScreenModel{p} }

type replayScreenModel struct{ player *Player }

func (m replayScreenModel) Name() string { return m.player.name() }

// Fit implements [computeruse.Model]: it returns the size of the recorded images, to which the points refer.
func (m replayScreenModel) Fit(screen image.Point) image.Point {
	for _, t := range m.player.turns {
		if t.shot != nil && t.shot.Size.X > 0 && t.shot.Size.Y > 0 && t.shot.Size.X <= screen.X && t.shot.Size.Y <= screen.Y {
			return t.shot.Size
		}
	}
	return screen
}

func (m replayScreenModel) Begin(computeruse.ConversationOptions) (computeruse.Conversation, error) {
	return replayConversation(m), nil
}

type replayConversation struct{ player *Player }

func (t replayConversation) Memory() (json.RawMessage, error) { return nil, nil }

func (t replayConversation) Next(ctx context.Context, _ computeruse.Input) (computeruse.Turn, error) {
	if ctx.Err() != nil {
		return computeruse.Turn{}, context.Cause(ctx)
	}
	p := t.player
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next >= len(p.turns) {
		return computeruse.Turn{Text: endOfRecord, Stop: llm.StopEnd}, nil
	}
	turn := p.turns[p.next].answer
	p.next++
	turn.Usage = llm.Usage{}
	turn.Calls, turn.Tools = slices.Clone(turn.Calls), slices.Clone(turn.Tools)
	for i, c := range turn.Calls {
		c.Actions = slices.Clone(c.Actions)
		for j, a := range c.Actions {
			if a.Text == RedactedText {
				return computeruse.Turn{}, errEffectWithheld
			}
			c.Actions[j].URL = p.mapAddresses(a.URL)
		}
		turn.Calls[i] = c
	}
	for i, c := range turn.Tools {
		var err error
		if turn.Tools[i], err = p.adaptCall(c, nil); err != nil {
			return computeruse.Turn{}, err
		}
	}
	return turn, nil
}

// Browser returns b wrapped so that the player sees the state of its pages.
func (p *Player) Browser(b sessions.Browser) sessions.Browser { return replayBrowser{b, p} }

type replayBrowser struct {
	sessions.Browser

	player *Player
}

func (b replayBrowser) Open(ctx context.Context, o sessions.PageRequest) (sessions.Page, string, error) {
	o.URL = b.player.mapAddresses(o.URL)
	p, reopened, err := b.Browser.Open(ctx, o)
	if err != nil {
		return nil, "", err
	}
	return replayPage{p, b.player}, reopened, nil
}

type replayPage struct {
	sessions.Page

	player *Player
}

func (w replayPage) Snapshot(ctx context.Context, o sessions.SnapshotOptions) (string, error) {
	text, err := w.Page.Snapshot(ctx, o)
	if err == nil {
		w.player.setLiveState(text)
	}
	return text, err
}
