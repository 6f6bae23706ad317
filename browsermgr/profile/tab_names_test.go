package profile_test

import (
	"errors"
	"strings"
	"testing"

	"clank/browsermgr/fault"
	"clank/browsermgr/profile"

	"github.com/google/go-cmp/cmp"
)

func namesByTarget(r *profile.TabNames) map[string]string {
	out := map[string]string{}
	for _, t := range r.Tabs() {
		out[t.Target] = t.Name()
	}
	return out
}

func syncTabs(r *profile.TabNames, targets ...string) {
	pages := make([]profile.OpenTab, len(targets))
	for i, t := range targets {
		target, url, _ := strings.Cut(t, " ")
		pages[i] = profile.OpenTab{Target: strings.TrimPrefix(target, "*"), URL: url, Popup: strings.HasPrefix(t, "*")}
	}
	r.Sync(pages)
}

func TestTabsKeepTheirNamesAndNumbersAreNotUsedAgain(t *testing.T) {
	var r profile.TabNames
	syncTabs(&r, "A", "B")
	syncTabs(&r, "B", "A", "C")
	if diff := cmp.Diff(map[string]string{"A": "t1", "B": "t2", "C": "t3"}, namesByTarget(&r)); diff != "" {
		t.Error(diff)
	}
	r.Forget("C")
	syncTabs(&r, "A", "B", "D")
	r.Reset()
	r.Sync([]profile.OpenTab{{Target: "E", ID: "t1"}, {Target: "F", ID: "t9"}, {Target: "G", ID: "nonsense"}})
	if diff := cmp.Diff(map[string]string{"E": "t5", "F": "t9", "G": "t10"}, namesByTarget(&r)); diff != "" {
		t.Error(diff)
	}
}

func TestANewTabTakesOverOnlyWhenThereIsNoDoubt(t *testing.T) {
	for name, c := range map[string]struct {
		before, after []string
		want          map[string]string
	}{
		"one for one":                {[]string{"A x", "B y"}, []string{"N z", "B y"}, map[string]string{"N": "t1", "B": "t2"}},
		"two for two, same address":  {[]string{"A x", "B y"}, []string{"M y", "N x"}, map[string]string{"M": "t2", "N": "t1"}},
		"two for two, other address": {[]string{"A x", "B y"}, []string{"M z", "N x"}, map[string]string{"M": "t3", "N": "t1"}},
		"two of one address":         {[]string{"A x", "B x"}, []string{"M x"}, map[string]string{"M": "t3"}},
		"one for two":                {[]string{"A x"}, []string{"M x", "N x"}, map[string]string{"M": "t2", "N": "t3"}},
		"a popup is new":             {[]string{"A x"}, []string{"*N x"}, map[string]string{"N": "t2"}},
		"a popup beside it":          {[]string{"A x"}, []string{"*N y", "M x"}, map[string]string{"N": "t2", "M": "t1"}},
	} {
		var r profile.TabNames
		syncTabs(&r, c.before...)
		syncTabs(&r, c.after...)
		if diff := cmp.Diff(c.want, namesByTarget(&r)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestReplacementTakesLabelAndSelectionAlong(t *testing.T) {
	var r profile.TabNames
	syncTabs(&r, "A x", "B y")
	if _, err := r.Label("B", "mail"); err != nil {
		t.Fatal(err)
	}
	r.MarkUsed("B")
	syncTabs(&r, "A x", "N z")
	if got, ok := r.Default(); !ok || got.Target != "N" || got.Label != "mail" || got.ID != "t2" {
		t.Errorf("got %+v, %t; want N as t2 (mail)", got, ok)
	}
}

func TestTheDefaultIsTheLastUsedOrTheFirst(t *testing.T) {
	var r profile.TabNames
	if _, ok := r.Default(); ok {
		t.Error("a default without tabs")
	}
	syncTabs(&r, "S chrome://settings", "A x", "B y")
	for _, step := range []struct{ choose, want string }{{"", "A"}, {"B", "B"}, {"nobody", "B"}, {"S", "A"}} {
		r.MarkUsed(step.choose)
		if got, _ := r.Default(); got.Target != step.want {
			t.Errorf("after choosing %q: got %q, want %q", step.choose, got.Target, step.want)
		}
	}
	r.MarkUsed("B")
	r.Forget("B")
	if got, _ := r.Default(); got.Target != "A" {
		t.Errorf("after B was closed: got %q, want A", got.Target)
	}
}

func TestALabelMovesToTheTabItIsGivenTo(t *testing.T) {
	var r profile.TabNames
	syncTabs(&r, "A", "B")
	for _, target := range []string{"A", "B"} {
		if _, err := r.Label(target, "shop"); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(map[string]string{"A": "t1", "B": "shop"}, namesByTarget(&r)); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{"", "a b", "ä", strings.Repeat("x", 65), "a/b"} {
		if _, err := r.Label("A", bad); !errors.Is(err, fault.ErrInvalid) {
			t.Errorf("label %q: got %v, want ErrInvalid", bad, err)
		}
	}
	if _, err := r.Label("Z", "ok"); !errors.Is(err, profile.ErrTabNotFound) {
		t.Errorf("label of no tab: got %v, want ErrNotFound", err)
	}
}

func TestResolve(t *testing.T) {
	var r profile.TabNames
	syncTabs(&r, "ABC111", "ABD222", "12345678", "HIDDEN chrome://version")
	for target, label := range map[string]string{"ABC111": "mail", "ABD222": "t1"} {
		if _, err := r.Label(target, label); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]any{
		"ABC111": "ABC111", "mail": "ABC111", "abc": "ABC111", " abd2 ": "ABD222", "t2": "ABD222", "t3": "12345678", "1234567": "12345678",
		"t1": profile.ErrAmbiguousTab, "ab": profile.ErrAmbiguousTab, "": profile.ErrTabNotFound, "t9": profile.ErrTabNotFound, "Mail": profile.ErrTabNotFound,
		"1": profile.ErrTabNotFound, "12345": profile.ErrTabNotFound, "HIDDEN": profile.ErrTabNotFound, "ABC1111": profile.ErrTabNotFound,
	} {
		got, err := r.Resolve(name)
		if wrong, ok := want.(error); ok && !errors.Is(err, wrong) {
			t.Errorf("Resolve(%q): got %v, %v; want %v", name, got, err, wrong)
		}
		if target, ok := want.(string); ok && (err != nil || got.Target != target) {
			t.Errorf("Resolve(%q): got %v, %v; want %s", name, got, err, target)
		}
	}
	_, err := r.Resolve("2")
	if err == nil || !strings.HasPrefix(err.Error(), "tab not found") || !strings.Contains(err.Error(), "numbers are not tab targets") {
		t.Errorf("a number: got %v", err)
	}
}
