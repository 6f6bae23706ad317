package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/browsermgr"
	"clank/cancel"
	"clank/internal/assistant"
	"clank/internal/budget"
	"clank/internal/server"
	"clank/internal/settings"
	"clank/internal/test/check"
	"clank/internal/test/llmtest"
	"clank/internal/test/rtctest"
	"clank/internal/test/sessionstest"
	"clank/internal/test/sqlitetest"
	"clank/internal/web"
	"clank/sessions"
	"clank/voice"
	"clank/voice/webrtc"
)

// house is a call service without external programs, its settings, and the spending.
type house struct {
	*server.CallService

	dir     string
	ledger  *sqlitetest.Ledger
	limits  budget.Limits
	backend *sessionstest.Backend

	mu  sync.Mutex
	all settings.Settings
	key string
}

// Current implements [server.SettingsSource].
func (h *house) Current() settings.Settings {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.all
}

// For implements [server.SettingsSource].
func (h *house) For(string) settings.Settings { return h.Current() }

// noPage is a page reader that reads nothing.
type noPage struct{}

func (noPage) Read(context.Context, web.ReadRequest) (web.Page, error) {
	return web.Page{}, errors.New("there is no web here")
}

// nobody is a store without opt-outs.
type nobody struct{}

func (nobody) ListOptedOut(context.Context) ([]voice.PrivacyKey, error)  { return nil, nil }
func (nobody) SetOptedOut(context.Context, voice.PrivacyKey, bool) error { return nil }

// open opens a call service in which a realtime model at url holds the calls.
func open(t *testing.T, url string, change func(*house)) *house {
	t.Helper()
	t.Setenv("PATH", t.TempDir())
	h := &house{
		dir: t.TempDir(), ledger: sqlitetest.OpenLedger(t), all: settings.Defaults(), key: "sk-test",
		backend: new(sessionstest.Backend),
	}
	h.all.Voice.Engine = settings.VoiceEngineRealtime
	h.all.Voice.Realtime.URL = url
	h.all.Voice.Transcription.URL = url
	h.all.Voice.KeepTranscripts = true
	h.all.Voice.Speech.Engine = settings.SpeechOff
	if change != nil {
		change(h)
	}
	logger := slog.New(slog.DiscardHandler)
	scopes := new(cancel.Scopes)
	m := &sessions.Manager{
		Store: sessionstest.OpenStore(t), Backends: map[string]sessions.Backend{"local": h.backend}, DefaultRuntime: "local",
		Limits: func() sessions.Limits { return sessions.Limits{Running: 2, MaxSteps: 10} }, Scopes: scopes, Logger: logger,
	}
	check.Must(t, m.Open(t.Context()))
	b := &assistant.Assistant{Tasks: m, Web: assistant.WebTools{Reader: noPage{}}, Host: sessionstest.AssistantHost{}}
	h.CallService = &server.CallService{
		Dir: h.dir, Settings: h,
		Getenv:   func(name string) string { return map[string]string{"REALTIME_API_KEY": h.key}[name] },
		Sessions: m, Scopes: scopes, PrivacyStore: nobody{}, ViewerAddr: "127.0.0.1:0", Logger: logger,
		Browsers: &browsermgr.Manager{}, Assistant: b,
		Budget: &budget.Enforcer{Ledger: h.ledger, Rules: func() budget.Rules {
			return budget.Rules{Zone: time.UTC, Limits: h.limits}
		}},
	}
	check.Must(t, h.Open(t.Context()))
	t.Cleanup(func() {
		ctx, done := context.WithTimeout(context.Background(), rtctest.Patience)
		defer done()
		check.Must(t, errors.Join(h.Close(ctx), m.Close(ctx)))
	})
	return h
}

// join lets a page join the call.
func (h *house) join(t *testing.T) *rtctest.Page {
	t.Helper()
	page, offer := rtctest.NewPage(t, rtctest.PageOptions{})
	body, err := json.Marshal(webrtc.JoinRequest{SDP: offer, Name: "Ada", Key: "a"})
	check.Must(t, err)
	w := httptest.NewRecorder()
	h.CallPage().ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/join", bytes.NewReader(body)))
	var got webrtc.JoinAnswer
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	page.Accept(t, got.SDP)
	rtctest.Next(t, page.Up)
	return page
}

// written waits until a page receives a message with these words.
func written(t *testing.T, page *rtctest.Page, words string) {
	t.Helper()
	var all []string
	for range 50 {
		var n struct{ Text string }
		line := rtctest.Next(t, page.Said)
		check.Must(t, json.Unmarshal([]byte(line), &n))
		if all = append(all, n.Text); strings.Contains(n.Text, words) {
			return
		}
	}
	t.Fatalf("%q is not among %q", words, all)
}

// tone returns a packet of a sound that is detected as speech.
func tone(t *testing.T) []byte {
	t.Helper()
	p, err := voice.NewOpusPacker(voice.RateSpeech)
	check.Must(t, err)
	samples := make([]int16, 10*voice.RateSpeech/50)
	for i := range samples {
		samples[i] = int16(9000 - 18000*(i/40%2))
	}
	packets, err := p.Write(samples)
	if err != nil || len(packets) < 5 {
		t.Fatalf("%d packets, %v", len(packets), err)
	}
	return packets[4]
}

func TestARealtimeModelHoldsACallWithTheRealToolsAndIsPaidFor(t *testing.T) {
	heard, outputs := make(chan struct{}), make(chan string, 2)
	truncated, again := make(chan float64, 1), make(chan string, 1)
	srv := llmtest.NewRealtimeServer(t, llmtest.RealtimeCall{Serve: func(c *llmtest.RealtimeConn) {
		defer c.Drop()
		session := c.Open()
		outputs <- toolNames(session)
		loud := func(sample int16) bool { return sample > 1000 }
		for !slices.ContainsFunc(voice.ParsePCM(c.Audio()), loud) { // silence may come first
			<-time.After(5 * time.Millisecond)
		}
		c.UserTranscript("item_0", "Look up the ferry.")
		c.Begin("resp_1", "item_1")
		c.FunctionCall("resp_1", "item_2", "call_1", "browser_browse", `{"query":"when does the ferry leave?"}`)
		out := c.Expect("conversation.item.create").Text("item.output")
		outputs <- out
		c.Done("resp_1", "", "completed")
		c.Expect("response.create")
		c.Begin("resp_2", "item_3")
		c.FunctionCall("resp_2", "item_4", "call_2", "share_browser_session", `{"session_id":"nope"}`)
		outputs <- c.Expect("conversation.item.create").Text("item.output")
		c.Done("resp_2", "", "completed")
		c.Expect("response.create")
		c.Begin("resp_3", "item_5")
		c.OutputAudio("resp_3", "item_5", voice.AppendPCM(nil, make([]int16, 8*voice.RateRealtime)))
		c.OutputTranscript("resp_3", "item_5", "The ferry leaves at nine.")
		<-heard
		c.Speech("item_6")
		ms, _ := c.Expect("conversation.item.truncate").Get("audio_end_ms").(float64)
		truncated <- ms
		c.Done("resp_3", "", "cancelled")
	}}, llmtest.RealtimeCall{Serve: func(c *llmtest.RealtimeConn) {
		c.Open()
		var told []string
		for !strings.Contains(strings.Join(told, " "), "session_id") && len(told) < 10 {
			e := c.Expect("conversation.item.create")
			told = append(told, jsonOf(e["item"]))
		}
		again <- strings.Join(told, "\n")
		c.AwaitClose()
	}})
	h := open(t, srv.URL(), func(h *house) {
		h.backend.Script = func(_ sessions.Session, task sessions.Task) []sessionstest.ScriptStep {
			return []sessionstest.ScriptStep{
				sessionstest.Act("ferries"),
				sessionstest.Answer("At nine, for “" + task.Prompt + "”."),
			}
		}
	})
	page := h.join(t)
	page.SendOpus(t, 20, tone(t))
	const want = "browser_browse leave_voice_channel share_browser_session stop_video_share web_scrape"
	check.Equal(t, "tools", rtctest.Next(t, outputs), want)
	check.Contains(t, rtctest.Next(t, outputs), `"ok":true`, "At nine, for", "[session_id: ")
	check.Contains(t, rtctest.Next(t, outputs), "browser_session_not_found")
	for range 20 {
		rtctest.Next(t, page.Sounds)
	}
	close(heard)
	if ms := rtctest.Next(t, truncated); ms < 300 || ms > 7000 {
		t.Errorf("the model is told that %v ms of 8 s were heard", ms)
	}
	check.Contains(t, rtctest.Next(t, again), "Look up the ferry.", "session_id")
	check.Must(t, h.Close(t.Context()))
	h.counted(t)
	h.transcribed(t)
}

// counted checks that each response and transcription is in the ledger once, and that no reservation is left.
func (h *house) counted(t *testing.T) {
	t.Helper()
	calls, err := h.ledger.Calls(context.WithoutCancel(t.Context()), 20)
	check.Must(t, err)
	var got []string
	for _, e := range calls {
		got = append(got, strings.Join([]string{e.Model, e.Account.Purpose, string(e.State), e.Amount.String()}, " "))
	}
	slices.Sort(got)
	want := []string{
		"own:gpt-realtime-2.1 talk settled 1 calls, 150 tokens, 0.1 minutes, 0.1 minutes of talk",
		"own:gpt-realtime-2.1 talk settled 1 calls, 150 tokens, 0.1 minutes, 0.1 minutes of talk",
		"own:gpt-realtime-2.1 talk settled 1 calls, 150 tokens, 0.1 minutes, 0.1 minutes of talk",
		"own:gpt-transcribe transcribe settled 1 calls, 11 tokens, 0.1 minutes, 0.1 minutes of talk",
	}
	if !slices.Equal(got, want) {
		t.Errorf("ledger:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// transcribed checks the transcript, which only its owner may read.
func (h *house) transcribed(t *testing.T) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(h.dir, "transcripts", "*-dashboard-*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("transcripts: %q, %v", files, err)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	data, err := os.ReadFile(files[0])
	check.Must(t, err)
	var got []string
	for line := range strings.Lines(string(data)) {
		var l struct {
			At       time.Time
			By, Text string
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil || time.Since(l.At) > time.Hour {
			t.Errorf("%s: %v", line, err)
		}
		got = append(got, l.By+": "+l.Text)
	}
	if want := []string{"Ada: Look up the ferry.", ": The ferry leaves at nine."}; !slices.Equal(got, want) {
		t.Errorf("kept %q, want %q", got, want)
	}
}

func toolNames(update llmtest.RealtimeEvent) string {
	var names []string
	tools, _ := update.Get("session.tools").([]any)
	for _, tool := range tools {
		m, _ := tool.(map[string]any)
		name, _ := m["name"].(string)
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

func jsonOf(v any) string {
	data, _ := json.Marshal(v)
	return string(data)
}

func TestAMissingKeyIsReportedAndNoOtherModelIsUsed(t *testing.T) {
	h := open(t, "", func(h *house) { h.key = "" })
	page := h.join(t)
	written(t, page, "REALTIME_API_KEY")
}

func TestAnExhaustedBudgetIsAnnouncedInTheCallWithoutAModelCall(t *testing.T) {
	srv := llmtest.NewRealtimeServer(t)
	h := open(t, srv.URL(), func(h *house) { h.limits = budget.Limits{budget.LevelDay: {Tokens: 10}} })
	page := h.join(t)
	written(t, page, "Today's budget is spent")
	check.Equal(t, "connections were made", len(srv.Requests()), 0)
}

func TestOldTranscriptsAreRemoved(t *testing.T) {
	dir := t.TempDir()
	made := func(name string, age time.Duration) string {
		path := filepath.Join(dir, "transcripts", name)
		check.Must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600),
			os.Chtimes(path, time.Time{}, time.Now().Add(-age))))
		return path
	}
	old, young, other := made("a.jsonl", 31*24*time.Hour), made("b.jsonl", 29*24*time.Hour), made("c.txt", 31*24*time.Hour)
	open(t, "", func(h *house) { h.dir = dir })
	deadline := time.Now().Add(rtctest.Patience)
	for {
		_, err := os.Stat(old)
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("it is still there")
		}
		<-time.After(5 * time.Millisecond)
	}
	for _, path := range []string{young, other} {
		check.Must(t, check.Err(os.Stat(path)))
	}
}

func TestAnInvalidAddressIsNotReportedAsInUse(t *testing.T) {
	x := &server.CallService{
		Settings: &settings.Manager{}, Getenv: func(string) string { return "" }, Scopes: &cancel.Scopes{},
		PrivacyStore: nobody{}, ViewerAddr: "127.0.0.1:99999", Logger: slog.New(slog.DiscardHandler),
	}
	check.Fails(t, x.Open(t.Context()), nil, "99999")
}

// abilities returns the capabilities by name, for a machine with these secrets and with programs only in dir.
func abilities(t *testing.T, dir string, change func(*settings.Settings),
	secrets ...string,
) map[string]server.Capability {
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

func TestMissingPartsOfCallsAreExplained(t *testing.T) {
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

func TestTheCallConfigurationIsDescribed(t *testing.T) {
	for name, tc := range map[string]struct {
		change  func(*settings.Settings)
		secrets []string
		ability string
		ready   bool
		says    string
	}{
		"OpenAI hears": {
			secrets: []string{"OPENAI_API_KEY"}, ability: server.CapabilityTranscription, ready: true,
			says: "OpenAI's gpt-transcribe",
		},
		"a server of one's own": {
			func(s *settings.Settings) { s.Voice.Transcription.URL = "http://127.0.0.1:8000/v1" }, nil,
			server.CapabilityTranscription, true, "at http://127.0.0.1:8000/v1",
		},
		"realtime": {
			func(s *settings.Settings) { s.Voice.Engine = settings.VoiceEngineRealtime },
			[]string{"TRANSCRIPTION_API_KEY"},
			server.CapabilityTranscription, false, "needs REALTIME_API_KEY",
		},
		"OpenAI speaks": {
			nil,
			[]string{"SPEECH_API_KEY"},
			server.CapabilitySpeech, true,
			"gpt-4o-mini-tts (OpenAI takes it back on 2027-01-06); then choose espeak-ng",
		},
		"a model that goes": {
			func(s *settings.Settings) { s.Voice.Transcription.Model = "whisper-1" },
			[]string{"OPENAI_API_KEY"},
			server.CapabilityTranscription, true, "2027-02-26; gpt-transcribe takes its place",
		},
		"a name of one's own": {func(s *settings.Settings) {
			s.Voice.Transcription.Model, s.Voice.Transcription.URL = "whisper-1", "http://127.0.0.1:8000/v1"
		}, nil, server.CapabilityTranscription, true, "whisper-1 at http://127.0.0.1:8000/v1"},
		"nobody speaks": {
			func(s *settings.Settings) { s.Voice.Speech.Engine = settings.SpeechOff },
			[]string{"OPENAI_API_KEY"},
			server.CapabilitySpeech, false, "written",
		},
		"only a server speaks": {
			func(s *settings.Settings) { s.Voice.Speech.Engine = settings.SpeechServer }, nil,
			server.CapabilitySpeech, false, "SPEECH_API_KEY",
		},
		"calls are off": {
			func(s *settings.Settings) { s.Voice.Enabled = false },
			[]string{"OPENAI_API_KEY"},
			server.CapabilityTranscription, false, "switched off",
		},
		"a viewer's address": {
			func(s *settings.Settings) { s.Share.PublicURL = "https://clank.example/watch" }, nil,
			server.CapabilityViewer, true, "https://clank.example/watch",
		},
		"one without https": {
			func(s *settings.Settings) { s.Share.PublicURL = "http://clank.example/watch" }, nil,
			server.CapabilityViewer, true, "without https",
		},
		"a relay, no secret": {
			func(s *settings.Settings) { s.Share.TURN = "turn:turn.example" }, nil,
			server.CapabilityRelay, false, "set TURN_SECRET",
		},
		"a relay, no name": {
			func(s *settings.Settings) { s.Share.TURN = "turn:turn.example" },
			[]string{"TURN_CREDENTIAL"},
			server.CapabilityRelay, false, "set interaction.share.turnUsername",
		},
		"a relay, two secrets": {
			func(s *settings.Settings) { s.Share.TURN = "turn:turn.example" },
			[]string{"TURN_CREDENTIAL", "TURN_SECRET"},
			server.CapabilityRelay, false, "unset the second",
		},
		"a relay for a time": {
			func(s *settings.Settings) { s.Share.TURN = "turn:turn.example" },
			[]string{"TURN_SECRET"},
			server.CapabilityRelay, true, "turn:turn.example, lent",
		},
		"a relay for ever": {
			func(s *settings.Settings) { s.Share.TURN, s.Share.TURNUser = "turn:turn.example", "ada" },
			[]string{"TURN_CREDENTIAL"},
			server.CapabilityRelay, true, "TURN_SECRET is safer",
		},
		"Go Live": {
			func(s *settings.Settings) { s.Share.GoLive = true },
			[]string{"DISCORD_GOLIVE_TOKEN"},
			server.CapabilityGoLive, true, "may end the account",
		},
		"Go Live, no account": {
			func(s *settings.Settings) { s.Share.GoLive = true }, nil, server.CapabilityGoLive, false,
			"set DISCORD_GOLIVE_TOKEN",
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := abilities(t, t.TempDir(), tc.change, tc.secrets...)[tc.ability]
			if a.Ready != tc.ready || !strings.Contains(a.Detail, tc.says) {
				t.Errorf("%s is %v: %q; want %v with %q", tc.ability, a.Ready, a.Detail, tc.ready, tc.says)
			}
		})
	}
}

func TestAnOccupiedPortIsReported(t *testing.T) {
	taken, err := net.ListenUDP("udp", &net.UDPAddr{})
	check.Must(t, err)
	defer taken.Close()
	at := taken.LocalAddr().(*net.UDPAddr).Port
	a := abilities(t, t.TempDir(), func(s *settings.Settings) { s.Share.UDPPort = at })[server.CapabilityUDPPort]
	if a.Ready || !strings.Contains(a.Detail, "choose another") {
		t.Errorf("the port is %v: %q", a.Ready, a.Detail)
	}
}
