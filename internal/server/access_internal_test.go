package server

import (
	"testing"

	"clank/internal/settings"
	"clank/sessions"
)

func TestProfilesAreGivenToPeopleAndTheOperatorHasAll(t *testing.T) {
	t.Parallel()
	const ada, eve = "100000000000000001", "100000000000000002"
	s := settings.Defaults()
	s.Access.Profiles = "work: " + ada + "\nclank: " + ada
	guild := func(user string) sessions.Origin {
		return sessions.Origin{Kind: sessions.FromDiscord, Guild: "300000000000000001", Channel: "c", User: user}
	}
	operator := sessions.Origin{Kind: sessions.FromTerminal}
	for name, c := range map[string]struct {
		who        sessions.Origin
		want, gets string // gets empty: refused
	}{
		"operator":              {operator, "", "clank"},
		"operator, with a wish": {operator, "work", "work"},
		"somebody with a grant": {guild(ada), "", "work"},
		"somebody without":      {guild(eve), "", ""},
		"with another's name":   {guild(eve), "work", ""},
	} {
		got, err := resolveProfile(s, c.who, c.want)
		if got != c.gets || (err == nil) != (c.gets != "") {
			t.Errorf("%s: got %q, %v; want %q", name, got, err, c.gets)
		}
	}
	tools := &BrowserTools{
		Settings:      func() settings.Settings { s.AssistantBrowser = true; return s },
		MayUseProfile: func(o sessions.Origin) bool { return mayUseDefaultProfile(s, o) },
	}
	if tools.AssistantTools(t.Context(), guild(eve)) != nil {
		t.Error("the brain works the shared profile for somebody whom it does not belong to")
	}
	if s.Access.Profiles = "work: " + ada; !mayUseDefaultProfile(s, guild(eve)) {
		t.Error("the usual profile, which nobody is bound to, is refused")
	}
}
