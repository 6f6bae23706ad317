package plan_test

import (
	"errors"
	"testing"

	"clank/browsermgr/fault"
	"clank/browsermgr/plan"
	"clank/browsermgr/roster"
)

func TestModeFollowsFromProfileAndSettings(t *testing.T) {
	yes, no := true, false
	for name, tc := range map[string]struct {
		profile roster.Profile
		config  plan.Config
		mode    plan.Mode
		remote  bool
		at      string
		port    int
	}{
		"managed":                 {roster.Profile{CDPPort: 18801}, plan.Config{}, plan.Launched, false, "", 18801},
		"no port yet":             {roster.Profile{}, plan.Config{}, plan.Launched, false, "", 0},
		"an address here":         {roster.Profile{CDPURL: "http://127.0.0.1:9000"}, plan.Config{}, plan.Launched, false, "", 9000},
		"an address here, joined": {roster.Profile{CDPURL: "http://127.0.0.1:9000", AttachOnly: &yes}, plan.Config{}, plan.Attached, false, "http://127.0.0.1:9000", 9000},
		"an address elsewhere":    {roster.Profile{CDPURL: "wss://u:p@h?token=x"}, plan.Config{}, plan.Attached, true, "wss://REDACTED@h?token=REDACTED", 443},
		"attach only by setting":  {roster.Profile{CDPPort: 9000}, plan.Config{AttachOnly: true}, plan.Attached, false, "http://127.0.0.1:9000", 9000},
		"the profile knows better": {
			roster.Profile{CDPPort: 9000, AttachOnly: &no}, plan.Config{AttachOnly: true}, plan.Launched, false, "", 9000,
		},
		"a person's": {roster.Profile{Driver: roster.Existing}, plan.Config{}, plan.Joined, false, "", 0},
	} {
		pl, err := plan.Make(tc.profile, tc.config)
		at := pl.At.String()
		if pl.Mode == plan.Launched {
			at = ""
		}
		port := 0
		if p := pl.Port(); p != nil {
			port = *p
		}
		if err != nil || pl.Mode != tc.mode || pl.Remote() != tc.remote || at != tc.at || port != tc.port {
			t.Errorf("%s: mode %d, remote %t, at %q, port %d, %v", name, pl.Mode, pl.Remote(), at, port, err)
		}
	}
	if pl, err := plan.Make(roster.Profile{Color: roster.DefaultColor}, plan.Config{Color: "#000001"}); err != nil || pl.Color != "#000001" {
		t.Errorf("colour %s, %v", pl.Color, err)
	}
	if _, err := plan.Make(roster.Profile{AttachOnly: &yes}, plan.Config{}); !errors.Is(err, fault.ErrInvalid) {
		t.Errorf("attach-only without an address: %v", err)
	}
}

func TestOrderOfThoseWhoDecideOnTheWindow(t *testing.T) {
	t.Setenv("DISPLAY", ":0")
	yes, no := true, false
	pl := plan.Plan{}
	ask := func(asked *bool, headless bool, source string) {
		t.Helper()
		if h, s := pl.Windowless(asked); h != headless || s != source {
			t.Errorf("got %t by %s, want %t by %s", h, s, headless, source)
		}
	}
	ask(nil, false, plan.FromDefaults)
	pl.Config.Headless = &yes
	ask(nil, true, plan.FromConfig)
	pl.Headless = &no
	ask(nil, false, plan.FromProfile)
	t.Setenv("OPENCLAW_BROWSER_HEADLESS", "true")
	ask(nil, true, plan.FromEnv)
	t.Setenv("CLANK_BROWSER_HEADLESS", "0")
	ask(nil, false, plan.FromEnv)
	t.Setenv("CLANK_BROWSER_HEADLESS", "perhaps")
	ask(nil, true, plan.FromEnv)
	ask(&no, false, plan.FromRequest)
}
