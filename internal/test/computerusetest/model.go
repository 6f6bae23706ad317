package computerusetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"slices"
	"sync"
	"testing"

	"clank/computeruse"
	"clank/internal/test/check"
	"clank/llm"
)

// Model is a scripted [computeruse.Model]. Set the exported fields before first use.
type Model struct {
	ModelName string      // empty means "test:model"
	Size      image.Point // maximum size of images; zero keeps them as they are
	// Script answers request n (from 0) of a conversation. in is what the model receives.
	Script func(ctx context.Context, n int, in computeruse.Input) (computeruse.Turn, error)
	// Refuse, if set, is the error of resuming a conversation from a memory.
	Refuse error

	mu     sync.Mutex
	asked  []computeruse.Input
	begun  []computeruse.ConversationOptions
	faults []string
}

// Name implements [computeruse.Model].
func (m *Model) Name() string {
	if m.ModelName == "" {
		return "test:model"
	}
	return m.ModelName
}

// Fit implements [computeruse.Model].
func (m *Model) Fit(screen image.Point) image.Point {
	if m.Size == (image.Point{}) || screen.X <= m.Size.X {
		return screen
	}
	return image.Pt(m.Size.X, screen.Y*m.Size.X/screen.X)
}

// Begin implements [computeruse.Model].
func (m *Model) Begin(b computeruse.ConversationOptions) (computeruse.Conversation, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.begun = append(m.begun, b)
	t := &conversation{model: m}
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

// Asked returns the inputs of all requests in all conversations.
func (m *Model) Asked() []computeruse.Input {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.asked)
}

// Begun returns the options of all conversations.
func (m *Model) Begun() []computeruse.ConversationOptions {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.begun)
}

// Faults returns the errors in the model's inputs: calls that were not answered, or not in order.
func (m *Model) Faults() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.faults)
}

type conversation struct {
	model *Model
	n     int // requests of this task
	kept  struct {
		Told int      `json:"told"`
		Open []string `json:"open,omitempty"`
	}
}

// Next implements [computeruse.Conversation].
func (t *conversation) Next(ctx context.Context, in computeruse.Input) (computeruse.Turn, error) {
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
	t.model.mu.Lock()
	t.model.asked = append(t.model.asked, in)
	if !slices.Equal(answered, t.kept.Open) {
		t.model.faults = append(t.model.faults, fmt.Sprintf("answered %q, want %q", answered, t.kept.Open))
	}
	t.model.mu.Unlock()
	open := t.kept.Open
	t.kept.Open = nil
	t.kept.Told++
	n := t.n
	t.n++
	if t.model.Script == nil {
		return computeruse.Turn{}, errors.New("there is no script")
	}
	turn, err := t.model.Script(ctx, n, in)
	var told *llm.Error
	if errors.As(err, &told) && told.Kind == llm.ErrBudgetSpent {
		t.kept.Open = open // the model received no input
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

// Memory implements [computeruse.Conversation].
func (t *conversation) Memory() (json.RawMessage, error) {
	raw, err := json.Marshal(t.kept)
	if err != nil {
		return nil, fmt.Errorf("store the conversation: %w", err)
	}
	return raw, nil
}

// Begin starts a conversation, which must succeed.
func Begin(tb testing.TB, m computeruse.Model, o computeruse.ConversationOptions) computeruse.Conversation {
	tb.Helper()
	talk, err := m.Begin(o)
	check.Must(tb, err)
	return talk
}

// Next returns the model's turn, which must succeed.
func Next(tb testing.TB, talk computeruse.Conversation, in computeruse.Input) computeruse.Turn {
	tb.Helper()
	turn, err := talk.Next(tb.Context(), in)
	check.Must(tb, err)
	return turn
}
