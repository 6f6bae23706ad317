package talk

import (
	"time"

	"clank/brain"
)

const (
	maxLines = 40
	maxAge   = 30 * time.Minute
)

// entry is something that was said in the conversation.
type entry struct {
	brain.Line

	at time.Time
}

// history is the conversation so far: what was said to us and what we said, as long as the call lasts.
type history struct {
	entries []*entry
}

func (h *history) add(l brain.Line, now time.Time) *entry {
	e := &entry{Line: l, at: now}
	h.entries = append(h.entries, e)
	if n := len(h.entries); n > maxLines {
		h.entries = h.entries[n-maxLines:]
	}
	return e
}

// remove takes e out, if it is there.
func (h *history) remove(e *entry) {
	for i, x := range h.entries {
		if x == e {
			h.entries = append(h.entries[:i:i], h.entries[i+1:]...)
			return
		}
	}
}

// until are the lines of the conversation, with e as the last.
func (h *history) until(e *entry, now time.Time) []brain.Line {
	var lines []brain.Line
	for _, x := range h.entries {
		if x != e && now.Sub(x.at) <= maxAge {
			lines = append(lines, x.Line)
		}
	}
	return append(lines, e.Line)
}
