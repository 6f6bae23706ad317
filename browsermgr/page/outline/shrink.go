package outline

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// shrinkSteps are tried in order until the page fits: long texts are clipped, runs of similar siblings without refs are
// folded, then those with refs, and finally text without refs is omitted. Text is always given up before elements that
// can be acted on.
var shrinkSteps = []shrinkStep{
	{clip: 1000},
	{clip: 300},
	{clip: 120},
	{clip: 120, texts: 20},
	{clip: 60, texts: 5},
	{clip: 60, texts: 5, runs: 200},
	{clip: 60, texts: 5, runs: 100},
	{clip: 60, texts: 5, runs: 50},
	{clip: 60, texts: 3, runs: 20},
	{clip: 60, texts: 3, runs: 10},
	{clip: 60, texts: 1, runs: 5},
	{clip: 60, texts: 1, runs: 5, refsOnly: true},
}

// shrinkStep says what to give up: texts are clipped to clip characters; of a run of siblings without refs, texts are
// kept, and of one with refs, runs (0: all).
type shrinkStep struct {
	clip, texts, runs int
	refsOnly          bool
}

// shrink returns a text of at most limit UTF-16 units that still shows the whole page as far as possible. stopped says
// that the page goes on after the text.
func shrink(text string, limit int, stopped bool) string {
	lines := splitOutline(text)
	for _, step := range shrinkSteps {
		if text = step.apply(lines, stopped); utf16Len(text) <= limit {
			break
		}
	}
	return text
}

// outlineLine is a line with its block: the line itself and the lines below it.
type outlineLine struct {
	nodeLine
	level    int
	blockEnd int    // index after the block
	refs     int    // number of refs in its block
	lastRef  string // last ref in its block
}

// splitOutline parses the structure of a snapshot.
func splitOutline(text string) []outlineLine {
	given := strings.Split(text, "\n")
	lines := make([]outlineLine, len(given))
	var open []int
	for i, text := range given {
		l := &lines[i]
		l.nodeLine, _ = scanLine(text)
		l.text, l.level = text, (len(text)-len(strings.TrimLeft(text, " ")))/2
		for len(open) > 0 && lines[open[len(open)-1]].level >= l.level {
			open = closeBlock(lines, open, i)
		}
		open = append(open, i)
		if l.refStart > 0 {
			l.refs, l.lastRef = 1, l.ref()
		}
	}
	for len(open) > 0 {
		open = closeBlock(lines, open, len(lines))
	}
	return lines
}

func closeBlock(lines []outlineLine, open []int, end int) []int {
	l := &lines[open[len(open)-1]]
	l.blockEnd = end
	open = open[:len(open)-1]
	if len(open) > 0 && l.refs > 0 {
		parent := &lines[open[len(open)-1]]
		parent.refs, parent.lastRef = parent.refs+l.refs, l.lastRef
	}
	return open
}

func (s shrinkStep) apply(lines []outlineLine, stopped bool) string {
	var out []string
	for i := 0; i < len(lines); {
		l := lines[i]
		if s.refsOnly && l.refs == 0 {
			i = l.blockEnd
			continue
		}
		if keep := s.kept(l); keep > 0 {
			if n, end := run(lines, i); n > keep {
				count := strconv.Itoa(n - keep)
				if stopped && end == len(lines) {
					count = "at least " + count
				}
				out = append(out, s.fold(lines, i, keep, count)...)
				i = end
				continue
			}
		}
		out = append(out, clipLine(l, s.clip))
		i++
	}
	return strings.Join(out, "\n")
}

// kept returns how many lines of a run are kept; 0 means all.
func (s shrinkStep) kept(l outlineLine) int {
	if l.refs == 0 {
		return s.texts
	}
	return s.runs
}

// run counts the similar siblings from an index on: of the same role, and all with or all without refs.
func run(lines []outlineLine, from int) (n, end int) {
	first := lines[from]
	for i := from; i < len(lines); i = lines[i].blockEnd {
		l := lines[i]
		if l.level != first.level || l.role != first.role || (l.refs == 0) != (first.refs == 0) {
			return n, i
		}
		n, end = n+1, l.blockEnd
	}
	return n, end
}

// fold returns the first keep blocks of a run and a line that tells how many others there are.
func (s shrinkStep) fold(lines []outlineLine, from, keep int, others string) []string {
	i, last := from, ""
	for range keep {
		if ref := lines[i].lastRef; ref != "" {
			last = ref
		}
		i = lines[i].blockEnd
	}
	var out []string
	for _, l := range lines[from:i] {
		if !s.refsOnly || l.refs > 0 {
			out = append(out, clipLine(l, s.clip))
		}
	}
	more := fmt.Sprintf("%s- text: … %s more %s like these", strings.Repeat("  ", lines[from].level), others,
		plural(lines[from].role))
	if last != "" {
		more += ": take a snapshot with after=" + last
	}
	return append(out, more)
}

func plural(role string) string {
	switch {
	case role == "" || role == "text":
		return "texts"
	case strings.HasSuffix(role, "x") || strings.HasSuffix(role, "ch"):
		return role + "es"
	}
	return role + "s"
}

// clippedText matches the end of a clipped text.
var clippedText = regexp.MustCompile(`… \((\d+) characters\)$`)

// clipLine clips the text at the end of a line and adds its length.
func clipLine(l outlineLine, limit int) string {
	rest, ok := strings.CutPrefix(l.text[l.end:], ": ")
	if !ok || len(rest) <= limit {
		return l.text
	}
	head, text := l.text[:len(l.text)-len(rest)], rest
	quoted := json.Unmarshal([]byte(rest), &text) == nil
	length := utf16Len(text)
	if m := clippedText.FindStringSubmatch(text); m != nil {
		_, _ = fmt.Sscan(m[1], &length) // only digits
		text = strings.TrimSuffix(text, m[0])
	}
	short, cut := ClipText(text, limit)
	if !cut {
		return l.text
	}
	short = fmt.Sprintf("%s… (%d characters)", short, length)
	if quoted {
		if j, err := json.Marshal(short); err == nil {
			short = string(j)
		}
	}
	return head + short
}

// linesAfter returns the lines after the one with a ref, preceded by that line's ancestors; ok is false if no line has
// it.
func linesAfter(text, ref string) (rest string, ok bool) {
	lines := strings.Split(text, "\n")
	at := -1
	for i, line := range lines {
		if l, isNode := scanLine(line); isNode && l.refStart > 0 && l.ref() == ref {
			at = i
			break
		}
	}
	if at < 0 {
		return "", false
	}
	level := func(i int) int { return len(lines[i]) - len(strings.TrimLeft(lines[i], " ")) }
	var above []string
	if at+1 < len(lines) {
		for i, next := at, level(at+1); i >= 0; i-- {
			if level(i) < next {
				above, next = append([]string{lines[i]}, above...), level(i)
			}
		}
	}
	return strings.Join(append(above, lines[at+1:]...), "\n"), true
}
