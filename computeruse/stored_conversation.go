package computeruse

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"clank/llm"
	"clank/sessions/agent"
)

// memoryVersion is increased when the stored form changes incompatibly.
const memoryVersion = 1

// What is kept of earlier tasks in addition to the conversation, for a model that cannot continue it.
const (
	maxSaid      = 6
	maxSaidChars = 1500
)

// storedConversation is the memory of a session: the conversation in the model's form, the pending input, and what was
// said so far.
type storedConversation struct {
	Version int             `json:"version"`
	Runtime string          `json:"runtime"` // distinguishes it from memories of other backends
	Model   string          `json:"mind"`    // in the form of earlier versions
	Talk    json.RawMessage `json:"talk,omitempty"`
	Next    pendingInput    `json:"next"`
	Said    []earlierTask   `json:"said,omitempty"`

	secrets typedSecrets // what must not be stored
}

// earlierTask is a task of the session and its answer, if it has one.
type earlierTask struct {
	Prompt string `json:"prompt"`
	Answer string `json:"answer,omitempty"`
}

// pendingInput is the input for the model's next turn, and its unanswered calls.
type pendingInput struct {
	Says     []string         `json:"says,omitempty"`
	Outcomes []CallResult     `json:"outcomes,omitempty"`
	Results  []llm.ToolResult `json:"results,omitempty"`
	Calls    []string         `json:"calls,omitempty"`
	Tools    []string         `json:"tools,omitempty"`
}

func (p *pendingInput) addUserText(text string) { p.Says = append(p.Says, text) }

// addCalls notes the calls of a turn.
func (p *pendingInput) addCalls(t Turn) {
	for _, c := range t.Calls {
		p.Calls = append(p.Calls, c.ID)
	}
	for _, c := range t.Tools {
		p.Tools = append(p.Tools, c.ID)
	}
}

// answerCall answers a call.
func (p *pendingInput) answerCall(o CallResult) {
	p.Outcomes = append(p.Outcomes, o)
	p.Calls = removeFirst(p.Calls, o.CallID)
}

// answerTool answers a tool call.
func (p *pendingInput) answerTool(res llm.ToolResult) {
	p.Results = append(p.Results, res)
	p.Tools = removeFirst(p.Tools, res.ID)
}

// removeFirst removes the first s.
func removeFirst(all []string, s string) []string {
	if i := slices.Index(all, s); i >= 0 {
		return slices.Delete(slices.Clone(all), i, i+1)
	}
	return all
}

// answerOpen answers the open calls, so that the conversation can continue.
func (p *pendingInput) answerOpen(why string) {
	for _, id := range p.Calls {
		p.Outcomes = append(p.Outcomes, CallResult{CallID: id, Err: why})
	}
	for _, id := range p.Tools {
		p.Results = append(p.Results, llm.ToolResult{ID: id, Text: why, IsError: true})
	}
	p.Calls, p.Tools = nil, nil
}

// drain returns the pending input and clears it.
func (p *pendingInput) drain() Input {
	in := Input{Says: p.Says, Outcomes: p.Outcomes, Results: p.Results}
	*p = pendingInput{}
	return in
}

// withoutImages returns p without pictures.
func (p *pendingInput) withoutImages() pendingInput {
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

// addPrompt adds a task.
func (m *storedConversation) addPrompt(text string) {
	m.Said = append(m.Said, earlierTask{Prompt: agent.Truncate(text, maxSaidChars)})
	if extra := len(m.Said) - maxSaid; extra > 0 {
		m.Said = slices.Delete(m.Said, 0, extra)
	}
}

// setAnswer sets the answer to the latest task.
func (m *storedConversation) setAnswer(text string) {
	if last := len(m.Said) - 1; last >= 0 {
		m.Said[last].Answer = agent.Truncate(text, maxSaidChars)
	}
}

// recap returns a summary for a model that does not know the conversation; "" if nothing was said.
func (m *storedConversation) recap() string {
	if len(m.Said) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Before, in this session:")
	for _, s := range m.Said {
		b.WriteString("\n- The person asked: " + agent.OneLine(s.Prompt))
		if s.Answer != "" {
			b.WriteString("\n  The answer was: " + agent.OneLine(s.Answer))
		}
	}
	return b.String()
}

// restart drops the conversation, and adds a summary to the pending input.
func (m *storedConversation) restart() {
	m.Talk, m.Next = nil, pendingInput{}
	if recap := m.recap(); recap != "" {
		m.Next.addUserText(recap)
	}
}

// learnCredentials learns the names and passwords that stand in addresses of a turn.
func (m *storedConversation) learnCredentials(t Turn) {
	for _, c := range t.Calls {
		for _, a := range c.Actions {
			m.secrets.LearnURL(a.URL)
		}
	}
	for _, c := range t.Tools {
		var in struct{ URL string }
		if json.Unmarshal(c.Input, &in) == nil {
			m.secrets.LearnURL(in.URL)
		}
	}
}

// setConversation stores the conversation, with passwords replaced by a placeholder.
func (m *storedConversation) setConversation(talk json.RawMessage) {
	m.Talk = m.secrets.RedactJSON(talk, maskForModel)
}

// marshal returns the memory in its stored form.
func (m *storedConversation) marshal() (json.RawMessage, error) {
	kept := *m
	kept.Version, kept.Runtime, kept.Next = memoryVersion, "computeruse", m.Next.withoutImages()
	raw, err := json.Marshal(kept)
	if err != nil {
		return nil, fmt.Errorf("store the conversation: %w", err)
	}
	return m.secrets.RedactJSON(raw, maskForModel), nil
}

// parseConversation returns a stored conversation, ready to continue: calls that were open when it was stored are
// answered. If it cannot be read, the result is empty and the error says why.
func parseConversation(raw json.RawMessage) (storedConversation, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return storedConversation{}, nil
	}
	var m storedConversation
	if err := json.Unmarshal(raw, &m); err != nil {
		return storedConversation{}, fmt.Errorf("read the stored conversation: %w", err)
	}
	if m.Version != memoryVersion || m.Runtime != "computeruse" {
		return storedConversation{}, fmt.Errorf("read the stored conversation: it is of version %d of %q", m.Version,
			agent.Truncate(m.Runtime, 40))
	}
	m.Next.answerOpen("interrupted: the program ended; it may have been done in part")
	return m, nil
}
