package memory

import (
	"slices"
	"strings"
	"time"

	"clank/voice/talk/words"
)

const (
	echoTail  = time.Second // so late after our speech it can still come back
	echoShare = 0.6         // of the words heard that we said in that order
	echoShort = 2           // so few words are an echo only if they came while we spoke
	keepSaid  = 30 * time.Second
)

// Aloud is something we say.
type Aloud struct {
	text     string
	from, to time.Time // to is zero while it is being said
}

// Goes says that it goes on with text.
func (a *Aloud) Goes(text string) { a.text += " " + text }

// Ended says when it was over.
func (a *Aloud) Ended(now time.Time) { a.to = now }

// Speech is what we said lately. The zero value is empty.
type Speech struct {
	said []*Aloud
}

// Begin notes that we begin to say text now.
func (s *Speech) Begin(text string, now time.Time) *Aloud {
	s.said = slices.DeleteFunc(s.said, func(a *Aloud) bool { return !a.to.IsZero() && now.Sub(a.to) > keepSaid })
	a := &Aloud{text: text, from: now}
	s.said = append(s.said, a)
	return a
}

// sounded reports whether it can be heard between from and to, with slack after it.
func (a *Aloud) sounded(from, to time.Time, slack time.Duration) bool {
	return !to.Before(a.from) && (a.to.IsZero() || from.Before(a.to.Add(slack)))
}

// IsEcho reports whether what was heard from a time to another is what we said ourselves, come back through somebody's microphone.
func (s *Speech) IsEcho(text string, from, to time.Time) bool {
	got := words.Plain(text)
	slack := echoTail
	if len(got) <= echoShort {
		slack = 0
	}
	var said []string
	for _, a := range s.said {
		if a.sounded(from, to, slack) {
			said = append(said, words.Plain(a.text)...)
		}
	}
	return len(got) > 0 && float64(words.Common(got, said)) >= echoShare*float64(len(got))
}

// CanBe reports whether a phrase that was spotted at a time can be our own speech: whether we said it, or a word that
// begins like it, just before.
func (s *Speech) CanBe(phrase string, at time.Time) bool {
	for _, a := range s.said {
		if !a.sounded(at, at, echoTail) {
			continue
		}
		all := true
		for _, w := range words.Plain(phrase) {
			all = all && slices.ContainsFunc(words.Plain(a.text), func(s string) bool { return strings.HasPrefix(s, w) })
		}
		if all {
			return true
		}
	}
	return false
}
