package actiontable

import (
	"time"
	"unicode/utf8"
)

// Limit returns how long the action may take.
func (a Action) Limit() time.Duration {
	s, ok := a.spec()
	if !ok {
		return interaction.Default
	}
	steps, added := a.Conditions(), time.Duration(0)
	for _, p := range s.Params {
		if p.Effect == AddsTime {
			ms, _ := a.Value(p.Name).(int)
			added += milliseconds(ms, max(a.Count, 1))
		}
		if on, _ := a.Value(p.OnlyIf).(bool); p.PerRune > 0 && (on || p.OnlyIf == "") {
			text, _ := a.Value(p.Name).(string)
			added += time.Duration(utf8.RuneCountInString(text)) * p.PerRune
		}
	}
	if steps == 0 && (added == 0 || a.Kind != KindWait) {
		steps = 1
	}
	return time.Duration(steps)*a.StepLimit() + added
}

// Conditions counts what has the limit to itself: what a wait waits for besides time, or the fields of a fill.
func (a Action) Conditions() int {
	s, ok := a.spec()
	if !ok {
		return 0
	}
	n := 0
	for _, p := range s.Params {
		switch {
		case p.Effect != HasLimit:
		case p.Type == Entries:
			n += len(a.NamedFields())
		case a.has(p):
			n++
		}
	}
	return n
}

// StepLimit is how long each condition of a wait may take, each field of a fill, and of other actions the looking for
// their element.
func (a Action) StepLimit() time.Duration {
	limit := interaction
	if s, ok := a.spec(); ok && s.Limit != (Limit{}) {
		limit = s.Limit
	}
	if a.TimeoutMs <= 0 {
		return limit.Default
	}
	return min(max(milliseconds(a.TimeoutMs, 1), shortestLimit), limit.Longest)
}

// spec is the description of the action, wherever it can be asked for.
func (a Action) spec() (*Spec, bool) { return Lookup(API|Window, a.Kind) }

// milliseconds is n milliseconds so many times, but not more than an hour.
func milliseconds(n, times int) time.Duration {
	ms := max(0, float64(n)*float64(times))
	return time.Duration(min(ms, float64(time.Hour.Milliseconds()))) * time.Millisecond
}

// GuardTime is how long a server watches after each action for navigations that it led to.
const GuardTime = 250 * time.Millisecond

// Wait is how long the answer to a request to act may take to come.
type Wait struct {
	Actions  int           // a batch counts as those in it
	Limit    time.Duration // of all actions, one after the other
	Explicit bool          // the request itself says how long
}

// Total is the time of the actions and of what follows each of them.
func (w Wait) Total() time.Duration { return w.Limit + time.Duration(w.Actions)*GuardTime }

// WaitFor tells how long a server may take for the body of a request to act. What a server refuses counts little.
func WaitFor(body map[string]any) Wait {
	var w Wait
	w.add(body, 0)
	return w
}

func (w *Wait) add(body map[string]any, depth int) {
	kind, _ := ScalarText(body["kind"])
	if Kind(kind) == KindBatch {
		entries, _ := body["actions"].([]any)
		for _, entry := range entries {
			if one, ok := entry.(map[string]any); ok && depth < MaxBatchDepth && w.Actions < MaxBatchActions {
				w.add(one, depth+1)
			}
		}
		return
	}
	a := Action{Kind: Kind(kind)}
	if s, ok := Lookup(API, a.Kind); ok {
		values, _ := s.Read(API, body) // the server tells what is wrong
		a = s.Action(values)
	}
	w.Explicit = w.Explicit || a.TimeoutMs > 0 || a.TimeMs > 0
	w.Limit += a.Limit()
	w.Actions++
}
