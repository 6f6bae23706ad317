package settings_test

import (
	"encoding/json"
	"testing"

	"clank/settings"

	"github.com/google/go-cmp/cmp"
)

func TestNamesForCallsAreTakenApart(t *testing.T) {
	v := settings.Voice{Names: "robo,  Frau Clank ,,x"}
	if diff := cmp.Diff([]string{"robo", "Frau Clank", "x"}, v.NameList()); diff != "" {
		t.Error(diff)
	}
}

func TestChannelsOfCallsAreIDs(t *testing.T) {
	v := settings.Voice{AllowedChannels: "123456789012345678", BlockedChannels: "223456789012345678 323456789012345678"}
	allowed, blocked := v.Channels()
	if len(allowed) != 1 || len(blocked) != 2 {
		t.Errorf("%v, %v", allowed, blocked)
	}
}

func TestTheAddressOutsideIsAnIPAddress(t *testing.T) {
	for in, good := range map[string]bool{"": true, "203.0.113.7": true, "2001:db8::7": true, "example.org": false, "203.0.113.7:80": false} {
		l := open(t, &memory{})
		_, _, err := l.Update(t.Context(), map[string]json.RawMessage{"interaction.share.publicAddress": json.RawMessage(`"` + in + `"`)}, "")
		if (err == nil) != good {
			t.Errorf("%q: %v", in, err)
		}
	}
}
