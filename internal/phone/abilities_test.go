package phone_test

import (
	"net"
	"slices"
	"strings"
	"testing"

	"clank/internal/phone"
	"clank/settings"
)

// abilities lists them by name, for a machine with these secrets and programs only in dir.
func abilities(t *testing.T, dir string, change func(*settings.Settings), secrets ...string) map[string]phone.Ability {
	t.Helper()
	t.Setenv("PATH", dir)
	s := settings.Defaults()
	if change != nil {
		change(&s)
	}
	present := func(name string) bool { return slices.Contains(secrets, name) }
	all := map[string]phone.Ability{}
	for _, a := range phone.Abilities(t.Context(), s, present, true) {
		all[a.Name] = a
	}
	return all
}

func TestWhatCallsLackIsToldWithTheWayOut(t *testing.T) {
	all := abilities(t, t.TempDir(), nil)
	for name, want := range map[string]string{
		phone.CallWords:   "OPENAI_API_KEY",
		phone.CallStop:    "apt-get install pocketsphinx pocketsphinx-en-us",
		phone.CallSpeech:  "apt-get install espeak-ng",
		phone.ShareViewer: "--watch-addr",
		phone.ShareLive:   "off",
	} {
		if a := all[name]; a.Ready || !strings.Contains(a.Says, want) {
			t.Errorf("%s is %v: %q; want not ready, with %q", name, a.Ready, a.Says, want)
		}
	}
	if a := all[phone.CallPort]; !a.Ready {
		t.Errorf("the port is not ready: %q", a.Says)
	}
	var list []phone.Ability
	for _, a := range all {
		list = append(list, a)
	}
	if got := phone.Summary(list); strings.Contains(got, "Go Live") || !strings.Contains(got, "espeak-ng") {
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
		"OpenAI hears":          {secrets: []string{"OPENAI_API_KEY"}, ability: phone.CallWords, ready: true, says: "OpenAI's gpt-transcribe"},
		"a server of one's own": {func(s *settings.Settings) { s.Voice.Transcription.URL = "http://127.0.0.1:8000/v1" }, nil, phone.CallWords, true, "at http://127.0.0.1:8000/v1"},
		"realtime":              {func(s *settings.Settings) { s.Voice.Brain = settings.VoiceBrainRealtime }, []string{"TRANSCRIPTION_API_KEY"}, phone.CallWords, false, "needs REALTIME_API_KEY"},
		"OpenAI speaks":         {nil, []string{"SPEECH_API_KEY"}, phone.CallSpeech, true, "gpt-4o-mini-tts (OpenAI takes it back on 2027-01-06); then choose espeak-ng"},
		"a model that goes":     {func(s *settings.Settings) { s.Voice.Transcription.Model = "whisper-1" }, []string{"OPENAI_API_KEY"}, phone.CallWords, true, "2027-02-26; gpt-transcribe takes its place"},
		"a name of one's own": {func(s *settings.Settings) {
			s.Voice.Transcription.Model, s.Voice.Transcription.URL = "whisper-1", "http://127.0.0.1:8000/v1"
		}, nil, phone.CallWords, true, "whisper-1 at http://127.0.0.1:8000/v1"},
		"nobody speaks":        {func(s *settings.Settings) { s.Voice.Speech.Engine = settings.SpeechOff }, []string{"OPENAI_API_KEY"}, phone.CallSpeech, false, "written"},
		"only a server speaks": {func(s *settings.Settings) { s.Voice.Speech.Engine = settings.SpeechServer }, nil, phone.CallSpeech, false, "SPEECH_API_KEY"},
		"calls are off":        {func(s *settings.Settings) { s.Voice.Enabled = false }, []string{"OPENAI_API_KEY"}, phone.CallWords, false, "switched off"},
		"a viewer's address":   {func(s *settings.Settings) { s.Share.PublicURL = "https://clank.example/watch" }, nil, phone.ShareViewer, true, "https://clank.example/watch"},
		"one without https":    {func(s *settings.Settings) { s.Share.PublicURL = "http://clank.example/watch" }, nil, phone.ShareViewer, true, "without https"},
		"a relay, no secret":   {func(s *settings.Settings) { s.Share.TURN = "turn:turn.example" }, nil, phone.CallRelay, false, "set TURN_SECRET"},
		"a relay, no name":     {func(s *settings.Settings) { s.Share.TURN = "turn:turn.example" }, []string{"TURN_CREDENTIAL"}, phone.CallRelay, false, "set interaction.share.turnUsername"},
		"a relay, two secrets": {func(s *settings.Settings) { s.Share.TURN = "turn:turn.example" }, []string{"TURN_CREDENTIAL", "TURN_SECRET"}, phone.CallRelay, false, "unset the second"},
		"a relay for a time":   {func(s *settings.Settings) { s.Share.TURN = "turn:turn.example" }, []string{"TURN_SECRET"}, phone.CallRelay, true, "turn:turn.example, lent"},
		"a relay for ever":     {func(s *settings.Settings) { s.Share.TURN, s.Share.TURNUser = "turn:turn.example", "ada" }, []string{"TURN_CREDENTIAL"}, phone.CallRelay, true, "TURN_SECRET is safer"},
		"Go Live":              {func(s *settings.Settings) { s.Share.GoLive = true }, []string{"DISCORD_GOLIVE_TOKEN"}, phone.ShareLive, true, "may end the account"},
		"Go Live, no account":  {func(s *settings.Settings) { s.Share.GoLive = true }, nil, phone.ShareLive, false, "set DISCORD_GOLIVE_TOKEN"},
	} {
		t.Run(name, func(t *testing.T) {
			a := abilities(t, t.TempDir(), tc.change, tc.secrets...)[tc.ability]
			if a.Ready != tc.ready || !strings.Contains(a.Says, tc.says) {
				t.Errorf("%s is %v: %q; want %v with %q", tc.ability, a.Ready, a.Says, tc.ready, tc.says)
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
	a := abilities(t, t.TempDir(), func(s *settings.Settings) { s.Share.UDPPort = at })[phone.CallPort]
	if a.Ready || !strings.Contains(a.Says, "choose another") {
		t.Errorf("the port is %v: %q", a.Ready, a.Says)
	}
}
