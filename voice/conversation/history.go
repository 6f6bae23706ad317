package conversation

import (
	"slices"
	"time"

	"clank/internal/assistant"
)

const (
	maxHistoryLines = 40
	maxHistoryAge   = 30 * time.Minute
)

// HistoryEntry is something that was said in the conversation.
type HistoryEntry struct {
	assistant.ChatLine

	at time.Time
}

// History is the conversation so far: what was said to us and what we said, as long as the call lasts. The zero value is empty.
type History struct {
	entries []*HistoryEntry
}

// Add adds what was said now; what is oldest is forgotten for it.
func (l *History) Add(line assistant.ChatLine, now time.Time) *HistoryEntry {
	e := &HistoryEntry{ChatLine: line, at: now}
	l.entries = append(l.entries, e)
	if n := len(l.entries); n > maxHistoryLines {
		l.entries = l.entries[n-maxHistoryLines:]
	}
	return e
}

// Remove takes e out, if it is there.
func (l *History) Remove(e *HistoryEntry) {
	l.entries = slices.DeleteFunc(l.entries, func(x *HistoryEntry) bool { return x == e })
}

// LinesUntil returns the lines of the conversation that are not too old now, with e as the last.
func (l *History) LinesUntil(e *HistoryEntry, now time.Time) []assistant.ChatLine {
	var lines []assistant.ChatLine
	for _, x := range l.entries {
		if x != e && now.Sub(x.at) <= maxHistoryAge {
			lines = append(lines, x.ChatLine)
		}
	}
	return append(lines, e.ChatLine)
}
