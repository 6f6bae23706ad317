package conversation

import (
	"errors"
	"time"
)

// Why a call has ended.
var (
	ErrCallEmpty   = errors.New("nobody was in the call any more")
	ErrCallTooLong = errors.New("the call has reached the longest time it may last")

	ErrCallUnencrypted = errors.New("the call is not end-to-end encrypted")
)

const (
	warnAlone     = time.Minute
	warnLimit     = 2 * time.Minute
	warnLimitLast = 45 * time.Second
)

// CallLimits checks the limits of one call. Set the fields, then call Check repeatedly, not concurrently.
type CallLimits struct {
	AloneTimeout time.Duration // without people, until it ends
	MaxDuration  time.Duration // of the whole call; 0 is none
	StartedAt    time.Time

	emptySince time.Time // since when nobody is there; zero: someone is
	warned     [3]bool   // by position in the order of the notices below
	ended      bool
}

// LimitNotice is a notice for the people in the call.
type LimitNotice struct {
	Text  string
	Aloud bool  // it is also spoken
	End   error // the call ends now for this reason; nil: not yet
}

// Check returns the notices that are due for a call with so many people. Each is returned once.
func (w *CallLimits) Check(now time.Time, people int) []LimitNotice {
	if w.ended {
		return nil
	}
	words := w.checkDuration(now)
	if people > 0 {
		w.emptySince, w.warned[0] = time.Time{}, false
		return words
	}
	if w.emptySince.IsZero() {
		w.emptySince = now
	}
	switch left := w.AloneTimeout - now.Sub(w.emptySince); {
	case left <= 0:
		return append(words, w.endOnce(leftAloneText, ErrCallEmpty)...)
	case left <= warnAlone:
		return append(words, w.warnOnce(0, aloneSoonText, false)...)
	}
	return words
}

// checkDuration checks the maximum duration, as Check does.
func (w *CallLimits) checkDuration(now time.Time) []LimitNotice {
	if w.MaxDuration <= 0 {
		return nil
	}
	switch left := w.MaxDuration - now.Sub(w.StartedAt); {
	case left <= 0:
		return w.endOnce(LimitReachedText, ErrCallTooLong)
	case left <= warnLimitLast:
		return w.warnOnce(1, LimitNearText, true)
	case left <= warnLimit && w.MaxDuration > 2*warnLimit:
		return w.warnOnce(2, LimitSoonText, true)
	}
	return nil
}

func (w *CallLimits) warnOnce(n int, text string, aloud bool) []LimitNotice {
	if w.warned[n] {
		return nil
	}
	w.warned[n] = true
	return []LimitNotice{{Text: text, Aloud: aloud}}
}

// endOnce returns the notice of the end, once.
func (w *CallLimits) endOnce(text string, why error) []LimitNotice {
	if w.ended {
		return nil
	}
	w.ended = true
	return []LimitNotice{{Text: text, End: why}}
}

const (
	followUpWindow      = 20 * time.Second // after an answer, for the same person to go on without our name
	answerWindow        = time.Minute      // the same if we have asked something
	defaultAloneTimeout = 5 * time.Minute
	progressEvery       = 20 * time.Second // between reports about a browse that takes long
)

// checkLimits leaves a call that is empty or has lasted long enough, after a warning.
func (c *call) checkLimits(now time.Time) {
	for _, w := range c.limits.Check(now, c.participants.humans()) {
		c.write(Message{Text: c.Locale.Text(w.Text)})
		if w.Aloud && c.Player != nil {
			c.say(&speechItem{sentences: []string{c.VoiceLocale.Text(w.Text)}})
		}
		if w.End != nil {
			c.leave(w.End)
		}
	}
}
