package conversation

import (
	"slices"
	"strings"
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

// History is the conversation of the call so far: what was said to us and what we said. The zero value is empty.
type History struct {
	entries []*HistoryEntry
}

// Add adds a line at the time now; the oldest is removed for it.
func (l *History) Add(line assistant.ChatLine, now time.Time) *HistoryEntry {
	e := &HistoryEntry{ChatLine: line, at: now}
	l.entries = append(l.entries, e)
	if n := len(l.entries); n > maxHistoryLines {
		l.entries = l.entries[n-maxHistoryLines:]
	}
	return e
}

// Remove removes e, if it is still there.
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

const (
	echoTail     = time.Second // so late after our speech it can still come back
	echoShare    = 0.6         // of the words heard that we said in that order
	echoShort    = 2           // so few words are an echo only if they came while we spoke
	ownSpeechFor = 30 * time.Second
)

// OwnSpeech is something we say.
type OwnSpeech struct {
	text     string
	from, to time.Time // to is zero while it is being said
}

// Append extends the speech by a text.
func (a *OwnSpeech) Append(text string) { a.text += " " + text }

// End sets the end of the speech.
func (a *OwnSpeech) End(now time.Time) { a.to = now }

// EchoDetector recognizes what we said lately. The zero value is empty.
type EchoDetector struct {
	utterances []*OwnSpeech
}

// Begin notes that we begin to say text now.
func (s *EchoDetector) Begin(text string, now time.Time) *OwnSpeech {
	s.utterances = slices.DeleteFunc(s.utterances, func(a *OwnSpeech) bool {
		return !a.to.IsZero() && now.Sub(a.to) > ownSpeechFor
	})
	a := &OwnSpeech{text: text, from: now}
	s.utterances = append(s.utterances, a)
	return a
}

// audible reports whether it can be heard between from and to, with slack after it.
func (a *OwnSpeech) audible(from, to time.Time, slack time.Duration) bool {
	return !to.Before(a.from) && (a.to.IsZero() || from.Before(a.to.Add(slack)))
}

// IsEcho reports whether what was heard between two times is our own speech, returned through someone's microphone.
func (s *EchoDetector) IsEcho(text string, from, to time.Time) bool {
	got := plainWords(text)
	slack := echoTail
	if len(got) <= echoShort {
		slack = 0
	}
	var said []string
	for _, a := range s.utterances {
		if a.audible(from, to, slack) {
			said = append(said, plainWords(a.text)...)
		}
	}
	return len(got) > 0 && float64(commonWords(got, said)) >= echoShare*float64(len(got))
}

// MayBeEcho reports whether a phrase that was spotted at a time can be our own speech: whether we said it, or a word
// that begins like it, just before.
func (s *EchoDetector) MayBeEcho(phrase string, at time.Time) bool {
	for _, a := range s.utterances {
		if !a.audible(at, at, echoTail) {
			continue
		}
		all := true
		for _, w := range plainWords(phrase) {
			all = all && slices.ContainsFunc(plainWords(a.text), func(s string) bool { return strings.HasPrefix(s, w) })
		}
		if all {
			return true
		}
	}
	return false
}
