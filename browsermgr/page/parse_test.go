package page_test

import (
	"clank/browsermgr/page"
	"strings"
	"testing"
)

func FuzzRef(f *testing.F) {
	for _, s := range []string{"e12", "@e12", "ref=e12", "[ref=e1]", "12", "f1e5", "F1E5", "e", "f", "fe", "e0", "é"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		key, err := page.ParseRef(s)
		if err != nil {
			return
		}
		if again, err := page.ParseRef(key.String()); err != nil || again != key {
			t.Errorf("%q is %v, which is %v, %v", s, key, again, err)
		}
	})
}

func FuzzChord(f *testing.F) {
	for _, s := range []string{"a", "+", "Control++", "Shift+Tab", "++", "", "ctrl+alt+del", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		chord, err := page.ParseChord(s)
		if err == nil && chord.Events() < 2 {
			t.Errorf("%q gives %d events", s, chord.Events())
		}
	})
}

func TestGlob(t *testing.T) {
	tests := []struct {
		pattern, url string
		want         bool
	}{
		{"http://a.com/x", "http://a.com/x", true},
		{"http://a.com", "http://a.com/", true},
		{"http://a.com/x", "http://a.com/xy", false},
		{"http://a.com/*", "http://a.com/x", true},
		{"http://a.com/*", "http://a.com/x/y", false},
		{"**/y", "http://a.com/x/y", true},
		{"**?id=*", "http://a.com/x?id=5", true},
		{"**", "about:blank", true},
	}
	for _, tt := range tests {
		match, err := page.GlobMatcher(tt.pattern)
		if err != nil || match(tt.url) != tt.want {
			t.Errorf("%q on %q: got %v, %v; want %v", tt.pattern, tt.url, !tt.want, err, tt.want)
		}
	}
}

func FuzzGlob(f *testing.F) {
	f.Add("http://a/*", "http://a/b")
	f.Add("***[(", "x")
	f.Fuzz(func(t *testing.T, pattern, url string) {
		match, err := page.GlobMatcher(pattern)
		if err != nil {
			return
		}
		match(url)
		if !strings.Contains(pattern, "*") && !match(pattern) {
			t.Errorf("%q does not match itself", pattern)
		}
	})
}

func FuzzSnapshotLine(f *testing.F) {
	for _, s := range []string{`- button "A" [ref=e1]`, `  - link "a\"b" [x] [ref=f1e2]: text [ref=e9]`, `- text: [ref=e1]`, `- `, `- a "`, `- a [`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		l, ok := page.ScanLine(line)
		if ok && l.RefOf(line) != "" && !strings.Contains(line, "[ref="+l.RefOf(line)+"]") {
			t.Errorf("%q: ref %q is not in it", line, l.RefOf(line))
		}
	})
}

func FuzzCut(f *testing.F) {
	f.Add("- a\n- b\n- \U0001F600", 12)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		if limit < 1 || limit > 1<<16 {
			return
		}
		if got := page.UTF16Len(page.Cut(text, limit)); got > limit {
			t.Errorf("got %d characters for a limit of %d", got, limit)
		}
	})
}
