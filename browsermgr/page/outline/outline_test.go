package outline_test

import (
	"fmt"
	"strings"
	"testing"

	"clank/browsermgr/page/outline"
	"clank/internal/test/check"

	"github.com/google/go-cmp/cmp"
)

func FuzzRef(f *testing.F) {
	for _, s := range []string{
		"e12", "@e12", "ref=e12", "[ref=e1]", "12", "f1e5", "F1E5", "ax3", "AX3", "ax", "fax1", "e",
		"f", "fe", "e0", "é",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		key, err := outline.ParseRef(s)
		if err != nil {
			return
		}
		if again, err := outline.ParseRef(key.String()); err != nil || again != key {
			t.Errorf("%q is %v, which is %v, %v", s, key, again, err)
		}
	})
}

func FuzzSnapshotLine(f *testing.F) {
	for _, s := range []string{
		`- button "A" [ref=e1]`, `  - link "a\"b" [x] [ref=f1e2]: text [ref=e9]`,
		`- text: [ref=e1]`, `- `, `- a "`, `- a [`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		l, ok := outline.ScanLine(line)
		if ok && l.RefOf() != "" && !strings.Contains(line, "[ref="+l.RefOf()+"]") {
			t.Errorf("%q: ref %q is not in it", line, l.RefOf())
		}
	})
}

func FuzzCut(f *testing.F) {
	f.Add("- a\n- b\n- \U0001F600", 12)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		if limit < 1 || limit > 1<<16 {
			return
		}
		if got := outline.UTF16Len(outline.Cut(text, limit)); got > limit {
			t.Errorf("got %d characters for a limit of %d", got, limit)
		}
	})
}

func FuzzFinish(f *testing.F) {
	f.Add("- button \"A\" [ref=e1]: x\n  - link \"b\\\"\" [ref=e2] [nth=1]:\n- text: y", "b", 300, true)
	f.Add("- button \"A [new]\" [ref=e1] [new]", "", 12, false)
	f.Fuzz(func(t *testing.T, text, query string, limit int, own bool) {
		if limit < 0 || limit > 1<<16 {
			return
		}
		page := outline.Page{Text: text, Links: []outline.Link{{Text: "t", URL: "http://x/"}}}
		got := outline.Finish(page, outline.FinishOptions{
			MaxChars: limit, Query: query, Compare: true,
			Before: map[string]struct{}{"e1": {}}, StableRefs: own, Empty: "(empty)",
		})
		if n := outline.UTF16Len(got.Text); limit > 0 && n > limit {
			t.Errorf("got %d characters for a limit of %d", n, limit)
		}
		refs := outline.ListRefs(got.Text)
		if whole := outline.ListRefs(text); len(refs) > len(whole) {
			t.Errorf("got %d refs of %d", len(refs), len(whole))
		}
	})
}

// FuzzDelta applies the marks of a snapshot to the refs of the previous one: the remaining and the marked refs must be
// all that the snapshot has.
func FuzzDelta(f *testing.F) {
	f.Add("- button \"A\" [ref=e1]\n- link [ref=e2]: x",
		"- link [ref=e2]: [ref=e1]\n- text: [ref=e9]\n- img \"B [new]\" [ref=f1e1] [nth=1]:")
	f.Add("", "- button [ref=e1]\n- button [ref=e1]")
	f.Fuzz(func(t *testing.T, before, after string) {
		for _, stable := range []bool{true, false} {
			first := outline.Finish(outline.Page{Text: before}, outline.FinishOptions{Compare: true, StableRefs: stable})
			second := outline.Finish(outline.Page{Text: after},
				outline.FinishOptions{Compare: true, StableRefs: stable, Before: first.Elements})
			marked, lines := 0, strings.Split(second.Text, "\n")
			for i, line := range strings.Split(after, "\n") {
				was, ok := outline.ScanLine(line)
				if !ok || was.RefOf() == "" || was.IsNew() {
					continue
				}
				now, _ := outline.ScanLine(lines[i])
				if now.IsNew() {
					marked++
					line += " [new]"
				}
				if _, known := first.Elements[was.RefOf()]; stable && known == now.IsNew() {
					t.Errorf("known before: %t, and now it reads %q", known, lines[i])
				}
				if len(line) != len(lines[i]) {
					t.Errorf("got %q of %q", lines[i], line)
				}
			}
			if marked > second.New {
				t.Errorf("%d are marked of %d", marked, second.New)
			}
		}
	})
}

// framed returns a page with a same-process frame and an out-of-process one, numbered 5 and 7.
func framed() *outline.Piece {
	far := &outline.Piece{
		Text: "- button \"Far\" [ref=e1]\n- text: far", Number: func(int) int { return 7 },
		Links: []outline.Link{{Text: "Away", URL: "http://far/"}},
	}
	return &outline.Piece{
		Text: "- Iframe \"Near\" [ref=e1]:\n  - button \"[ref=e9]\" [ref=f1e1]: [ref=e9]\n- Iframe [ref=e2]\n- Iframe " +
			"\"Lost\" [ref=e3]\n- Iframe [ref=e4]",
		Slots: []outline.FrameSlot{
			{Ref: "e2", Line: 2, Depth: 1},
			{Ref: "e3", Line: 3, Depth: 1},
			{Ref: "e4", Line: 4, Depth: 1},
		},
		Number: func(document int) int {
			if document == 0 {
				return 0
			}
			return 5
		},
		Child: func(ref string) *outline.Piece {
			return map[string]*outline.Piece{"e2": far, "e3": {Failed: true}}[ref]
		},
	}
}

// join composes and finishes a page.
func join(p *outline.Piece, opts outline.ComposeOptions, f outline.FinishOptions) (string, bool) {
	done := outline.Finish(outline.Compose(p, opts), f)
	return done.Text, done.Truncated
}

func TestComposePutsFramesInTheirPlaces(t *testing.T) {
	zero := 0
	for name, tt := range map[string]struct {
		opts outline.ComposeOptions
		want string
	}{
		"nested": {outline.ComposeOptions{}, "- Iframe \"Near\" [ref=e1]:\n  - button \"[ref=e9]\" [ref=f5e1]: [ref=e9]\n- " +
			"Iframe [ref=e2]:\n  - button \"Far\" [ref=f7e1]\n  - text: far\n- Iframe \"Lost\" [ref=e3]:\n  - text: (this " +
			"frame did not answer)\n- Iframe [ref=e4]:\n  - text: (this frame was not read: it has not loaded, or " +
			"there was no time)\n\nLinks:\n1. Away -> http://far/"},
		"shallow": {
			outline.ComposeOptions{Depth: &zero},
			"- Iframe \"Near\" [ref=e1]:\n- Iframe [ref=e2]\n- Iframe \"Lost\" [ref=e3]\n- Iframe [ref=e4]\n\nLinks:\n1. Away " +
				"-> http://far/",
		},
	} {
		text, truncated := join(framed(), tt.opts, outline.FinishOptions{})
		if d := cmp.Diff(tt.want, text); d != "" || truncated {
			t.Errorf("%s: truncated %v (-want +got)\n%s", name, truncated, d)
		}
	}
	flat, _ := join(framed(), outline.ComposeOptions{Flat: true}, outline.FinishOptions{})
	check.Contains(t, flat, "- Iframe [ref=e2]\n- button \"Far\" [ref=f7e1]")
}

func TestRoleRefsTellEqualsApart(t *testing.T) {
	page := outline.Page{Text: "- button \"Go\" [ref=e1]\n- button \"Go\" [disabled] [ref=f1e2] [onclick]: x\n- link " +
		"\"Go\" [ref=e3]\n- button \"Go\" [ref=e4]:\n  - text: [ref=e5]"}
	want := "- button \"Go\" [ref=e1]\n- button \"Go\" [disabled] [ref=f1e2] [nth=1] [onclick]: x\n- link \"Go\" " +
		"[ref=e3]\n- button \"Go\" [ref=e4] [nth=2]:\n  - text: [ref=e5]"
	if d := cmp.Diff(want, outline.Finish(page, outline.FinishOptions{Nth: true}).Text); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestFinishSaysWhenThereIsNothingOrTooMuch(t *testing.T) {
	if text, cut := join(&outline.Piece{}, outline.ComposeOptions{},
		outline.FinishOptions{Empty: "(empty)"}); text != "(empty)" || cut {
		t.Errorf("got %q, %v", text, cut)
	}
	long := &outline.Piece{Text: strings.Repeat("- text: row\n", 100)}
	text, cut := join(long, outline.ComposeOptions{}, outline.FinishOptions{MaxChars: 400})
	if !cut || len(text) > 400 || !strings.HasPrefix(text, "- text: row\n") ||
		!strings.HasSuffix(text, "- text: … 80 more texts like these\n") {
		t.Errorf("got %q, %v", text, cut)
	}
	long.Text, long.Stopped = strings.TrimSuffix(long.Text, "\n"), true
	text, _ = join(long, outline.ComposeOptions{}, outline.FinishOptions{MaxChars: 600})
	check.Contains(t, text, "- text: … at least 80 more texts like these\n")
	if _, cut := join(&outline.Piece{Text: "- text: x", Stopped: true}, outline.ComposeOptions{},
		outline.FinishOptions{MaxChars: 400}); !cut {
		t.Error("a piece that stopped at the limit passes for the whole")
	}
}

func TestFinishMarksWhatIsNew(t *testing.T) {
	first := outline.Page{Text: "- button \"A\" [ref=e1]\n- text: x"}
	done := outline.Finish(first, outline.FinishOptions{Compare: true})
	if done.Text != first.Text || done.New != 0 || len(done.Elements) != 1 {
		t.Errorf("got %+v, want the first one unmarked", done)
	}
	second := outline.Page{Text: "- button \"B\" [ref=e1]: v [new]\n- button \"A\" [ref=e2]\n- button \"A\" [ref=e3] " +
		"[nth=1]:\n  - text: [new]"}
	for _, tt := range []struct {
		name string
		f    outline.FinishOptions
		want string
		n    int
	}{
		{"by name", outline.FinishOptions{Before: done.Elements}, "- button \"B\" [ref=e1] [new]: v [new]\n- button \"A\" " +
			"[ref=e2]\n- button \"A\" [ref=e3] [nth=1] [new]:\n  - text: [new]\n\n2 new element(s) since last snapshot", 2},
		{
			"by ref",
			outline.FinishOptions{Before: map[string]struct{}{"e1": {}, "e2": {}}, StableRefs: true},
			"- button \"B\" [ref=e1]: v [new]\n- button \"A\" [ref=e2]\n" +
				"- button \"A\" [ref=e3] [nth=1] [new]:\n  - text: [new]\n\n1 new element(s) since last snapshot", 1,
		},
		{
			"nothing new",
			outline.FinishOptions{Before: map[string]struct{}{"e1": {}, "e2": {}, "e3": {}}, StableRefs: true},
			second.Text, 0,
		},
	} {
		tt.f.Compare = true
		got := outline.Finish(second, tt.f)
		if d := cmp.Diff(tt.want, got.Text); d != "" || got.New != tt.n {
			t.Errorf("%s: got %d new (-want +got)\n%s", tt.name, got.New, d)
		}
	}
}

func TestFinishKeepsWithinTheLimitWithMarksAndFooter(t *testing.T) {
	page := outline.Page{Text: strings.TrimSuffix(strings.Repeat("- button \"A\" [ref=e1]\n", 100), "\n")}
	for _, limit := range []int{1, 30, 120, 260, 1000, 5000} {
		got := outline.Finish(page, outline.FinishOptions{MaxChars: limit, Compare: true, Before: map[string]struct{}{}})
		if len(got.Text) > limit+2 || got.Truncated != (limit < 5000) { // an ellipsis has three bytes
			t.Errorf("limit %d: got %d bytes, truncated %v", limit, len(got.Text), got.Truncated)
		}
		if n := strings.Count(got.Text, "[new]"); n != got.New {
			t.Errorf("limit %d: got %d new, %d to be seen", limit, got.New, n)
		}
	}
}

func TestFinishFiltersLines(t *testing.T) {
	page := outline.Page{Text: "- list:\n  - button \"Add to cart\" [ref=e1]\n  - button \"Add\" [ref=e2]"}
	check.Equal(t, "text", outline.Finish(page,
		outline.FinishOptions{Query: " CART button "}).Text, "  - button \"Add to cart\" [ref=e1]")
	check.Equal(t, "text", outline.Finish(page, outline.FinishOptions{Query: "lamp"}).Text,
		"(no line matches the query)")
}

func TestRefsCountEqualNames(t *testing.T) {
	got := outline.ListRefs("- button \"Go\" [ref=e1]\n- list:\n  - button \"Go\" [disabled] [ref=e2]: x [ref=e5]\n  - " +
		"link \"a\\\"b\" [ref=f1e3]\n- text: [ref=e4]\n- Iframe \"x\" [ref=e9] [nth=2]")
	want := []outline.Ref{
		{Ref: "e1", Role: "button", Name: "Go", Dup: true},
		{Ref: "e2", Role: "button", Name: "Go", Nth: 1, Dup: true},
		{Ref: "f1e3", Role: "link", Name: `a"b`},
		{Ref: "e9", Role: "iframe", Name: "x", Nth: 2, Dup: true},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestRefMapAndStats(t *testing.T) {
	text := "- button \"Go\" [ref=e1]\n- button \"Go\" [ref=e2] [nth=1]\n- heading \"\U0001F600\" [ref=e3]"
	zero, one := 0, 1
	refs := outline.ListRefs(text)
	want := map[string]outline.RefInfo{
		"e1": {Role: "button", Name: "Go", Nth: &zero}, "e2": {Role: "button", Name: "Go", Nth: &one},
		"e3": {Role: "heading", Name: "\U0001F600"},
	}
	if d := cmp.Diff(want, outline.RefsByName(refs)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	check.Equal(t, "measure text", outline.MeasureText(text, refs),
		outline.Stats{Lines: 3, Chars: len(text) - 2, Refs: 3, Interactive: 2})
}

func TestClipCountsUTF16(t *testing.T) {
	for _, tt := range []struct {
		text  string
		limit int
		want  string
		cut   bool
	}{
		{"abc", 0, "abc", false},
		{"abc", 3, "abc", false},
		{"abc", 2, "ab", true},
		{"a\U0001F600b", 2, "a", true},
		{"\U0001F600", 2, "\U0001F600", false},
	} {
		if got, cut := outline.ClipText(tt.text, tt.limit); got != tt.want || cut != tt.cut {
			t.Errorf("%q to %d: got %q, %v", tt.text, tt.limit, got, cut)
		}
	}
}

// wide returns a numbered page of about 4n refs.
func wide(n int) outline.Page {
	var b strings.Builder
	b.WriteString("- table:")
	for i := range n {
		fmt.Fprintf(&b, "\n  - row:\n    - cell \"Row %d\" [ref=e%d]\n    - cell:\n      - link \"Open %d\" [ref=e%d]\n    "+
			"- button \"Edit\" [ref=e%d] [nth=%d]\n    - cell \"note %d\" [ref=e%d]",
			i, 4*i+1, i, 4*i+2, 4*i+3, i, i, 4*i+4)
	}
	return outline.Page{Text: b.String()}
}

func BenchmarkRefs(b *testing.B) {
	page := wide(7000)
	for b.Loop() {
		outline.RefsByName(outline.ListRefs(page.Text))
	}
}

func BenchmarkCompare(b *testing.B) {
	page := wide(7000)
	before := outline.Finish(page, outline.FinishOptions{Compare: true}).Elements
	for b.Loop() {
		outline.Finish(page, outline.FinishOptions{Compare: true, Before: before})
	}
}
