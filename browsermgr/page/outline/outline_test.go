package outline_test

import (
	"strings"
	"testing"

	"clank/browsermgr/page/outline"
)

func FuzzRef(f *testing.F) {
	for _, s := range []string{"e12", "@e12", "ref=e12", "[ref=e1]", "12", "f1e5", "F1E5", "ax3", "AX3", "ax", "fax1", "e", "f", "fe", "e0", "é"} {
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
	for _, s := range []string{`- button "A" [ref=e1]`, `  - link "a\"b" [x] [ref=f1e2]: text [ref=e9]`, `- text: [ref=e1]`, `- `, `- a "`, `- a [`} {
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
		got := outline.Finish(page, outline.FinishOptions{MaxChars: limit, Query: query, Compare: true, Before: map[string]struct{}{"e1": {}}, StableRefs: own, Empty: "(empty)"})
		if n := outline.UTF16Len(got.Text); limit > 0 && n > limit {
			t.Errorf("got %d characters for a limit of %d", n, limit)
		}
		refs := outline.ListRefs(got.Text)
		if whole := outline.ListRefs(text); len(refs) > len(whole) {
			t.Errorf("got %d refs of %d", len(refs), len(whole))
		}
	})
}
