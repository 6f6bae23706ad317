package recording

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"clank/sessions"
)

// DifferenceKind is the aspect in which a step differs.
type DifferenceKind string

// Kinds of difference.
const (
	DifferenceMissing DifferenceKind = "missing" // an element is not on the page
	DifferenceLabel   DifferenceKind = "label"   // the action, or the name of its element, differs
	DifferenceOutcome DifferenceKind = "outcome" // it succeeded then and fails now, or vice versa
	DifferenceText    DifferenceKind = "text"    // the text that was read
	DifferencePage    DifferenceKind = "page"    // the content of the page
	DifferenceAddress DifferenceKind = "address" // the address of the page
	DifferenceTitle   DifferenceKind = "title"
)

// Difference is one way in which a step differs from the record. Both texts may come from a page.
type Difference struct {
	Kind DifferenceKind `json:"kind"`
	Was  string         `json:"was"`
	Is   string         `json:"is"`
}

// StepComparison is a replayed step.
type StepComparison struct {
	Step        int          `json:"step"`  // its number in the record; 0 if it is not in the record
	Label       string       `json:"label"` // of the replayed step
	Differences []Difference `json:"differences,omitempty"`
}

// ReplaySummary summarizes a replay.
type ReplaySummary struct {
	Steps      int    `json:"steps"` // number of replayed steps
	Same       int    `json:"same"`
	Different  int    `json:"different"`
	NotReached int    `json:"not_reached,omitempty"`
	Ended      string `json:"ended,omitempty"` // why it ended early
}

// Matches reports whether everything went as recorded.
func (s ReplaySummary) Matches() bool { return s.Different == 0 && s.NotReached == 0 && s.Ended == "" }

// String returns the summary for people.
func (s ReplaySummary) String() string {
	out := fmt.Sprintf("%s played: %d as recorded, %d different", countOf(s.Steps, "step"), s.Same, s.Different)
	if s.NotReached > 0 {
		out += fmt.Sprintf(", %d not reached", s.NotReached)
	}
	if s.Ended != "" {
		out += "; it ended early: " + s.Ended
	}
	return out
}

func countOf(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Replay replays the record with backend in a new session with the given id, and calls report after each step. What
// ends the replay early is part of the summary; an error is returned only if ctx ends.
func (p *Player) Replay(ctx context.Context, backend sessions.Backend, session string,
	report func(StepComparison),
) (ReplaySummary, error) {
	var s ReplaySummary
	t := p.Task()
	t.ID, t.SessionID = "replay-"+session, session
	for step, err := range backend.Run(ctx, sessions.Session{ID: session, URL: p.mapAddresses(p.begin.URL)}, t) {
		if ctx.Err() != nil {
			return s, context.Cause(ctx)
		}
		if err != nil {
			s.Ended = err.Error()
			break
		}
		if step.Kind != sessions.StepAct || step.Phase != sessions.PhaseDone {
			continue
		}
		f := p.compareAct(s.Steps, step)
		s.Steps++
		if len(f.Differences) == 0 {
			s.Same++
		} else {
			s.Different++
		}
		report(f)
	}
	s.NotReached = max(0, len(p.acts)-s.Steps)
	return s, nil
}

// compareAct compares action i with the record.
func (p *Player) compareAct(i int, now sessions.Step) StepComparison {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i >= len(p.acts) {
		return StepComparison{
			Label:       now.Label,
			Differences: []Difference{{DifferenceLabel, "nothing: the record has ended", now.Label}},
		}
	}
	was := p.acts[i]
	f := StepComparison{Step: was.N, Label: was.Label}
	missing := p.takeMissing(now)
	if missing != nil {
		f.Differences = append(f.Differences, *missing)
	} else {
		f.add(DifferenceLabel, p.mapLabel(was.Label), now.Label)
	}
	if was.Failed != now.Failed && (missing == nil || missing.Kind != DifferenceMissing) {
		f.add(DifferenceOutcome, stepOutcome(was.Step), stepOutcome(now))
	}
	if !was.Failed && !now.Failed && isReadTool(now.Tool) {
		f.add(DifferenceText, p.mapAddresses(was.Text), now.Text)
	}
	f.add(DifferenceAddress, p.mapAddresses(was.URL), now.URL)
	if hasTitle(was.Step) && hasTitle(now) {
		f.add(DifferenceTitle, was.Title, now.Title)
	}
	if was.state != "" && p.liveState != "" {
		f.comparePages(p.mapAddresses(was.state), p.liveState)
	}
	return f
}

// takeMissing returns the difference that findRef found for the element of this action.
func (p *Player) takeMissing(now sessions.Step) *Difference {
	d, found := p.missing[string(now.Input)]
	if !found {
		return nil
	}
	return &d
}

// hasTitle reports whether the step has the title of the page; until the title is known, the address takes its place.
func hasTitle(s sessions.Step) bool {
	return s.Title != "" && strings.TrimSuffix(s.Title, "/") != strings.TrimSuffix(withoutScheme(s.URL), "/")
}

func isReadTool(tool string) bool {
	return slices.Contains([]string{"browser_extract", "browser_links", "read_text"}, tool)
}

func stepOutcome(s sessions.Step) string {
	if !s.Failed {
		return "done"
	}
	return "failed: " + s.Text
}

func (f *StepComparison) add(k DifferenceKind, was, is string) {
	if was != is {
		f.Differences = append(f.Differences, Difference{k, was, is})
	}
}

// maxDiffLines is the number of differing lines shown.
const maxDiffLines = 5

var refPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(` \[(?:ref=[a-z0-9]+|active)\]`) })

// comparePages compares page states, ignoring refs.
func (f *StepComparison) comparePages(was, is string) {
	a, b := strings.Split(refPattern().ReplaceAllString(was, ""), "\n"),
		strings.Split(refPattern().ReplaceAllString(is, ""), "\n")
	gone, came := linesMissingFrom(a, b), linesMissingFrom(b, a)
	if len(gone) > 0 || len(came) > 0 {
		f.Differences = append(f.Differences, Difference{DifferencePage, firstLines(gone), firstLines(came)})
	}
}

// linesMissingFrom returns the lines of a that b lacks, counting duplicates.
func linesMissingFrom(a, b []string) []string {
	have := make(map[string]int, len(b))
	for _, l := range b {
		have[strings.TrimSpace(l)]++
	}
	var rest []string
	for _, l := range a {
		l = strings.TrimSpace(l)
		if have[l]--; have[l] < 0 && l != "" {
			rest = append(rest, l)
		}
	}
	return rest
}

// firstLines returns the first few lines for display.
func firstLines(lines []string) string {
	if len(lines) == 0 {
		return "nothing more"
	}
	if len(lines) > maxDiffLines {
		return strings.Join(lines[:maxDiffLines], "\n") +
			fmt.Sprintf("\n… and %s more", countOf(len(lines)-maxDiffLines, "line"))
	}
	return strings.Join(lines, "\n")
}
