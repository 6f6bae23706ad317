package server_test

import (
	"net"
	"slices"
	"strings"
	"testing"

	"clank/internal/server"
	"clank/internal/settings"
)

// abilities lists them by name, for a machine with these secrets and programs only in dir.
func abilities(t *testing.T, dir string, change func(*settings.Settings), secrets ...string) map[string]server.Capability {
	t.Helper()
	t.Setenv("PATH", dir)
	s := settings.Defaults()
	if change != nil {
		change(&s)
	}
	present := func(name string) bool { return slices.Contains(secrets, name) }
	all := map[string]server.Capability{}
	for _, a := range server.CallCapabilities(t.Context(), s, present, true) {
		all[a.Name] = a
	}
	return all
}

func TestWhatCallsLackIsToldWithTheWayOut(t *testing.T) {
	all := abilities(t, t.TempDir(), nil)
	for name, want := range map[string]string{
		server.CapabilityTranscription: "OPENAI_API_KEY",
		server.CapabilityStopWords:     "apt-get install pocketsphinx pocketsphinx-en-us",
		server.CapabilitySpeech:        "apt-get install espeak-ng",
		server.CapabilityViewer:        "--watch-addr",
		server.CapabilityGoLive:        "off",
	} {
		if a := all[name]; a.Ready || !strings.Contains(a.Detail, want) {
			t.Errorf("%s is %v: %q; want not ready, with %q", name, a.Ready, a.Detail, want)
		}
	}
	if a := all[server.CapabilityUDPPort]; !a.Ready {
		t.Errorf("the port is not ready: %q", a.Detail)
	}
	var list []server.Capability
	for _, a := range all {
		list = append(list, a)
	}
	if got := server.CapabilitySummary(list); strings.Contains(got, "Go Live") || !strings.Contains(got, "espeak-ng") {
		t.Errorf("in one line: %q", got)
	}
}

func TestWhatIsSetUpForCallsIsNamed(t *testing.T) {
	for name, tc := range map[string]struct {
		change  func(*settings.Settings)
		secrets []string
		ability string
		ready   bool
		says    string
	}{
		"OpenAI hears":          {secrets: []string{"OPENAI_API_KEY"}, ability: server.CapabilityTranscription, ready: true, says: "OpenAI's gpt-transcribe"},
		"a server of one's own": {func(s *settings.Settings) { s.Voice.Transcription.URL = "http://127.0.0.1:8000/v1" }, nil, server.CapabilityTranscription, true, "at http://127.0.0.1:8000/v1"},
		"realtime":              {func(s *settings.Settings) { s.Voice.Engine = settings.VoiceEngineRealtime }, []string{"TRANSCRIPTION_API_KEY"}, server.CapabilityTranscription, false, "needs REALTIME_API_KEY"},
		"OpenAI speaks":         {nil, []string{"SPEECH_API_KEY"}, server.CapabilitySpeech, true, "gpt-4o-mini-tts (OpenAI takes it back on 2027-01-06); then choose espeak-ng"},
		"a model that goes":     {func(s *settings.Settings) { s.Voice.Transcription.Model = "whisper-1" }, []string{"OPENAI_API_KEY"}, server.CapabilityTranscription, true, "2027-02-26; gpt-transcribe takes its place"},
		"a name of one's own": {func(s *settings.Settings) {
			s.Voice.Transcription.Model, s.Voice.Transcription.URL = "whisper-1", "http://127.0.0.1:8000/v1"
		}, nil, server.CapabilityTranscription, true, "whisper-1 at http://127.0.0.1:8000/v1"},
		"nobody speaks":        {func(s *settings.Settings) { s.Voice.Speech.Engine = settings.SpeechOff }, []string{"OPENAI_API_KEY"}, server.CapabilitySpeech, false, "written"},
		"only a server speaks": {func(s *settings.Settings) { s.Voice.Speech.Engine = settings.SpeechServer }, nil, server.CapabilitySpeech, false, "SPEECH_API_KEY"},
		"calls are off":        {func(s *settings.Settings) { s.Voice.Enabled = false }, []string{"OPENAI_API_KEY"}, server.CapabilityTranscription, false, "switched off"},
		"a viewer's address":   {func(s *settings.Settings) { s.Share.PublicURL = "https://clank.example/watch" }, nil, server.CapabilityViewer, true, "https://clank.example/watch"},
		"one without https":    {func(s *settings.Settings) { s.Share.PublicURL = "http://clank.example/watch" }, nil, server.CapabilityViewer, true, "without https"},
		"a relay, no secret":   {func(s *settings.Settings) { s.Share.TURN = "turn:turn.example" }, nil, server.CapabilityRelay, false, "set TURN_SECRET"},
		"a relay, no name":     {func(s *settings.Settings) { s.Share.TURN = "turn:turn.example" }, []string{"TURN_CREDENTIAL"}, server.CapabilityRelay, false, "set interaction.share.turnUsername"},
		"a relay, two secrets": {func(s *settings.Settings) { s.Share.TURN = "turn:turn.example" }, []string{"TURN_CREDENTIAL", "TURN_SECRET"}, server.CapabilityRelay, false, "unset the second"},
		"a relay for a time":   {func(s *settings.Settings) { s.Share.TURN = "turn:turn.example" }, []string{"TURN_SECRET"}, server.CapabilityRelay, true, "turn:turn.example, lent"},
		"a relay for ever":     {func(s *settings.Settings) { s.Share.TURN, s.Share.TURNUser = "turn:turn.example", "ada" }, []string{"TURN_CREDENTIAL"}, server.CapabilityRelay, true, "TURN_SECRET is safer"},
		"Go Live":              {func(s *settings.Settings) { s.Share.GoLive = true }, []string{"DISCORD_GOLIVE_TOKEN"}, server.CapabilityGoLive, true, "may end the account"},
		"Go Live, no account":  {func(s *settings.Settings) { s.Share.GoLive = true }, nil, server.CapabilityGoLive, false, "set DISCORD_GOLIVE_TOKEN"},
	} {
		t.Run(name, func(t *testing.T) {
			a := abilities(t, t.TempDir(), tc.change, tc.secrets...)[tc.ability]
			if a.Ready != tc.ready || !strings.Contains(a.Detail, tc.says) {
				t.Errorf("%s is %v: %q; want %v with %q", tc.ability, a.Ready, a.Detail, tc.ready, tc.says)
			}
		})
	}
}

func TestAPortThatIsTakenIsTold(t *testing.T) {
	taken, err := net.ListenUDP("udp", &net.UDPAddr{})
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	at := taken.LocalAddr().(*net.UDPAddr).Port
	a := abilities(t, t.TempDir(), func(s *settings.Settings) { s.Share.UDPPort = at })[server.CapabilityUDPPort]
	if a.Ready || !strings.Contains(a.Detail, "choose another") {
		t.Errorf("the port is %v: %q", a.Ready, a.Detail)
	}
}
