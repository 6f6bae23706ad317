package computeruse

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"clank/computeruse/secret"
	"clank/llm"
	"clank/sessions/working"
)

// memoryVersion is raised when what is stored can no longer be read as before.
const memoryVersion = 1

// What is kept of earlier tasks beside the conversation itself, for a mind that
// cannot go on with it.
const (
	maxSaid      = 6
	maxSaidChars = 1500
)

// memory is what is kept of a session: the conversation as its mind keeps it, what
// the mind must be told next, and what was said so far.
type memory struct {
	Version int             `json:"version"`
	Runtime string          `json:"runtime"` // tells it from memories of other backends
	Mind    string          `json:"mind"`
	Talk    json.RawMessage `json:"talk,omitempty"`
	Next    pending         `json:"next"`
	Said    []said          `json:"said,omitempty"`

	secrets secret.Words // what must not be stored
}

// said is a task of the session and its answer, if it has one.
type said struct {
	Prompt string `json:"prompt"`
	Answer string `json:"answer,omitempty"`
}

// pending is what the model is told at the beginning of its next turn, and which
// of its calls are not answered yet.
type pending struct {
	Says     []string         `json:"says,omitempty"`
	Outcomes []Outcome        `json:"outcomes,omitempty"`
	Results  []llm.ToolResult `json:"results,omitempty"`
	Calls    []string         `json:"calls,omitempty"`
	Tools    []string         `json:"tools,omitempty"`
}

func (p *pending) say(text string) { p.Says = append(p.Says, text) }

// expect notes the calls of a turn.
func (p *pending) expect(t Turn) {
	for _, c := range t.Calls {
		p.Calls = append(p.Calls, c.ID)
	}
	for _, c := range t.Tools {
		p.Tools = append(p.Tools, c.ID)
	}
}

// outcome answers a call.
func (p *pending) outcome(o Outcome) {
	p.Outcomes = append(p.Outcomes, o)
	p.Calls = without(p.Calls, o.CallID)
}

// result answers a tool call.
func (p *pending) result(res llm.ToolResult) {
	p.Results = append(p.Results, res)
	p.Tools = without(p.Tools, res.ID)
}

// without removes the first s.
func without(all []string, s string) []string {
	if i := slices.Index(all, s); i >= 0 {
		return slices.Delete(slices.Clone(all), i, i+1)
	}
	return all
}

// settle answers the calls that nobody has answered, so that the conversation can
// go on.
func (p *pending) settle(why string) {
	for _, id := range p.Calls {
		p.Outcomes = append(p.Outcomes, Outcome{CallID: id, Err: why})
	}
	for _, id := range p.Tools {
		p.Results = append(p.Results, llm.ToolResult{ID: id, Text: why, IsError: true})
	}
	p.Calls, p.Tools = nil, nil
}

// take returns what is to be told, and forgets it.
func (p *pending) take() Input {
	in := Input{Says: p.Says, Outcomes: p.Outcomes, Results: p.Results}
	*p = pending{}
	return in
}

// stored is p without pictures.
func (p *pending) stored() pending {
	kept := *p
	kept.Outcomes, kept.Results = slices.Clone(p.Outcomes), slices.Clone(p.Results)
	for i := range kept.Outcomes {
		kept.Outcomes[i].Image = nil
	}
	for i := range kept.Results {
		kept.Results[i].Images = nil
	}
	return kept
}

// prompt takes in a task.
func (m *memory) prompt(text string) {
	m.Said = append(m.Said, said{Prompt: working.Cut(text, maxSaidChars)})
	if extra := len(m.Said) - maxSaid; extra > 0 {
		m.Said = slices.Delete(m.Said, 0, extra)
	}
}

// answer takes in how the newest task was answered.
func (m *memory) answer(text string) {
	if last := len(m.Said) - 1; last >= 0 {
		m.Said[last].Answer = working.Cut(text, maxSaidChars)
	}
}

// recap tells a mind that does not know the conversation what was said in it; ""
// if nothing was.
func (m *memory) recap() string {
	if len(m.Said) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Before, in this session:")
	for _, s := range m.Said {
		b.WriteString("\n- The person asked: " + working.OneLine(s.Prompt))
		if s.Answer != "" {
			b.WriteString("\n  The answer was: " + working.OneLine(s.Answer))
		}
	}
	return b.String()
}

// anew drops the conversation, and tells the next one what was said.
func (m *memory) anew() {
	m.Talk, m.Next = nil, pending{}
	if recap := m.recap(); recap != "" {
		m.Next.say(recap)
	}
}

// beware learns the names and passwords that stand in addresses of a turn.
func (m *memory) beware(t Turn) {
	for _, c := range t.Calls {
		for _, a := range c.Actions {
			m.secrets.LearnAddress(a.URL)
		}
	}
	for _, c := range t.Tools {
		var in struct{ URL string }
		if json.Unmarshal(c.Input, &in) == nil {
			m.secrets.LearnAddress(in.URL)
		}
	}
}

// keep takes in the conversation. Whoever goes on with it reads that a password
// was typed, and not which.
func (m *memory) keep(talk json.RawMessage) { m.Talk = m.secrets.CleanJSON(talk, secret.Password) }

// store is the memory as it is kept with the session.
func (m *memory) store() (json.RawMessage, error) {
	kept := *m
	kept.Version, kept.Runtime, kept.Next = memoryVersion, "computeruse", m.Next.stored()
	raw, err := json.Marshal(kept)
	if err != nil {
		return nil, fmt.Errorf("store the conversation: %w", err)
	}
	return m.secrets.CleanJSON(raw, secret.Password), nil
}

// readMemory returns what was stored, ready to go on: calls that were running when
// it was stored are answered. If it cannot be read it is empty, and the error says
// why.
func readMemory(raw json.RawMessage) (memory, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return memory{}, nil
	}
	var m memory
	if err := json.Unmarshal(raw, &m); err != nil {
		return memory{}, fmt.Errorf("read the stored conversation: %w", err)
	}
	if m.Version != memoryVersion || m.Runtime != "computeruse" {
		return memory{}, fmt.Errorf("read the stored conversation: it is of version %d of %q", m.Version, working.Cut(m.Runtime, 40))
	}
	m.Next.settle("interrupted: the program ended; it may have been done in part")
	return m, nil
}
