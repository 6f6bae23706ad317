package profile_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"clank/browsermgr/fault"
	"clank/browsermgr/page"
	"clank/browsermgr/profile"
)

func TestModeFollowsFromProfileAndSettings(t *testing.T) {
	yes, no := true, false
	for name, tc := range map[string]struct {
		profile profile.Profile
		config  profile.Config
		mode    profile.Mode
		remote  bool
		at      string
		port    int
	}{
		"managed":                 {profile.Profile{CDPPort: 18801}, profile.Config{}, profile.ModeLaunched, false, "", 18801},
		"no port yet":             {profile.Profile{}, profile.Config{}, profile.ModeLaunched, false, "", 0},
		"an address here":         {profile.Profile{CDPURL: "http://127.0.0.1:9000"}, profile.Config{}, profile.ModeLaunched, false, "", 9000},
		"an address here, joined": {profile.Profile{CDPURL: "http://127.0.0.1:9000", AttachOnly: &yes}, profile.Config{}, profile.ModeAttached, false, "http://127.0.0.1:9000", 9000},
		"an address elsewhere":    {profile.Profile{CDPURL: "wss://u:p@h?token=x"}, profile.Config{}, profile.ModeAttached, true, "wss://REDACTED@h?token=REDACTED", 443},
		"attach only by setting":  {profile.Profile{CDPPort: 9000}, profile.Config{AttachOnly: true}, profile.ModeAttached, false, "http://127.0.0.1:9000", 9000},
		"the profile knows better": {
			profile.Profile{CDPPort: 9000, AttachOnly: &no}, profile.Config{AttachOnly: true}, profile.ModeLaunched, false, "", 9000,
		},
		"a person's": {profile.Profile{Driver: profile.DriverExistingSession}, profile.Config{}, profile.ModeJoined, false, "", 0},
	} {
		pl, err := profile.Resolve(tc.profile, tc.config)
		at := pl.Address.String()
		if pl.Mode == profile.ModeLaunched {
			at = ""
		}
		port := 0
		if p := pl.KnownPort(); p != nil {
			port = *p
		}
		if err != nil || pl.Mode != tc.mode || pl.IsRemote() != tc.remote || at != tc.at || port != tc.port {
			t.Errorf("%s: mode %d, remote %t, at %q, port %d, %v", name, pl.Mode, pl.IsRemote(), at, port, err)
		}
	}
	if pl, err := profile.Resolve(profile.Profile{Color: profile.DefaultColor}, profile.Config{Color: "#000001"}); err != nil || pl.Color != "#000001" {
		t.Errorf("colour %s, %v", pl.Color, err)
	}
	if _, err := profile.Resolve(profile.Profile{AttachOnly: &yes}, profile.Config{}); !errors.Is(err, fault.ErrInvalid) {
		t.Errorf("attach-only without an address: %v", err)
	}
}

func TestOrderOfThoseWhoDecideOnTheWindow(t *testing.T) {
	t.Setenv("DISPLAY", ":0")
	yes, no := true, false
	pl := profile.Resolved{}
	ask := func(asked *bool, headless bool, source string) {
		t.Helper()
		if h, s := pl.ResolveHeadless(asked); h != headless || s != source {
			t.Errorf("got %t by %s, want %t by %s", h, s, headless, source)
		}
	}
	ask(nil, false, profile.HeadlessFromDefaults)
	pl.Config.Headless = &yes
	ask(nil, true, profile.HeadlessFromConfig)
	pl.Headless = &no
	ask(nil, false, profile.HeadlessFromProfile)
	t.Setenv("OPENCLAW_BROWSER_HEADLESS", "true")
	ask(nil, true, profile.HeadlessFromEnv)
	t.Setenv("CLANK_BROWSER_HEADLESS", "0")
	ask(nil, false, profile.HeadlessFromEnv)
	t.Setenv("CLANK_BROWSER_HEADLESS", "perhaps")
	ask(nil, true, profile.HeadlessFromEnv)
	ask(&no, false, profile.HeadlessFromRequest)
}

func TestAccelerationIsJudgedByRendererAndCompositor(t *testing.T) {
	for _, tc := range []struct{ renderer, compositing, want string }{
		{"ANGLE (Google, Vulkan 1.3.0 (SwiftShader Device))", "enabled", "software"},
		{"llvmpipe (LLVM 19)", "", "software"},
		{"ANGLE (Intel, Mesa Intel(R) UHD Graphics)", "enabled", "hardware"},
		{"", "enabled_readback", "hardware"},
		{"", "disabled_software", "software"},
		{"", "", "unknown"},
	} {
		if got := profile.DetectAcceleration(tc.renderer, tc.compositing); got != tc.want {
			t.Errorf("%q, %q: %s, want %s", tc.renderer, tc.compositing, got, tc.want)
		}
	}
}

// follower notes what it was asked, and fails at everything.
type follower struct {
	page.Observer

	cleared, closed int
}

func (f *follower) ResetAll(context.Context) error { f.cleared++; return errors.New("stuck") }
func (f *follower) Close() error                   { f.closed++; return errors.New("jammed") }

// passer can neither be closed nor taken back.
type passer struct{ page.Observer }

func TestEachObserverIsTakenBackAndClosedThoughOthersFail(t *testing.T) {
	a, b := &follower{}, &follower{}
	all := []page.Observer{a, &passer{}, b}
	if err := profile.UndoOverrides(t.Context(), all); err == nil || strings.Count(err.Error(), "stuck") != 2 {
		t.Errorf("taken back: %v", err)
	}
	if err := profile.CloseObservers(all); err == nil || strings.Count(err.Error(), "jammed") != 2 {
		t.Errorf("closed: %v", err)
	}
	if a.cleared != 1 || b.cleared != 1 || a.closed != 1 || b.closed != 1 {
		t.Errorf("asked %+v and %+v", a, b)
	}
}
