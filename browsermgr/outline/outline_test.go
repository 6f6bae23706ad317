package outline_test

import (
	"strings"
	"testing"

	"clank/browsermgr/outline"
)

func FuzzRef(f *testing.F) {
	for _, s := range []string{"e12", "@e12", "ref=e12", "[ref=e1]", "12", "f1e5", "F1E5", "ax3", "AX3", "ax", "fax1", "e", "f", "fe", "e0", "é"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		key, err := outline.ParseKey(s)
		if err != nil {
			return
		}
		if again, err := outline.ParseKey(key.String()); err != nil || again != key {
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
