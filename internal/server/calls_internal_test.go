package server

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"clank/bot"
	"clank/cancel"
	"clank/internal/assistant"
	"clank/internal/i18n"
	"clank/internal/settings"
	"clank/internal/test/check"
	"clank/internal/test/discordtest"
	"clank/internal/test/sessionstest"
	"clank/llm"
	"clank/sessions"
	"clank/voice"
	"clank/voice/conversation"
	"clank/voice/discord"
	"clank/voice/share"
)

// recordedPosts is a Discord that records messages.
type recordedPosts struct {
	DiscordBot

	texts []string
}

func (*recordedPosts) Send(context.Context, int, any) error { return nil }
func (*recordedPosts) Locale(string) i18n.Locale            { return "de" }
func (*recordedPosts) UserID() string                       { return "1" }
func (p *recordedPosts) Post(_ context.Context, _, text string, _ []llm.Image) error {
	p.texts = append(p.texts, text)
	return nil
}

func TestANameInANoticeOfAShareIsEscaped(t *testing.T) {
	to := &recordedPosts{}
	x := &CallService{Logger: slog.New(slog.DiscardHandler), callsContext: t.Context()}
	x.SetBot(to)
	shareHost{x}.SendNotice(share.Notice{
		Call: callRefOf("g", "c"), Link: "https://watch.example/#a_b_c",
		Text: "[free gifts](https://evil.example) <@1> ||x|| shares a browser page. You see it.",
	})
	x.background.Wait()
	got := strings.Join(to.texts, "\n")
	for _, bad := range []string{"](", "https://evil", "<@1>", "||"} {
		check.Lacks(t, got, bad)
	}
	if !strings.HasSuffix(got, "\nhttps://watch.example/#a_b_c") || !strings.Contains(got, "teilt eine Browser-Seite") {
		t.Errorf("the link is not whole in %q", got)
	}
}

func TestPagesAreShownToACallByThoseWhoAreInIt(t *testing.T) {
	x := &CallService{joiner: &discord.Joiner{}}
	x.HandleDispatch("GUILD_CREATE",
		json.RawMessage(`{"id":"g","voice_states":[{"user_id":"1","channel_id":"v"},{"user_id":"2","channel_id":"w"}]}`))
	call := callRefOf("g", "v")
	for user, want := range map[string]bool{"1": true, "2": false, "3": false} {
		check.Equal(t, "user "+user,
			x.mayControlShare(sessions.Origin{Kind: sessions.FromDiscord, Guild: "g", User: user}, call), want)
	}
	mod := sessions.Origin{Kind: sessions.FromDiscord, Guild: "g", User: "3", Channel: "memes", Moderator: true}
	if x.mayControlShare(mod, call) {
		t.Error("a moderator of another channel may")
	}
	mod.ModeratesChannel = func(channel string) bool { return channel == call.Channel }
	if !x.mayControlShare(mod, call) || !x.mayControlShare(pageOrigin, pageCallRef) {
		t.Error("a moderator or the operator may not")
	}
}

// newTestCallService returns a CallService in which only Go Live is set up.
func newTestCallService(t *testing.T, on bool, secrets map[string]string) *CallService {
	t.Helper()
	x := &CallService{
		Settings: fixedSettings{&settings.Settings{Share: settings.Share{GoLive: on}}},
		Getenv:   func(name string) string { return secrets[name] }, Logger: slog.New(slog.DiscardHandler),
	}
	x.callsContext, x.endCalls = context.WithCancelCause(t.Context())
	t.Cleanup(func() {
		x.endCalls(context.Canceled)
		x.background.Wait()
	})
	return x
}

func TestAPageIsSharedOnlyInItsPlace(t *testing.T) {
	x := &CallService{Sessions: &sessions.Manager{Policy: &sessionstest.Policy{
		Profile: func(_ sessions.Origin, place sessions.Place, want string) (string, error) {
			return resolveProfile(settings.Defaults(), sessions.Origin{Kind: sessions.FromDiscord}, place, want)
		},
	}}}
	on := func(guild string) sessions.Origin {
		return sessions.Origin{Kind: sessions.FromDiscord, Guild: guild, User: "ada"}
	}
	for name, c := range map[string]struct {
		by            sessions.Origin
		profile, want string
	}{
		"on its server":            {on("1"), "clank@server-1", ""},
		"on another":               {on("2"), "clank@server-1", "share it there"},
		"in a direct message":      {on(""), "clank@server-1", "share it there"},
		"by the operator":          {sessions.Origin{Kind: sessions.FromDashboard}, "clank@server-1", ""},
		"one from before":          {on("1"), "clank", "belongs to the operator now"}, // it has not worked in its place yet
		"with another's profile":   {on("1"), "work", "not yours to use"},
		"of another place's state": {on("1"), "clank@server-2", "share it there"},
	} {
		err := shareHost{x}.CheckShare(c.by, sessions.Session{Origin: on("1"), Profile: c.profile})
		check.Outcome(t, name, err, c.want)
	}
}

func TestUnusableGoLiveSaysWhyAndALinkIsUsed(t *testing.T) {
	for name, tc := range map[string]struct {
		secrets map[string]string
		want    string
	}{
		"no account": {map[string]string{botTokenName: "of the bot"}, "set DISCORD_GOLIVE_TOKEN"},
		"the bot's": {
			map[string]string{botTokenName: "of the bot", goLiveTokenName: "of the bot"},
			"the bot's own token",
		},
		"the bot's, written otherwise": {
			map[string]string{botTokenName: "of the bot", goLiveTokenName: " Bot of the bot\n"},
			"the bot's own token",
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := newTestCallService(t, true, tc.secrets)
			x.openGoLive()
			stages := shareHost{x}.ShareTargets(callRefOf("1", "2"))
			if len(stages) != 2 || stages[0].Name() != "Go Live" {
				t.Fatalf("got %d stages, want Go Live and the link", len(stages))
			}
			check.Fails(t, check.Err(stages[0].Begin(t.Context(), share.Presentation{})), nil, tc.want)
		})
	}
	x := newTestCallService(t, false, map[string]string{goLiveTokenName: "of an account"})
	if x.openGoLive(); len((shareHost{x}).ShareTargets(callRefOf("1", "2"))) != 1 {
		t.Error("go live is tried though nobody has switched it on")
	}
}

func TestTheGatewayIsFoundWithoutSigningIn(t *testing.T) {
	answer := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/v9/gateway" || r.Header.Get("Authorization") != "" {
			t.Errorf("asked for %s with %q", r.URL.Path, r.Header.Get("Authorization"))
		}
		if text := <-answer; text != "" {
			_ = json.NewEncoder(w).Encode(map[string]string{"url": text})
			return
		}
		http.Error(w, "busy", http.StatusServiceUnavailable)
	}))
	t.Cleanup(server.Close)
	x := newTestCallService(t, true, nil)
	x.DiscordBase = server.URL
	answer <- "wss://gateway.example"
	if got, err := x.gatewayURL(t.Context()); got != "wss://gateway.example/?v=9&encoding=json" || err != nil {
		t.Errorf("got %q, error %v", got, err)
	}
	for _, bad := range []string{"", "no address"} {
		answer <- bad
		check.Fails(t, check.Err(x.gatewayURL(t.Context())), nil, "ask Discord where its gateway is: ")
	}
}

func TestTheAccountForGoLiveSignsInOrSaysWhyNot(t *testing.T) {
	d, err := discordtest.Start(discordtest.Config{})
	check.Must(t, err)
	t.Cleanup(func() { d.Close() })
	eve := d.CreateAccount("eve", "of eve")
	for token, want := range map[string]string{eve.Token: "", "of nobody": "4004"} {
		x := newTestCallService(t, true, map[string]string{botTokenName: "of the bot", goLiveTokenName: token})
		x.DiscordBase = d.URL
		x.openGoLive()
		if want == "" {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			check.Must(t, d.WaitConnected(ctx, eve))
		}
		late := time.After(time.Minute)
		for done := false; !done; {
			_, err := x.goLive.connected()
			done = (want == "" && err == nil) || (want != "" && err != nil && strings.Contains(err.Error(), want))
			select {
			case <-time.After(5 * time.Millisecond):
			case <-late:
				t.Fatalf("with the token %q it says %v, want %q", token, err, want)
			}
		}
		x.endCalls(context.Canceled)
		x.background.Wait()
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	check.Must(t, d.Wait(ctx, "eve to leave when the program ends", func() bool { return !d.Connected(eve) }))
}

func TestACallThatNeedsAKeyIsRefusedWithoutOne(t *testing.T) {
	s := settings.Defaults()
	key := ""
	x := &CallService{
		Settings: fixedSettings{&s},
		Getenv:   func(name string) string { return map[string]string{"OPENAI_API_KEY": key}[name] },
	}
	check.Equal(t, "the brain lacks", (discordCalls{x}).CallPolicy().MissingSetup, "")
	s.Voice.Engine = settings.VoiceEngineRealtime
	if got, want := (discordCalls{x}).CallPolicy().MissingSetup,
		"Calls are held by a realtime model here"; len(got) < len(want) || got[:len(want)] != want {
		t.Errorf("the realtime model lacks %q", got)
	}
	key = "sk-test"
	check.Equal(t, "with a key it lacks", (discordCalls{x}).CallPolicy().MissingSetup, "")
	key, s.Voice.Realtime.URL = "", "http://127.0.0.1:8000/v1"
	check.Equal(t, "a server of one's own lacks", (discordCalls{x}).CallPolicy().MissingSetup, "")
}

// TestWhoIsLeftOutIsNotDecodedWhateverComesToTheEar gives sound straight to the ear of a call: the conversation
// before it holds the sound of those who are left out back, too, so that in a whole call neither can be seen to fail.
func TestWhoIsLeftOutIsNotDecodedWhateverComesToTheEar(t *testing.T) {
	left, err := voice.OpenPrivacyList(t.Context(), optOutStoreOfBob{})
	check.Must(t, err)
	for _, kind := range []string{settings.VoiceEngineText, settings.VoiceEngineRealtime} {
		for guild, want := range map[string][]string{"g": {"ada", "cy"}, "another": {"ada", "bob", "cy"}} {
			s := settings.Defaults()
			s.Voice.Engine = kind
			x := &CallService{
				privacy: left, Settings: fixedSettings{&s}, Scopes: new(cancel.Scopes), Logger: slog.New(slog.DiscardHandler),
				Getenv: noEnv,
			}
			call, ok := x.newConversation(nil, conversation.Location{Kind: sessions.FromDiscord, Guild: guild}, pageChat{},
				share.CallRef{}).(recordedConversation)
			if !ok || call.Privacy != left {
				t.Fatalf("the call has the list %v", call.Privacy)
			}
			ctx, end := context.WithTimeout(t.Context(), time.Minute)
			heard := map[string]bool{}
			for _, from := range []string{"ada", "bob", "cy"} {
				call.Detector.Write(voice.Packet{From: from, Opus: voice.OpusSilence[:], At: time.Now()})
			}
			if err := call.Detector.Run(ctx, soundsOnly(func(s voice.Sound) {
				if heard[s.From] = true; s.From == "cy" { // who spoke last
					end()
				}
			})); err != nil {
				t.Fatal(err)
			}
			end()
			for _, who := range want {
				if !heard[who] {
					t.Errorf("%s, in %s: %s is not heard", kind, guild, who)
				}
			}
			if len(heard) != len(want) {
				t.Errorf("%s, in %s: heard %v, want %v", kind, guild, heard, want)
			}
		}
	}
}

// soundsOnly receives every sound of a call, and nothing else.
type soundsOnly func(s voice.Sound)

func (f soundsOnly) Sound(s voice.Sound)                { f(s) }
func (soundsOnly) Ended(voice.Utterance)                {}
func (soundsOnly) Paused(voice.Utterance)               {}
func (soundsOnly) Speaking(string, time.Duration, bool) {}

func TestRequiredCallEncryptionFollowsTheSettings(t *testing.T) {
	for _, want := range []bool{false, true} {
		s := settings.Defaults()
		s.Voice.RequireEncryption = want
		x := &CallService{
			Settings: fixedSettings{&s}, Scopes: new(cancel.Scopes), Logger: slog.New(slog.DiscardHandler),
			Getenv: noEnv,
		}
		check.Must(t, x.openDiscord(t.Context()))
		call, ok := x.newConversation(nil, conversation.Location{}, pageChat{}, share.CallRef{}).(recordedConversation)
		if !ok || call.Options.RequireEncryption != want || x.joiner.RequireEncryption() != want {
			t.Errorf("the call has %+v, and what sends %v, want %v", call.Options, x.joiner.RequireEncryption(), want)
		}
	}
}

// optOutStoreOfBob is a store in which bob has opted out.
type optOutStoreOfBob struct{}

func (optOutStoreOfBob) ListOptedOut(context.Context) ([]voice.PrivacyKey, error) {
	return []voice.PrivacyKey{{Guild: "g", User: "bob"}}, nil
}

func (optOutStoreOfBob) SetOptedOut(context.Context, voice.PrivacyKey, bool) error { return nil }

func TestTranscriptsAreFoundReadAndRemoved(t *testing.T) {
	x := &CallService{Dir: t.TempDir()}
	if list, err := x.Transcripts(""); err != nil || len(list) != 0 {
		t.Fatalf("before the first call: %v, %v", list, err)
	}
	at := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
	for i, place := range []conversation.Location{{Guild: "5", Channel: "7"}, {Channel: "page"}} {
		lines := make(chan transcriptLine, 10)
		lines <- transcriptLine{At: at.Add(time.Duration(i) * time.Hour), By: "Ada", ID: "1", Text: "Find me a Lamp"}
		lines <- transcriptLine{At: at, Text: "In " + place.Channel}
		close(lines)
		x.writeTranscript(place, lines)
	}
	list, err := x.Transcripts("")
	if err != nil || len(list) != 2 || list[0].Channel != "page" {
		t.Fatalf("listed: %+v, %v", list, err)
	}
	first := list[1]
	if first.Guild != "5" || first.Channel != "7" || !first.At.Equal(at) || first.Count != 2 || len(first.Lines) != 0 ||
		!slices.Equal(first.People, []string{"Ada"}) {
		t.Errorf("the first call: %+v", first)
	}
	for words, want := range map[string]int{"lamp find": 2, "ada zebra": 0, "in 7": 1} {
		if got, err := x.Transcripts(words); err != nil || len(got) != want {
			t.Errorf("%q finds %+v, %v", words, got, err)
		}
	}
	file := filepath.Join(x.Dir, transcriptDir, list[1].Name+transcriptSuffix)
	cut, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	check.Must(t, err)
	_, err = cut.WriteString(`{"at":"20`)
	check.Must(t, errors.Join(err, cut.Close()))
	if got, err := x.Transcript(list[1].Name); err != nil || len(got.Lines) != 2 {
		t.Errorf("read: %+v, %v", got, err)
	}
	check.Must(t, os.WriteFile(filepath.Join(x.Dir, "up"+transcriptSuffix), nil, 0o600))
	for _, name := range []string{"../up", "gone", ""} {
		check.Fails(t, x.RemoveTranscript(name), sessions.ErrNotFound)
	}
	check.Must(t, x.RemoveTranscript(list[1].Name))
	if got, _ := x.Transcripts(""); len(got) != 1 {
		t.Errorf("after one was removed: %+v", got)
	}
}

func TestWhoIsLeftOutIsInNoTranscriptAndNobodyIsWhenTheSettingIsTakenBack(t *testing.T) {
	left, err := voice.OpenPrivacyList(t.Context(), optOutStoreOfBob{})
	check.Must(t, err)
	s := settings.Defaults()
	s.Voice.KeepTranscripts = true
	x := &CallService{privacy: left, Settings: fixedSettings{&s}}
	lines := make(chan transcriptLine, 10)
	keep := transcriptRecorder{x, conversation.Location{Guild: "g"}, lines}
	keep.Record(conversation.TranscriptLine{Speaker: voice.Person{ID: "bob", Name: "Bob"}, Text: "a secret"})
	keep.Record(conversation.TranscriptLine{Speaker: voice.Person{ID: "ada", Name: "Ada"}, Text: "hello"})
	keep.Record(conversation.TranscriptLine{Text: "Hello, Ada."})
	s.Voice.KeepTranscripts = false
	keep.Record(conversation.TranscriptLine{Text: "Goodbye."})
	close(lines)
	var got []string
	for l := range lines {
		got = append(got, l.By+": "+l.Text)
	}
	if len(got) != 2 || got[0] != "Ada: hello" || got[1] != ": Hello, Ada." {
		t.Errorf("kept %q", got)
	}
}

// changingRoles is a Discord on which the roles of people change.
type changingRoles struct {
	recordedPosts

	roles []string
	err   error
}

func (c *changingRoles) RefreshOrigin(_ context.Context, o sessions.Origin) (sessions.Origin, error) {
	o.Roles = c.roles
	return o, c.err
}

func TestPeopleInCallsAreTreatedByTheirPresentRoles(t *testing.T) {
	helper := []string{"helpers"}
	outage := errors.New("503")
	for _, tt := range []struct {
		name       string
		told, have []string
		err        error
		may        bool
	}{
		{"they keep their role", helper, helper, nil, true},
		{"they got it after they came", nil, helper, nil, true},
		{"they lost it after they came", helper, nil, nil, false},
		{"they never had it", nil, nil, nil, false},
		{"they have left the server", helper, nil, bot.ErrLeftGuild, false},
		{"Discord does not say", helper, nil, outage, true},
		{"Discord does not say, and they had it not", nil, nil, outage, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := &CallService{
				Logger: slog.New(slog.DiscardHandler),
				Access: helpersOnly{},
			}
			x.SetBot(&changingRoles{roles: tt.have, err: tt.err})
			o := sessions.Origin{Kind: sessions.FromDiscord, Guild: "g", Channel: "c", User: "42", Roles: tt.told}
			asks := &turns{}
			a, err := callReplier{ChargedReplier{asks}, x}.Reply(t.Context(), assistant.Turn{Origin: o}, nil)
			check.Must(t, err)
			if (len(asks.origins) == 1) != tt.may || !tt.may && a.Text == "" {
				t.Errorf("asked %d times, answered %q", len(asks.origins), a.Text)
			}
			if why := (callHost{service: x}).DisabledReason(t.Context(), o); tt.may && why != "" {
				t.Errorf("refused: %s", why)
			}
			used := false
			tools := x.byPresentRoles(
				[]sessions.Tool{{Call: func(context.Context, sessions.Origin, json.RawMessage) (string, []llm.Image, error) {
					used = true
					return "", nil, nil
				}}})
			if _, _, err := tools[0].Call(t.Context(), o, nil); used != tt.may || (err == nil) != tt.may {
				t.Errorf("a tool: used %v, %v", used, err)
			}
			if same := (callHost{service: x}).SameRights(t.Context(), o, o); same != tt.may {
				t.Errorf("they stand in for who is as they are: %v", same)
			}
		})
	}
}

// helpersOnly lets people with the role "helpers" ask.
type helpersOnly struct{}

func (helpersOnly) AccessRefusal(o sessions.Origin) string {
	if slices.Contains(o.Roles, "helpers") {
		return ""
	}
	return "you are no helper"
}

func (helpersOnly) Rights(_ context.Context, o sessions.Origin) ([]string, error) {
	return o.Roles, nil
}

// noEnv is an environment in which nothing is set.
func noEnv(string) string { return "" }

// turns is an assistant that records who has asked.
type turns struct{ origins []sessions.Origin }

func (r *turns) Reply(_ context.Context, t assistant.Turn, _ func(assistant.Progress)) (assistant.Answer, error) {
	r.origins = append(r.origins, t.Origin)
	return assistant.Answer{Text: "ok"}, nil
}
