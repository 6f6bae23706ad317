package computerusetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"slices"
	"sync"

	"clank/computeruse"
	"clank/llm"
)

// Mind is a [computeruse.Mind] that follows a script. Set the exported fields
// before its first use.
type Mind struct {
	Model string      // "test:mind" if empty
	Size  image.Point // of the pictures it wants, at most; zero = as they are
	// Script answers question n, from 0, of a conversation. It may look at what the
	// model is told.
	Script func(ctx context.Context, n int, in computeruse.Input) (computeruse.Turn, error)
	// Refuse, where it is set, is why a conversation cannot go on from a memory.
	Refuse error

	mu     sync.Mutex
	asked  []computeruse.Input
	briefs []computeruse.Brief
	faults []string
}

// Name implements [computeruse.Mind].
func (m *Mind) Name() string {
	if m.Model == "" {
		return "test:mind"
	}
	return m.Model
}

// Fit implements [computeruse.Mind].
func (m *Mind) Fit(screen image.Point) image.Point {
	if m.Size == (image.Point{}) || screen.X <= m.Size.X {
		return screen
	}
	return image.Pt(m.Size.X, screen.Y*m.Size.X/screen.X)
}

// Begin implements [computeruse.Mind].
func (m *Mind) Begin(b computeruse.Brief) (computeruse.Talk, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.briefs = append(m.briefs, b)
	t := &talk{mind: m}
	if len(b.Memory) > 0 {
		if m.Refuse != nil {
			return nil, m.Refuse
		}
		if err := json.Unmarshal(b.Memory, &t.kept); err != nil {
			return nil, fmt.Errorf("read the memory: %w", err)
		}
	}
	return t, nil
}

// Asked is what the model was told, question by question, over all conversations.
func (m *Mind) Asked() []computeruse.Input {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.asked)
}

// Briefs are those with which conversations were begun.
func (m *Mind) Briefs() []computeruse.Brief {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.briefs)
}

// Faults are what was wrong with what the model was told: calls that were not
// answered, or not in order.
func (m *Mind) Faults() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.faults)
}

type talk struct {
	mind *Mind
	n    int // questions of this task
	kept struct {
		Told int      `json:"told"`
		Open []string `json:"open,omitempty"`
	}
}

// Next implements [computeruse.Talk].
func (t *talk) Next(ctx context.Context, in computeruse.Input) (computeruse.Turn, error) {
	if ctx.Err() != nil {
		return computeruse.Turn{}, context.Cause(ctx)
	}
	var answered []string
	for _, o := range in.Outcomes {
		answered = append(answered, o.CallID)
	}
	for _, r := range in.Results {
		answered = append(answered, r.ID)
	}
	t.mind.mu.Lock()
	t.mind.asked = append(t.mind.asked, in)
	if !slices.Equal(answered, t.kept.Open) {
		t.mind.faults = append(t.mind.faults, fmt.Sprintf("answered %q, want %q", answered, t.kept.Open))
	}
	t.mind.mu.Unlock()
	open := t.kept.Open
	t.kept.Open = nil
	t.kept.Told++
	n := t.n
	t.n++
	if t.mind.Script == nil {
		return computeruse.Turn{}, errors.New("there is no script")
	}
	turn, err := t.mind.Script(ctx, n, in)
	var told *llm.Error
	if errors.As(err, &told) && told.Kind == llm.ErrSpent {
		t.kept.Open = open // it was told nothing
	}
	if err != nil {
		return computeruse.Turn{}, err
	}
	for _, c := range turn.Calls {
		t.kept.Open = append(t.kept.Open, c.ID)
	}
	for _, c := range turn.Tools {
		t.kept.Open = append(t.kept.Open, c.ID)
	}
	return turn, nil
}

// Memory implements [computeruse.Talk].
func (t *talk) Memory() (json.RawMessage, error) {
	raw, err := json.Marshal(t.kept)
	if err != nil {
		return nil, fmt.Errorf("store the conversation: %w", err)
	}
	return raw, nil
}
