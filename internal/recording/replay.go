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

// DifferenceKind says in what a step differs.
type DifferenceKind string

// The kinds of difference.
const (
	DifferenceMissing DifferenceKind = "missing" // an element is not on the page
	DifferenceLabel   DifferenceKind = "label"   // the step does something else, or with something that is called otherwise
	DifferenceOutcome DifferenceKind = "outcome" // it worked then and fails now, or the other way round
	DifferenceText    DifferenceKind = "text"    // what was read
	DifferencePage    DifferenceKind = "page"    // what the page shows
	DifferenceAddress DifferenceKind = "address" // where the page is
	DifferenceTitle   DifferenceKind = "title"
)

// Difference is one way in which a step differs from the record. Both texts may be a page's.
type Difference struct {
	Kind DifferenceKind `json:"kind"`
	Was  string         `json:"was"`
	Is   string         `json:"is"`
}

// StepComparison is a step that was played.
type StepComparison struct {
	Step        int          `json:"step"`  // its number in the record; 0 = it is not in the record
	Label       string       `json:"label"` // as it is now
	Differences []Difference `json:"differences,omitempty"`
}

// ReplaySummary sums up a replay.
type ReplaySummary struct {
	Steps      int    `json:"steps"` // that were played
	Same       int    `json:"same"`
	Different  int    `json:"different"`
	NotReached int    `json:"not_reached,omitempty"`
	Ended      string `json:"ended,omitempty"` // why it ended early
}

// Matches reports whether all went as recorded.
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

// Replay plays the record with backend in a new session of that id, and tells each step as it has been played. What
// ends the replay early is part of the summary; the error is only the end of ctx.
func (p *Player) Replay(ctx context.Context, backend sessions.Backend, session string, tell func(StepComparison)) (ReplaySummary, error) {
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
		tell(f)
	}
	s.NotReached = max(0, len(p.acts)-s.Steps)
	return s, nil
}

// compareAct compares act i with the record.
func (p *Player) compareAct(i int, now sessions.Step) StepComparison {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i >= len(p.acts) {
		return StepComparison{Label: now.Label, Differences: []Difference{{DifferenceLabel, "nothing: the record has ended", now.Label}}}
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

// takeMissing returns what find has said about the element of this act.
func (p *Player) takeMissing(now sessions.Step) *Difference {
	d, found := p.missing[string(now.Input)]
	if !found {
		return nil
	}
	return &d
}

// hasTitle reports whether the title of the page was known: until it is, its address stands for it.
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

// maxDiffLines is how many lines of a page are shown that differ.
const maxDiffLines = 5

var refPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(` \[(?:ref=[a-z0-9]+|active)\]`) })

// comparePages compares what pages show, but for refs.
func (f *StepComparison) comparePages(was, is string) {
	a, b := strings.Split(refPattern().ReplaceAllString(was, ""), "\n"), strings.Split(refPattern().ReplaceAllString(is, ""), "\n")
	gone, came := linesMissingFrom(a, b), linesMissingFrom(b, a)
	if len(gone) > 0 || len(came) > 0 {
		f.Differences = append(f.Differences, Difference{DifferencePage, firstLines(gone), firstLines(came)})
	}
}

// linesMissingFrom returns the lines of a that b has not, as often as a has them.
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

// firstLines shows a few lines.
func firstLines(lines []string) string {
	if len(lines) == 0 {
		return "nothing more"
	}
	if len(lines) > maxDiffLines {
		return strings.Join(lines[:maxDiffLines], "\n") + fmt.Sprintf("\n… and %s more", countOf(len(lines)-maxDiffLines, "line"))
	}
	return strings.Join(lines, "\n")
}
