package browseagent

import (
	"encoding/json"
	"fmt"
	"slices"

	"clank/llm"
)

// memoryVersion is raised when what is stored can no longer be read as before.
const memoryVersion = 1

// storedHistory is how a conversation is stored: without pictures, opaque parts of the
// vendors kept.
type storedHistory struct {
	Version int     `json:"version"`
	Dropped bool    `json:"dropped,omitempty"`
	Typed   bool    `json:"typed,omitempty"` // a person typed all that was asked for
	Entries []entry `json:"entries"`
}

// marshal returns the conversation as it is stored.
func (h *history) marshal() (json.RawMessage, error) {
	m := storedHistory{Version: memoryVersion, Dropped: h.dropped, Typed: !h.foreign, Entries: make([]entry, 0, len(h.entries))}
	for _, e := range h.entries {
		e.Parts = slices.Clone(e.Parts)
		for i, p := range e.Parts {
			switch {
			case e.masked[i] != nil:
				c := *p.Call
				c.Input = e.masked[i]
				e.Parts[i].Call = &c
			case p.Image != nil:
				e.Parts[i] = llm.Part{Text: omittedImage}
			case p.Result != nil && len(p.Result.Images) > 0:
				e.Parts[i].Result = withoutImages(*p.Result)
			}
		}
		m.Entries = append(m.Entries, e)
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("store the conversation: %w", err)
	}
	return raw, nil
}

// parseHistory returns the stored conversation, ready to go on: calls that were
// running when it was stored are answered. If it cannot be read the conversation
// is empty and the error says why.
func parseHistory(raw json.RawMessage) (history, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return history{}, nil
	}
	var m storedHistory
	if err := json.Unmarshal(raw, &m); err != nil {
		return history{}, fmt.Errorf("read the stored conversation: %w", err)
	}
	if m.Version != memoryVersion {
		return history{}, fmt.Errorf("read the stored conversation: version %d, not %d", m.Version, memoryVersion)
	}
	for i, e := range m.Entries {
		if err := e.check(); err != nil {
			return history{}, fmt.Errorf("read the stored conversation: entry %d: %w", i, err)
		}
	}
	h := history{entries: m.Entries, dropped: m.Dropped, foreign: !m.Typed}
	h.answerOpenCalls("interrupted: the program ended")
	return h, nil
}

// check reports what would make the entry unusable.
func (e entry) check() error {
	if e.Role != llm.RoleUser && e.Role != llm.RoleAssistant {
		return fmt.Errorf("unknown role %q", e.Role)
	}
	for _, b := range e.Bulk {
		if b.Part < 0 || b.Part >= len(e.Parts) || e.Parts[b.Part].Result == nil {
			return fmt.Errorf("part %d is no tool result", b.Part)
		}
	}
	return nil
}
