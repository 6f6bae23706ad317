package outline_test

import (
	"strings"
	"testing"

	"clank/browsermgr/outline"

	"github.com/google/go-cmp/cmp"
)

// framed is a page with a frame of its own process and one of another, numbered 5 and 7.
func framed() *outline.Piece {
	far := &outline.Piece{
		Text: "- button \"Far\" [ref=e1]\n- text: far", Number: func(int) int { return 7 },
		Links: []outline.Link{{Text: "Away", URL: "http://far/"}},
	}
	return &outline.Piece{
		Text:  "- Iframe \"Near\" [ref=e1]:\n  - button \"[ref=e9]\" [ref=f1e1]: [ref=e9]\n- Iframe [ref=e2]\n- Iframe \"Lost\" [ref=e3]\n- Iframe [ref=e4]",
		Holes: []outline.Hole{{Ref: "e2", Line: 2, Depth: 1}, {Ref: "e3", Line: 3, Depth: 1}, {Ref: "e4", Line: 4, Depth: 1}},
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

func TestComposePutsFramesInTheirPlaces(t *testing.T) {
	zero := 0
	tests := map[string]struct {
		opts outline.Options
		want string
	}{
		"nested": {outline.Options{}, "- Iframe \"Near\" [ref=e1]:\n  - button \"[ref=e9]\" [ref=f5e1]: [ref=e9]\n- Iframe [ref=e2]:\n" +
			"  - button \"Far\" [ref=f7e1]\n  - text: far\n- Iframe \"Lost\" [ref=e3]:\n  - text: (this frame did not answer)\n" +
			"- Iframe [ref=e4]\n\nLinks:\n1. Away -> http://far/"},
		"shallow": {outline.Options{Depth: &zero}, "- Iframe \"Near\" [ref=e1]:\n  - button \"[ref=e9]\" [ref=f5e1]: [ref=e9]\n- Iframe [ref=e2]\n- Iframe \"Lost\" [ref=e3]\n- Iframe [ref=e4]"},
	}
	for name, tt := range tests {
		text, truncated := outline.Compose(framed(), tt.opts)
		if d := cmp.Diff(tt.want, text); d != "" || truncated {
			t.Errorf("%s: truncated %v (-want +got)\n%s", name, truncated, d)
		}
	}
	flat, _ := outline.Compose(framed(), outline.Options{Flat: true})
	if !strings.Contains(flat, "- Iframe [ref=e2]\n- button \"Far\" [ref=f7e1]") {
		t.Errorf("got %s, want no nesting", flat)
	}
}

func TestComposeSaysWhenThereIsNothingOrTooMuch(t *testing.T) {
	if text, cut := outline.Compose(&outline.Piece{}, outline.Options{Empty: "(empty)"}); text != "(empty)" || cut {
		t.Errorf("got %q, %v", text, cut)
	}
	long := &outline.Piece{Text: strings.Repeat("- text: row\n", 100)}
	text, cut := outline.Compose(long, outline.Options{MaxChars: 400})
	if !cut || len(text) > 400 || !strings.HasPrefix(text, "- text: row\n") || !strings.Contains(text, "TRUNCATED") {
		t.Errorf("got %q, %v", text, cut)
	}
	if _, cut := outline.Compose(&outline.Piece{Text: "- text: x", Stopped: true}, outline.Options{MaxChars: 400}); !cut {
		t.Error("a piece that stopped at the limit passes for the whole")
	}
}

func TestRefsCountEqualNames(t *testing.T) {
	got := outline.Refs("- button \"Go\" [ref=e1]\n- list:\n  - button \"Go\" [disabled] [ref=e2]: x [ref=e5]\n  - link \"a\\\"b\" [ref=f1e3]\n- text: [ref=e4]")
	want := []outline.Ref{
		{Ref: "e1", Role: "button", Name: "Go", Dup: true},
		{Ref: "e2", Role: "button", Name: "Go", Nth: 1, Dup: true},
		{Ref: "f1e3", Role: "link", Name: `a"b`},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}
