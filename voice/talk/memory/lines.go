package memory

import (
	"time"

	"clank/brain"
)

const (
	maxLines = 40
	maxAge   = 30 * time.Minute
)

// Entry is something that was said in the conversation.
type Entry struct {
	brain.Line

	at time.Time
}

// Lines is the conversation so far: what was said to us and what we said, as long as the call lasts. The zero value is empty.
type Lines struct {
	entries []*Entry
}

// Add adds what was said now; what is oldest is forgotten for it.
func (l *Lines) Add(line brain.Line, now time.Time) *Entry {
	e := &Entry{Line: line, at: now}
	l.entries = append(l.entries, e)
	if n := len(l.entries); n > maxLines {
		l.entries = l.entries[n-maxLines:]
	}
	return e
}

// Remove takes e out, if it is there.
func (l *Lines) Remove(e *Entry) {
	for i, x := range l.entries {
		if x == e {
			l.entries = append(l.entries[:i:i], l.entries[i+1:]...)
			return
		}
	}
}

// Until are the lines of the conversation that are not too old now, with e as the last.
func (l *Lines) Until(e *Entry, now time.Time) []brain.Line {
	var lines []brain.Line
	for _, x := range l.entries {
		if x != e && now.Sub(x.at) <= maxAge {
			lines = append(lines, x.Line)
		}
	}
	return append(lines, e.Line)
}
