package settings_test

import (
	"encoding/json"
	"strings"
	"testing"

	"clank/internal/settings"

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

func TestServersOfWebRTCAreChecked(t *testing.T) {
	const stun, turn = "interaction.share.stunServers", "interaction.share.turnServers"
	for _, tc := range []struct {
		key, in string
		good    bool
	}{
		{stun, "", true},
		{stun, "stun:stun.example:3478 stuns:stun.example", true},
		{stun, "turn:turn.example", false},
		{stun, "stun:stun.example?transport=udp", false},
		{turn, "turn:turn.example", true},
		{turn, "turns:turn.example:5349?transport=tcp  turn:[2001:db8::7]:3478?transport=udp", true},
		{turn, "turn.example:3478", false},
		{turn, "turn:", false},
		{turn, "turn:turn.example:99999", false},
		{turn, "turn:turn.example:0", false},
		{turn, "turn:turn.example?transport=quic", false},
		{turn, "turn:turn.example/path", false},
		{turn, "turn://turn.example", false},
		{turn, "turn:ada:secret@turn.example", false},
		{turn, "https://turn.example", false},
	} {
		l := open(t, &memory{})
		raw, _ := json.Marshal(tc.in)
		_, _, err := l.Update(t.Context(), map[string]json.RawMessage{tc.key: raw}, "")
		if (err == nil) != tc.good || err != nil && (!strings.Contains(err.Error(), tc.key) || !strings.Contains(err.Error(), "must")) {
			t.Errorf("%q: %v", tc.in, err)
		}
	}
}

func TestTheFormatOfSpeechIsOneThatIsUnderstood(t *testing.T) {
	l := open(t, &memory{})
	const key = "interaction.voice.speech.format"
	set(t, l, key, `"wav"`)
	if got := l.Current().Voice.Speech.Format; got != settings.SpeechWAV {
		t.Errorf("got %q", got)
	}
	_, _, err := l.Update(t.Context(), map[string]json.RawMessage{key: json.RawMessage(`"mp3"`)}, l.State().Version)
	if err == nil || !strings.Contains(err.Error(), key) || !strings.Contains(err.Error(), `"opus", "wav", "pcm"`) {
		t.Errorf("mp3: %v", err)
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
