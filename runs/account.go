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
	a := Account{Task: begin.Task, Session: begin.Session, Runtime: begin.Runtime, Begun: b.Entries[0].At, Cut: b.Cut}
	var started time.Time
	for _, e := range b.Entries {
		switch e.Kind { //nolint:exhaustive // the others are details
		case KindBegin:
			a.Runtime, a.Ended = e.Begin.Runtime, ""
		case KindCall:
			a.asked(e.Call.Model)
		case KindTurn:
			a.asked(e.Turn.Model)
		case KindEnd:
			a.Ended, a.Dropped = e.End.Error, e.End.Dropped
		case KindStep:
			s := AccountStep{Step: *e.Step}
			last := len(a.Steps) - 1
			if last >= 0 && a.Steps[last].N == s.N && a.Steps[last].Phase == sessions.Begun {
				s.Millis = millis(e.At.Sub(started))
				a.Steps = a.Steps[:last]
			}
			started = e.At
			a.Usage = a.Usage.Add(s.Usage)
			a.Steps = append(a.Steps, s)
		}
	}
	a.Millis = millis(b.Entries[len(b.Entries)-1].At.Sub(a.Begun))
	return a
}

func (a *Account) asked(model string) {
	if !slices.Contains(a.Models, model) {
		a.Models = append(a.Models, model)
	}
}
