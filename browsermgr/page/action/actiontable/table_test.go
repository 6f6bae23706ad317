package actiontable_test

import (
	"slices"
	"testing"

	"clank/browsermgr/page/action/actiontable"
)

func TestEachActionIsDescribedOnce(t *testing.T) {
	seen := map[actiontable.Kind]bool{}
	for _, s := range actiontable.Specs() {
		if seen[s.Kind] || s.About == "" {
			t.Errorf("%s: described twice, or without a word", s.Kind)
		}
		seen[s.Kind] = true
		for _, in := range []actiontable.Surface{actiontable.API, actiontable.Window} {
			names := map[string]bool{}
			for _, p := range s.ParamsIn(in) {
				if names[p.Name] {
					t.Errorf("%s has two fields %s", s.Kind, p.Name)
				}
				names[p.Name] = true
			}
		}
		named := func(name string) bool {
			return slices.ContainsFunc(s.Params, func(p actiontable.Param) bool { return p.Name == name })
		}
		for _, name := range slices.Concat(append(s.Needs, s.Args)...) {
			if !named(name) {
				t.Errorf("%s names %s, which is no field of it", s.Kind, name)
			}
		}
		for _, p := range s.Params {
			if s.OnPage() && (actiontable.Action{}).Value(p.Name) == nil {
				t.Errorf("%s %s has no place in an action", s.Kind, p.Name)
			}
			if p.OnlyIf != "" && !named(p.OnlyIf) {
				t.Errorf("%s %s counts with %s, which is no field of it", s.Kind, p.Name, p.OnlyIf)
			}
		}
	}
}

func TestFieldsOfAllKindsAreListedOnce(t *testing.T) {
	abouts := map[string]string{}
	for _, p := range actiontable.Union(actiontable.API, actiontable.Kinds(actiontable.API)) {
		if _, twice := abouts[p.Name]; twice {
			t.Errorf("%s is listed twice", p.Name)
		}
		abouts[p.Name] = p.About
	}
	for name, want := range map[string]string{
		"submit":      "type: press Enter afterwards",
		"doubleClick": "click, clickCoords: click twice",
		"text":        "type: what to type; wait: until this text can be seen",
		"timeoutMs":   "how long it may take",
	} {
		if got := abouts[name]; got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func TestFlagsAreNamedAsCommandLinesDo(t *testing.T) {
	for name, want := range map[string]string{"delayMs": "delay-ms", "textGone": "text-gone", "fn": "fn", "doubleClick": "double", "timeMs": "time"} {
		for _, p := range actiontable.Union(actiontable.API, actiontable.Kinds(actiontable.API)) {
			if p.Name == name && p.Flag() != want {
				t.Errorf("%s: got --%s, want --%s", name, p.Flag(), want)
			}
		}
	}
}
