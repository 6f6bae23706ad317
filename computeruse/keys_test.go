package computeruse_test

import (
	"slices"
	"strings"
	"testing"

	"clank/computeruse"

	"github.com/google/go-cmp/cmp"
)

func TestChordsOfAllVendorsBecomeThoseOfTheControlAPI(t *testing.T) {
	for _, tc := range []struct {
		names []string
		want  []string
	}{
		{[]string{"CTRL", "A"}, []string{"Control+a"}},
		{[]string{"ctrl+s"}, []string{"Control+s"}},
		{[]string{"Control_L+Shift_L+t"}, []string{"Control+Shift+t"}},
		{[]string{"SHIFT", "T", "ctrl"}, []string{"Control+Shift+T"}},
		{[]string{"Return"}, []string{"Enter"}},
		{[]string{"KP_Enter"}, []string{"Enter"}},
		{[]string{"Page_Up"}, []string{"PageUp"}},
		{[]string{"Page Down"}, []string{"PageDown"}},
		{[]string{"ARROWLEFT"}, []string{"ArrowLeft"}},
		{[]string{"super"}, []string{"Meta"}},
		{[]string{"alt+F4"}, []string{"Alt+F4"}},
		{[]string{"Down Down Return"}, []string{"ArrowDown", "ArrowDown", "Enter"}},
		{[]string{"ctrl++"}, []string{"Control++"}},
		{[]string{"+"}, []string{"+"}},
		{[]string{"ctrl", "plus"}, []string{"Control++"}},
		{[]string{"A"}, []string{"A"}},
		{[]string{"é"}, []string{"é"}},
		{[]string{" "}, []string{"Space"}},
		{[]string{"\n"}, []string{"Enter"}},
		{[]string{"KP_5"}, []string{"5"}},
		{[]string{"ctrl", "Control"}, []string{"Control"}},
	} {
		got, err := computeruse.ParseChords(tc.names)
		if err != nil {
			t.Errorf("%q: %v", tc.names, err)
			continue
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%q: %s", tc.names, diff)
		}
	}
}

func TestKeysThatDoNotExistAreToldPlainly(t *testing.T) {
	for _, names := range [][]string{nil, {""}, {"Hyper_L"}, {"ctrl+"}, {"a", "b"}, {"F13"}, {"Down Dwon"}, {"\x00"}, {"\xff"}} {
		if got, err := computeruse.ParseChords(names); err == nil {
			t.Errorf("%q became %q, want an error", names, got)
		}
	}
	if _, err := computeruse.ParseKey("Turbo"); err == nil || !strings.Contains(err.Error(), `unknown key "Turbo"`) {
		t.Errorf("err = %v, want the name in it", err)
	}
}

func TestOnlyModifiersAreHeldBesideTheMouse(t *testing.T) {
	got, err := computeruse.ParseModifiers([]string{"SHIFT", "ctrl+shift", "cmd"})
	if diff := cmp.Diff([]string{"Shift", "Control", "Meta"}, got); diff != "" || err != nil {
		t.Errorf("err = %v, %s", err, diff)
	}
	if _, err := computeruse.ParseModifiers([]string{"Tab"}); err == nil {
		t.Error("Tab was held")
	}
}

func FuzzChords(f *testing.F) {
	for _, s := range []string{"ctrl+s", "Down Down Return", "Page_Up", "ctrl++", "+", "++", "a+b", "KP_Enter", "é", " "} {
		f.Add(s, "A")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, names := range [][]string{{a}, {a, b}} {
			chords, err := computeruse.ParseChords(names)
			if err != nil {
				continue
			}
			if len(chords) == 0 {
				t.Fatalf("%q became nothing", names)
			}
			for _, c := range chords {
				again, err := computeruse.ParseChords([]string{c})
				if err != nil || !slices.Equal(again, []string{c}) {
					t.Errorf("%q became %q, which becomes %q (%v)", names, c, again, err)
				}
			}
		}
	})
}
