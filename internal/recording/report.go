package recording

import (
	"slices"
	"time"

	"clank/llm"
	"clank/sessions"
)

// Report is an account of a run for people.
type Report struct {
	Task    sessions.Task `json:"task"`
	Session string        `json:"session"`
	Runtime string        `json:"runtime"`
	Models  []string      `json:"models,omitempty"`
	Begun   time.Time     `json:"begun"`
	Steps   []ReportStep  `json:"steps"`
	Usage   llm.Usage     `json:"usage"`
	Millis  float64       `json:"ms,omitempty"`
	Ended   string        `json:"ended,omitempty"` // why there is no answer
	Cut     bool          `json:"cut,omitempty"`   // the record is incomplete
	Dropped int           `json:"dropped_pictures,omitempty"`
	// Bare means that only the steps are known: the run was not recorded.
	Bare bool `json:"bare,omitempty"`
}

// ReportStep is a step and its duration.
type ReportStep struct {
	sessions.Step

	Millis float64 `json:"ms,omitempty"`
}

// Report returns an account of the run. A step without an end is included as begun.
func (b *Recording) Report() Report {
	begin := b.Start()
	t := reportBuilder{Report: Report{
		Task: begin.Task, Session: begin.Session, Runtime: begin.Runtime,
		Begun: b.Entries[0].At, Cut: b.Cut,
	}}
	for _, e := range b.Entries {
		switch e.Kind { //nolint:exhaustive // other kinds are details
		case KindBegin:
			t.Runtime, t.Ended, t.backendStart = e.Begin.Runtime, "", len(t.Steps)
		case KindCall:
			t.addModel(e.Call.Model)
		case KindTurn:
			t.addModel(e.Turn.Model)
		case KindEnd:
			t.Ended, t.Dropped = e.End.Error, e.End.Dropped
		case KindStep:
			t.addStep(*e.Step, e.At)
		}
	}
	t.Millis = milliseconds(b.Entries[len(b.Entries)-1].At.Sub(t.Begun))
	return t.Report
}

// reportBuilder builds a report.
type reportBuilder struct {
	Report

	began        []time.Time // start time of each step
	backendStart int         // index of the current backend's first step: each backend numbers its steps from 1
}

// addStep adds a phase of a step. A notice may come between the beginning and the end of a step; the step is placed
// where it ended.
func (t *reportBuilder) addStep(s sessions.Step, at time.Time) {
	took := ReportStep{Step: s}
	for i := len(t.Steps) - 1; i >= t.backendStart && s.Phase == sessions.PhaseDone; i-- {
		if begun := t.Steps[i]; begun.N == s.N && begun.Phase == sessions.PhaseBegun {
			took.Millis = milliseconds(at.Sub(t.began[i]))
			t.Steps, t.began = slices.Delete(t.Steps, i, i+1), slices.Delete(t.began, i, i+1)
			break
		}
	}
	t.Usage = t.Usage.Add(s.Usage)
	t.Steps, t.began = append(t.Steps, took), append(t.began, at)
}

func (t *reportBuilder) addModel(model string) {
	if !slices.Contains(t.Models, model) {
		t.Models = append(t.Models, model)
	}
}
