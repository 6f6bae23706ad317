package browseagent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"clank/internal/untrusted"
	"clank/sessions"
	"clank/sessions/agent"
)

// observeTimeout limits reading the page after an action. It is short, because the page has just responded.
const observeTimeout = 10 * time.Second

// pageView is the page as the model last saw it.
type pageView struct {
	url, title  string
	lines       []string // nil if the next state must be shown whole
	statesShown int      // states shown since the last whole one, inclusive
	names       elementNames
}

// reset makes the next state be shown whole.
func (v *pageView) reset() { v.lines, v.statesShown = nil, 0 }

// update records the page state and returns the section that shows it to the model: the whole state if there is no
// previous one, too much has changed, or the last whole state is about to leave the conversation; else the changes.
func (v *pageView) update(text string, keep int) (section, body string) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	before := v.lines
	v.lines, v.names = lines, parseElements(lines)
	if before != nil && v.statesShown < keep {
		if diff, ok := diffLines(before, lines); ok && len(diff) <= len(text)*2/3 {
			if diff != "" {
				v.statesShown++
			}
			return sectionChanges, diff
		}
	}
	v.statesShown = 1
	if text == "" {
		v.reset()
	}
	return sectionPage, text
}

// sameDocument reports whether two URLs are equal apart from their fragments.
func sameDocument(a, b string) bool {
	a, _, _ = strings.Cut(a, "#")
	b, _, _ = strings.Cut(b, "#")
	return a == b
}

// observe adds the URL and the changes of the page to o. If the page cannot be read, that is a note, not a failure of
// the action.
func (r *run) observe(ctx context.Context, p sessions.Page, o *callOutcome) {
	ctx, cancel := context.WithTimeoutCause(ctx, observeTimeout, fmt.Errorf("no answer within %s", observeTimeout))
	defer cancel()
	r.locate(ctx, p, o)
	text, err := p.Snapshot(ctx, sessions.SnapshotOptions{MaxChars: r.set.SnapshotChars})
	if err != nil {
		r.state.view.reset()
		o.notes = append(o.notes, fmt.Sprintf("the page could not be read: %v", err))
		return
	}
	o.section, o.body = r.state.view.update(untrusted.Truncate(text, r.set.SnapshotChars), r.set.HistorySnapshots)
}

// locate adds the page's URL to o, and its title if that has changed.
func (r *run) locate(ctx context.Context, p sessions.Page, o *callOutcome) {
	v := &r.state.view
	at, title, _, err := p.State(ctx)
	if err != nil {
		o.url = v.url
		o.notes = append(o.notes, fmt.Sprintf("where the page is could not be read: %v", err))
		return
	}
	at = agent.WithoutCredentials(at)
	o.url = at
	if title != v.title {
		o.title = title
	}
	v.title = title
	if !sameDocument(v.url, at) {
		v.reset()
	}
	v.url = at
}

// maxDiffWork limits the comparison of two page states: the product of the numbers of differing lines on both sides.
const maxDiffWork = 1 << 20

// diffLines returns a unified diff from a to b without context lines; "" if they are equal. ok is false if they
// differ too much to compare.
func diffLines(a, b []string) (diff string, ok bool) {
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	endA, endB := len(a), len(b)
	for endA > start && endB > start && a[endA-1] == b[endB-1] {
		endA, endB = endA-1, endB-1
	}
	midA, midB := a[start:endA], b[start:endB]
	if len(midA)*len(midB) > maxDiffWork {
		return "", false
	}
	common := commonLengths(midA, midB)
	var out strings.Builder
	i, j := 0, 0
	for i < len(midA) || j < len(midB) {
		if i < len(midA) && j < len(midB) && midA[i] == midB[j] {
			i, j = i+1, j+1
			continue
		}
		i0, j0 := i, j
		for i < len(midA) || j < len(midB) {
			if i < len(midA) && j < len(midB) && midA[i] == midB[j] {
				break
			}
			if j == len(midB) || (i < len(midA) && common[i+1][j] >= common[i][j+1]) {
				i++
			} else {
				j++
			}
		}
		writeHunk(&out, start+i0, midA[i0:i], start+j0, midB[j0:j])
	}
	return out.String(), true
}

// commonLengths returns the length of the longest common subsequence of a[i:] and b[j:] for all i, j.
func commonLengths(a, b []string) [][]int32 {
	l := make([][]int32, len(a)+1)
	for i := range l {
		l[i] = make([]int32, len(b)+1)
	}
	for i, la := range slices.Backward(a) {
		for j, lb := range slices.Backward(b) {
			if la == lb {
				l[i][j] = l[i+1][j+1] + 1
			} else {
				l[i][j] = max(l[i+1][j], l[i][j+1])
			}
		}
	}
	return l
}

// writeHunk writes one hunk of a unified diff. By convention, an empty side has the number of the line before the
// change.
func writeHunk(out *strings.Builder, atA int, del []string, atB int, add []string) {
	if len(del) > 0 {
		atA++
	}
	if len(add) > 0 {
		atB++
	}
	fmt.Fprintf(out, "@@ -%d,%d +%d,%d @@\n", atA, len(del), atB, len(add))
	for _, l := range del {
		out.WriteString("-" + l + "\n")
	}
	for _, l := range add {
		out.WriteString("+" + l + "\n")
	}
}
