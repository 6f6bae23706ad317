package runs

import (
	"slices"
	"time"

	"clank/sessions"
)

// Account tells a run from its beginning to its end, for people.
type Account struct {
	Task    sessions.Task  `json:"task"`
	Session string         `json:"session"`
	Runtime string         `json:"runtime"`
	Models  []string       `json:"models,omitempty"`
	Begun   time.Time      `json:"begun"`
	Steps   []AccountStep  `json:"steps"`
	Usage   sessions.Usage `json:"usage"`
	Millis  float64        `json:"ms,omitempty"`
	Ended   string         `json:"ended,omitempty"` // why there is no answer
	Cut     bool           `json:"cut,omitempty"`   // the record ends in the middle
	Dropped int            `json:"dropped_pictures,omitempty"`
	// Bare says that only the steps are known: the run was not recorded.
	Bare bool `json:"bare,omitempty"`
}

// AccountStep is a step and how long it took.
type AccountStep struct {
	sessions.Step

	Millis float64 `json:"ms,omitempty"`
}

// Account returns the account of the run. A step that began and did not end is
// part of it, as begun.
func (b *Bundle) Account() Account {
	begin := b.Begin()
	t := teller{Account: Account{Task: begin.Task, Session: begin.Session, Runtime: begin.Runtime, Begun: b.Entries[0].At, Cut: b.Cut}}
	for _, e := range b.Entries {
		switch e.Kind { //nolint:exhaustive // the others are details
		case KindBegin:
			t.Runtime, t.Ended, t.leg = e.Begin.Runtime, "", len(t.Steps)
		case KindCall:
			t.asked(e.Call.Model)
		case KindTurn:
			t.asked(e.Turn.Model)
		case KindEnd:
			t.Ended, t.Dropped = e.End.Error, e.End.Dropped
		case KindStep:
			t.step(*e.Step, e.At)
		}
	}
	t.Millis = millis(b.Entries[len(b.Entries)-1].At.Sub(t.Begun))
	return t.Account
}

// teller makes an account.
type teller struct {
	Account

	began []time.Time // when each of its steps was told
	leg   int         // the first step of the backend that works now: each counts from 1
}

// step takes in a phase of a step. A notice may stand between the beginning of a
// step and its end; the step stands where it ended.
func (t *teller) step(s sessions.Step, at time.Time) {
	took := AccountStep{Step: s}
	for i := len(t.Steps) - 1; i >= t.leg && s.Phase == sessions.Done; i-- {
		if begun := t.Steps[i]; begun.N == s.N && begun.Phase == sessions.Begun {
			took.Millis = millis(at.Sub(t.began[i]))
			t.Steps, t.began = slices.Delete(t.Steps, i, i+1), slices.Delete(t.began, i, i+1)
			break
		}
	}
	t.Usage = t.Usage.Add(s.Usage)
	t.Steps, t.began = append(t.Steps, took), append(t.began, at)
}

func (t *teller) asked(model string) {
	if !slices.Contains(t.Models, model) {
		t.Models = append(t.Models, model)
	}
}
