// Package limits says when a call ends by itself, as nobody is there or it has lasted long enough, and when people are told before.
//
// It ends nothing and tells nobody: package talk does.
package limits

import (
	"errors"
	"time"

	"clank/voice/talk/phrases"
)

// Why a call has ended.
var (
	ErrNobody  = errors.New("nobody was in the call any more")
	ErrTooLong = errors.New("the call has reached the longest time it may last")
)

const (
	warnAlone     = time.Minute
	warnLimit     = 2 * time.Minute
	warnLimitLast = 45 * time.Second
)

// Watch looks at one call. Set the fields, then call Look again and again. It must not be called at once.
type Watch struct {
	Alone time.Duration // with nobody there, until it ends
	Limit time.Duration // of the whole call; 0 is none
	Began time.Time

	since time.Time // when nobody was there any more; zero: somebody is
	told  [3]bool   // by place in the order of what is told below
	ended bool
}

// Word is something to tell the people of the call.
type Word struct {
	Text  string
	Aloud bool  // it is to be said, too
	End   error // the call ends now, because of this; nil: it does not yet
}

// Look returns what is to be told now, each thing once, with so many people there.
func (w *Watch) Look(now time.Time, people int) []Word {
	if w.ended {
		return nil
	}
	words := w.limit(now)
	if people > 0 {
		w.since, w.told[0] = time.Time{}, false
		return words
	}
	if w.since.IsZero() {
		w.since = now
	}
	switch left := w.Alone - now.Sub(w.since); {
	case left <= 0:
		return append(words, w.end(phrases.Lonely, ErrNobody)...)
	case left <= warnAlone:
		return append(words, w.once(0, phrases.LonelySoon, false)...)
	}
	return words
}

// limit is Look for the longest time.
func (w *Watch) limit(now time.Time) []Word {
	if w.Limit <= 0 {
		return nil
	}
	switch left := w.Limit - now.Sub(w.Began); {
	case left <= 0:
		return w.end(phrases.Over, ErrTooLong)
	case left <= warnLimitLast:
		return w.once(1, phrases.OverNow, true)
	case left <= warnLimit && w.Limit > 2*warnLimit:
		return w.once(2, phrases.OverSoon, true)
	}
	return nil
}

func (w *Watch) once(n int, text string, aloud bool) []Word {
	if w.told[n] {
		return nil
	}
	w.told[n] = true
	return []Word{{Text: text, Aloud: aloud}}
}

// end tells the end, if it was not told yet.
func (w *Watch) end(text string, why error) []Word {
	if w.ended {
		return nil
	}
	w.ended = true
	return []Word{{Text: text, End: why}}
}
