package outline_test

import (
	"fmt"
	"strings"
	"testing"

	"clank/browsermgr/page/outline"

	"github.com/google/go-cmp/cmp"
)

// catalogue returns a long text, a list of plain items, rows with a button each, and a button at the end.
func catalogue(rows int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "- paragraph: %s\n- list:\n", strings.Repeat("long text ", 500))
	for i := range 40 {
		fmt.Fprintf(&b, "  - listitem: plain %d\n", i)
	}
	b.WriteString("- table:\n")
	for i := range rows {
		fmt.Fprintf(&b, "  - row:\n    - cell \"%d\" [ref=e%d]\n    - button \"Delete\" [ref=e%d]\n", i, 2*i+1, 2*i+2)
	}
	b.WriteString("- button \"At the end\" [ref=e9999]")
	return b.String()
}

func TestWhatIsTooLongIsClippedAndFoldedNotCut(t *testing.T) {
	long := "- paragraph: " + strings.Repeat("x", 90000) + "\n- button \"Go\" [ref=e1]"
	done := outline.Finish(outline.Page{Text: long}, outline.FinishOptions{MaxChars: 8000})
	want := "- paragraph: " + strings.Repeat("x", 1000) + "… (90000 characters)\n- button \"Go\" [ref=e1]"
	if d := cmp.Diff(want, done.Text); d != "" || !done.Truncated {
		t.Errorf("truncated %v (-want +got)\n%s", done.Truncated, d)
	}
	for _, tt := range []struct {
		limit int
		want  []string
	}{
		{9000, []string{"(5000 characters)", "plain 39", "[ref=e200]", "At the end"}},
		{7400, []string{"plain 4\n", "… 35 more listitems like these\n", "[ref=e200]", "At the end"}},
		{2000, []string{"… 37 more listitems like these\n", "[ref=e40]", "… 80 more rows like these: take a snapshot with " +
			"after=e40\n", "At the end"}},
		{600, []string{"… 95 more rows like these: take a snapshot with after=e10\n", "At the end"}},
	} {
		got := outline.Finish(outline.Page{Text: catalogue(100)}, outline.FinishOptions{MaxChars: tt.limit})
		if len(got.Text) > tt.limit+20 {
			t.Errorf("%d: got %d characters", tt.limit, len(got.Text))
		}
		for _, want := range tt.want {
			if !strings.Contains(got.Text, want) {
				t.Errorf("%d: no %q in\n%s", tt.limit, want, got.Text)
			}
		}
	}
}

func TestAfterGoesOnBelowTheSameAncestors(t *testing.T) {
	got := outline.Finish(outline.Page{Text: catalogue(4)}, outline.FinishOptions{After: "e4"})
	want := "- table:\n  - row:\n    - cell \"2\" [ref=e5]\n    - button \"Delete\" [ref=e6]\n  - row:\n    - cell " +
		"\"3\" [ref=e7]\n    - button \"Delete\" [ref=e8]\n- button \"At the end\" [ref=e9999]"
	if d := cmp.Diff(want, got.Text); d != "" || got.Missing {
		t.Errorf("(-want +got)\n%s", d)
	}
	if got := outline.Finish(outline.Page{Text: catalogue(4)}, outline.FinishOptions{After: "e4711"}); !got.Missing {
		t.Errorf("got %q for a ref that is not there", got.Text)
	}
}

// FuzzShrink folds pages of all shapes: the result must have no ref twice and no new ones, and following the refs named
// in folds must show everything.
func FuzzShrink(f *testing.F) {
	f.Add(catalogue(30), 1500)
	f.Add("- a [ref=e1]:\n      - b\n- c", 20)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		if limit < 1 || limit > 1<<16 {
			return
		}
		got := outline.Shrink(text, limit, false)
		had := map[string]int{}
		for _, r := range outline.ListRefs(text) {
			had[r.Ref]++
		}
		for _, r := range outline.ListRefs(got) {
			if had[r.Ref]--; had[r.Ref] < 0 {
				t.Fatalf("ref %s more often than before in\n%s", r.Ref, got)
			}
		}
	})
}
