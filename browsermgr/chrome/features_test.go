package chrome_test

import (
	"strings"
	"testing"

	"clank/browsermgr/chrome"
)

func TestFeaturesThatAnOperatorSwitchesOffJoinOurs(t *testing.T) {
	features, rest := chrome.MergeDisabledFeatures([]string{"--disable-features=One,Two", "--mute-audio", "--disable-features=Three"})
	for _, want := range []string{"MediaRouter", "WebRtcHideLocalIpsWithMdns", "WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "One", "Two", "Three"} {
		if !strings.Contains(","+features+",", ","+want+",") {
			t.Errorf("feature %s is on: %s", want, features)
		}
	}
	if got, want := strings.Join(rest, " "), "--mute-audio"; got != want {
		t.Errorf("rest %q, want %q", got, want)
	}
}
