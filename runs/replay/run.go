package replay

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"clank/sessions"
)

// Kind says in what a step differs.
type Kind string

// The kinds of difference.
const (
	Missing Kind = "missing" // an element is not on the page
	Label   Kind = "label"   // the step does something else, or with something that is called otherwise
	Outcome Kind = "outcome" // it worked then and fails now, or the other way round
	Text    Kind = "text"    // what was read
	Page    Kind = "page"    // what the page shows
	Address Kind = "address" // where the page is
	Title   Kind = "title"
)

// Difference is one way in which a step differs from the record. Both texts may
// be a page's.
type Difference struct {
	Kind Kind   `json:"kind"`
	Was  string `json:"was"`
	Is   string `json:"is"`
}

// Finding is a step that was played.
type Finding struct {
	Step        int          `json:"step"`  // its number in the record; 0 = it is not in the record
	Label       string       `json:"label"` // as it is now
	Differences []Difference `json:"differences,omitempty"`
}

// Summary is what came of a replay.
type Summary struct {
	Steps      int    `json:"steps"` // that were played
	Same       int    `json:"same"`
	Different  int    `json:"different"`
	NotReached int    `json:"not_reached,omitempty"`
	Ended      string `json:"ended,omitempty"` // why it ended early
}

// Matches reports whether all went as recorded.
func (s Summary) Matches() bool { return s.Different == 0 && s.NotReached == 0 && s.Ended == "" }

// String is the summary for people.
func (s Summary) String() string {
	out := fmt.Sprintf("%s played: %d as recorded, %d different", count(s.Steps, "step"), s.Same, s.Different)
	if s.NotReached > 0 {
		out += fmt.Sprintf(", %d not reached", s.NotReached)
	}
	if s.Ended != "" {
		out += "; it ended early: " + s.Ended
	}
	return out
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Run plays the record with backend in a new session of that id, and tells each
// step as it has been played. What ends the replay early is part of the summary;
// the error is only the end of ctx.
func (p *Player) Run(ctx context.Context, backend sessions.Backend, session string, tell func(Finding)) (Summary, error) {
	var s Summary
	t := p.Task()
	t.ID, t.SessionID = "replay-"+session, session
	for step, err := range backend.Run(ctx, sessions.Session{ID: session, URL: p.to(p.begin.URL)}, t) {
		if ctx.Err() != nil {
			return s, context.Cause(ctx)
		}
		if err != nil {
			s.Ended = err.Error()
			break
		}
		if step.Kind != sessions.StepAct || step.Phase != sessions.Done {
			continue
		}
		f := p.compare(s.Steps, step)
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

// compare compares act i with the record.
func (p *Player) compare(i int, now sessions.Step) Finding {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i >= len(p.acts) {
		return Finding{Label: now.Label, Differences: []Difference{{Label, "nothing: the record has ended", now.Label}}}
	}
	was := p.acts[i]
	f := Finding{Step: was.N, Label: was.Label}
	missing := p.takeGone(now)
	if missing != nil {
		f.Differences = append(f.Differences, *missing)
	} else {
		f.add(Label, p.toLabel(was.Label), now.Label)
	}
	if was.Failed != now.Failed && (missing == nil || missing.Kind != Missing) {
		f.add(Outcome, outcome(was.Step), outcome(now))
	}
	if !was.Failed && !now.Failed && reads(now.Tool) {
		f.add(Text, p.to(was.Text), now.Text)
	}
	f.add(Address, p.to(was.URL), now.URL)
	if titled(was.Step) && titled(now) {
		f.add(Title, was.Title, now.Title)
	}
	if was.state != "" && p.live != "" {
		f.pages(p.to(was.state), p.live)
	}
	return f
}

// takeGone returns what find has said about the element of this act.
func (p *Player) takeGone(now sessions.Step) *Difference {
	d, found := p.gone[string(now.Input)]
	if !found {
		return nil
	}
	return &d
}

// titled reports whether the title of the page was known: until it is, its
// address stands for it.
func titled(s sessions.Step) bool {
	return s.Title != "" && strings.TrimSuffix(s.Title, "/") != strings.TrimSuffix(bare(s.URL), "/")
}

func reads(tool string) bool {
	return slices.Contains([]string{"browser_extract", "browser_links", "read_text"}, tool)
}

func outcome(s sessions.Step) string {
	if !s.Failed {
		return "done"
	}
	return "failed: " + s.Text
}

func (f *Finding) add(k Kind, was, is string) {
	if was != is {
		f.Differences = append(f.Differences, Difference{k, was, is})
	}
}

// maxLines is how many lines of a page are shown that differ.
const maxLines = 5

var refs = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(` \[(?:ref=[a-z0-9]+|active)\]`) })

// pages compares what pages show, but for refs.
func (f *Finding) pages(was, is string) {
	a, b := strings.Split(refs().ReplaceAllString(was, ""), "\n"), strings.Split(refs().ReplaceAllString(is, ""), "\n")
	gone, came := without(a, b), without(b, a)
	if len(gone) > 0 || len(came) > 0 {
		f.Differences = append(f.Differences, Difference{Page, some(gone), some(came)})
	}
}

// without are the lines of a that b has not, as often as a has them.
func without(a, b []string) []string {
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

// some shows a few lines.
func some(lines []string) string {
	if len(lines) == 0 {
		return "nothing more"
	}
	if len(lines) > maxLines {
		return strings.Join(lines[:maxLines], "\n") + fmt.Sprintf("\n… and %s more", count(len(lines)-maxLines, "line"))
	}
	return strings.Join(lines, "\n")
}
