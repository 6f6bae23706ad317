package talk

import (
	"slices"
	"strings"
	"time"

	"clank/voice"
	"clank/voice/talk/words"
)

const (
	echoTail  = time.Second // so late after our speech it can still come back
	echoShare = 0.6         // of the words heard that we said in that order
	echoShort = 2           // so few words are an echo only if they came while we spoke
	keepSaid  = 30 * time.Second
)

// ours is something we said.
type ours struct {
	text     string
	from, to time.Time // to is zero while it is being said
}

// memory is what we said lately.
type memory struct {
	said []*ours
}

func (m *memory) begin(text string, now time.Time) *ours {
	m.said = slices.DeleteFunc(m.said, func(o *ours) bool { return !o.to.IsZero() && now.Sub(o.to) > keepSaid })
	o := &ours{text: text, from: now}
	m.said = append(m.said, o)
	return o
}

// sounded reports whether o can be heard between from and to, with slack after it.
func (o *ours) sounded(from, to time.Time, slack time.Duration) bool {
	return !to.Before(o.from) && (o.to.IsZero() || from.Before(o.to.Add(slack)))
}

// isEcho reports whether what was heard is what we said ourselves, come back through somebody's microphone.
func (c *call) isEcho(text string, u voice.Utterance) bool {
	got := words.Plain(text)
	slack := echoTail
	if len(got) <= echoShort {
		slack = 0
	}
	var said []string
	for _, o := range c.speech.memory.said {
		if o.sounded(u.Began, u.Ended, slack) {
			said = append(said, words.Plain(o.text)...)
		}
	}
	return len(got) > 0 && float64(words.Common(got, said)) >= echoShare*float64(len(got))
}

// ourEcho reports whether a phrase that was spotted at a time can be our own speech: whether we said it, or a word that
// begins like it, just before.
func (c *call) ourEcho(phrase string, at time.Time) bool {
	for _, o := range c.speech.memory.said {
		if !o.sounded(at, at, echoTail) {
			continue
		}
		all := true
		for _, w := range words.Plain(phrase) {
			all = all && slices.ContainsFunc(words.Plain(o.text), func(s string) bool { return strings.HasPrefix(s, w) })
		}
		if all {
			return true
		}
	}
	return false
}
