package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/browsermgr/chrome"
	"clank/browsermgr/page"
	"clank/dashboard/client"
	"clank/dashboard/wire"
	"clank/internal/discordtest"
	"clank/internal/discordtest/member"
	"clank/internal/discordtest/private"
	"clank/internal/discordtest/voiceserver"
	"clank/internal/voiceloop"
	"clank/sessions"
	"clank/voice"
	"clank/voice/audio"
)

// speaking is the voice of people in these tests.
var speaking = voiceloop.Voice{Program: "espeak-ng", Name: "en-us", Speed: 1}

// canHear skips where the programs are missing that hear and speak.
func canHear(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("its parts are tested in their packages")
	}
	for _, p := range []string{"espeak-ng", "pocketsphinx_continuous"} {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("needs %s: run scripts/ensure-speech", p)
		}
	}
}

// scribe is a server that puts speech into words: into those it was told.
type scribe struct {
	*httptest.Server
	asked chan string // what each request was answered

	mu    sync.Mutex
	words []string
}

func newScribe(t *testing.T) *scribe {
	t.Helper()
	s := &scribe{asked: make(chan string, 100)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		file, _, err := r.FormFile("file")
		if err != nil || r.URL.Path != "/v1/audio/transcriptions" {
			http.Error(w, fmt.Sprint(r.URL.Path, err), http.StatusBadRequest)
			return
		}
		defer file.Close()
		magic := make([]byte, 4)
		if _, err := io.ReadFull(file, magic); err != nil || string(magic) != "OggS" {
			http.Error(w, fmt.Sprintf("%q, %v", magic, err), http.StatusBadRequest)
			return
		}
		text := s.next()
		_ = json.NewEncoder(w).Encode(map[string]string{"text": text})
		s.asked <- text
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *scribe) next() (text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.words) > 0 {
		text, s.words = s.words[0], s.words[1:]
	}
	return text
}

func (s *scribe) hears(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.words = append(s.words, text)
}

// forget drops what was asked.
func (s *scribe) forget() {
	for len(s.asked) > 0 {
		<-s.asked
	}
}

// await waits until the server was asked for that text.
func (s *scribe) await(t *testing.T, text string) {
	t.Helper()
	ctx := waiting(t)
	for {
		select {
		case got := <-s.asked:
			if got == text {
				return
			}
		case <-ctx.Done():
			t.Fatalf("nobody was heard saying %q", text)
		}
	}
}

// house is an emulated Discord with a voice channel, and the real program in it.
type house struct {
	*discordtest.Server
	t       *testing.T
	bot     discordtest.Bot
	guild   discordtest.Guild
	ada     discordtest.User
	room    discordtest.Channel // of text
	lounge  discordtest.Channel // of voice
	scribe  *scribe
	program *program
}

func newHouse(t *testing.T) *house {
	t.Helper()
	d, err := discordtest.Start(discordtest.Config{Voice: &voiceserver.Config{DAVE: 1}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	h := &house{Server: d, t: t, scribe: newScribe(t)}
	h.bot, h.ada = d.CreateBot("clank", "secret"), d.CreateUser("ada")
	h.guild = d.CreateGuild("home", h.ada)
	d.AddMember(h.guild, h.bot.User)
	h.room, h.lounge = d.CreateChannel(h.guild, "general"), d.CreateVoiceChannel(h.guild, "lounge")
	trust := filepath.Join(t.TempDir(), "voice.pem")
	if err := os.WriteFile(trust, d.Voice.Certificate(), 0o600); err != nil {
		t.Fatal(err)
	}
	home, environ := newPlace(t)
	environ = append(environ, "DISCORD_TOKEN="+h.bot.Token, "CLANK_DISCORD_API="+d.URL, "SSL_CERT_FILE="+trust)
	if got := start(t, home, environ, "config", "set", "interaction.voice.transcription.baseUrl", h.scribe.URL+"/v1").code(t); got != exitDone {
		t.Fatalf("config set: exit code = %d", got)
	}
	h.program = serving(t, home, environ)
	if err := d.WaitConnected(waiting(t), h.bot); err != nil {
		t.Fatal(err)
	}
	return h
}

// does uses a subcommand of /clank and returns what it is answered.
func (h *house) does(who discordtest.User, sub string, args discordtest.Args) string {
	h.t.Helper()
	it, err := h.SlashCommand(h.room, who, "clank "+sub, args)
	if err != nil {
		h.t.Fatal(err)
	}
	it, err = h.WaitInteraction(waiting(h.t), it, func(it discordtest.Interaction) bool {
		return it.Original != nil && it.Original.Content != "" && it.Original.Flags&discordtest.FlagLoading == 0
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return it.Original.Content
}

// reads waits for a message of the bot in the voice channel's chat.
func (h *house) reads(want string) discordtest.Message {
	h.t.Helper()
	m, err := h.WaitMessage(waiting(h.t), h.lounge, func(m discordtest.Message) bool {
		return m.Author.ID == h.bot.ID && strings.Contains(m.Content, want)
	})
	if err != nil {
		h.t.Fatalf("%q: %v", want, err)
	}
	return m
}

// talker is a person in the call, with a microphone.
type talker struct {
	*member.Member
	microphone *voiceloop.Microphone
}

func (h *house) enters(who discordtest.User) *talker {
	h.t.Helper()
	m, err := h.EnterCall(waiting(h.t), h.lounge, who, member.Options{Privacy: private.Ours})
	if err != nil {
		h.t.Fatal(err)
	}
	return &talker{Member: m, microphone: &voiceloop.Microphone{To: m}}
}

// switchOn begins to send what the person says, until the test ends.
func (p *talker) switchOn(t *testing.T) {
	t.Helper()
	ctx, off := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.microphone.Run(ctx) }()
	t.Cleanup(func() {
		off()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		_ = p.Close()
	})
}

// says says a text after a short pause.
func (p *talker) says(t *testing.T, text string) {
	t.Helper()
	lines, err := voiceloop.Lines(t.Context(), speaking, voiceloop.Text{Sentences: []string{text}})
	if err != nil {
		t.Fatal(err)
	}
	pause := make([]int16, voice.RateOpus*3/10)
	if _, _, err := p.microphone.Say(waiting(t), append(pause, lines[0].Samples...)); err != nil {
		t.Fatal(err)
	}
}

// hears waits until somebody's sound is as loud as speech, and passes over what came before.
func (p *talker) hears(t *testing.T, from string) {
	t.Helper()
	for len(p.Frames()) > 0 {
		<-p.Frames()
	}
	decoder, err := audio.NewDecoder(voice.RateOpus)
	if err != nil {
		t.Fatal(err)
	}
	ctx := waiting(t)
	for loud := 0; loud < 10; {
		f, err := p.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if f.From != from || f.Err != nil {
			continue
		}
		samples, err := decoder.Decode(f.Data)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, s := range samples {
			sum += float64(s) * float64(s)
		}
		if math.Sqrt(sum/float64(max(len(samples), 1))) > 300 {
			loud++
		}
	}
}

func TestACallOnDiscord(t *testing.T) {
	canHear(t)
	t.Parallel()
	h := newHouse(t)
	site := newSite(t)
	ada := h.enters(h.ada)
	if got := h.does(h.ada, "join", nil); !strings.Contains(got, "I am in <#"+h.lounge.ID+">") {
		t.Fatalf("/clank join says %q", got)
	}
	h.reads("listen")
	ada.hears(t, h.bot.ID)
	if err := ada.Wait(waiting(t), "keys", func() bool { return ada.Private().(*private.Session).Ready() }); err != nil {
		t.Fatal(err)
	}
	ada.switchOn(t)

	asks := "Clank, open " + site.URL + ", read"
	h.scribe.hears(asks)
	ada.says(t, "ferry times")
	h.scribe.await(t, asks)
	onePicture(t, h.reads("ferry at 10:40"))
	ada.hears(t, h.bot.ID)

	asks = "Clank, open " + site.URL + "/hang"
	h.scribe.hears(asks)
	ada.says(t, "other page")
	site.awaitHit(t, "/hang")
	h.stops(ada)

	h.scribe.forget()
	if got := h.does(h.ada, "privacy", discordtest.Args{"choice": "out"}); !strings.Contains(got, "You are left out") {
		t.Errorf("/clank privacy says %q", got)
	}
	ada.says(t, "not heard")
	if got := h.does(h.ada, "privacy", discordtest.Args{"choice": "in"}); !strings.Contains(got, "I listen to you") {
		t.Errorf("/clank privacy says %q", got)
	}
	ada.says(t, "heard again")
	h.scribe.hears("what is heard now") // and not what was said before
	select {
	case got := <-h.scribe.asked:
		if got != "what is heard now" {
			t.Errorf("what was said by somebody who is left out was put into words")
		}
	case <-waiting(t).Done():
		t.Error("nobody is heard who wants it again")
	}

	if got := h.does(h.ada, "leave", nil); !strings.Contains(got, "left the call") {
		t.Errorf("/clank leave says %q", got)
	}
	if err := h.Wait(waiting(t), "the end of the call", func() bool { return h.VoiceStates(h.guild)[h.bot.ID].ChannelID == nil }); err != nil {
		t.Error(err)
	}
	if got := h.Voice.Violations(); len(got) != 0 {
		t.Errorf("got violations %v, want none", got)
	}
	h.program.interrupt(t)
	if got := h.program.code(t); got != exitDone {
		t.Errorf("exit code = %d, want %d", got, exitDone)
	}
}

// stops has a person say "stop" until it is heard; a voice that is made may have to say it twice.
func (h *house) stops(who *talker) {
	h.t.Helper()
	for range 4 {
		who.says(h.t, "stop")
		ctx, cancel := context.WithTimeout(h.t.Context(), 4*time.Second)
		_, err := h.WaitMessage(ctx, h.lounge, func(m discordtest.Message) bool { return strings.Contains(m.Content, "Stopped, as ada said") })
		cancel()
		if err == nil {
			return
		}
	}
	h.t.Fatal("a spoken stop was not heard")
}

// stopFile is a WAV file of a microphone into which somebody says "stop" every few seconds.
func stopFile(t *testing.T) string {
	t.Helper()
	take, err := voiceloop.Record(t.Context(), speaking, voiceloop.Text{Sentences: []string{"stop"}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "stop.wav")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(audio.WriteWAV(f, voice.RateOpus, take.Samples), f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// caller is a real browser with a microphone into which the file is played.
func caller(t *testing.T, microphone string) *page.Tab {
	t.Helper()
	exe, err := chrome.Find(t.Context(), os.Getenv("CLANK_CHROMIUM"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := chrome.Launch(waiting(t), chrome.Options{Executable: exe.Path, Headless: true, Args: []string{
		"--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream", "--mute-audio", "--use-file-for-fake-audio-capture=" + microphone,
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Stop(context.Background()) })
	b, err := page.Connect(waiting(t), p.WebSocketURL, page.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	tab, err := b.NewTab(waiting(t), page.TabOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// shows waits until an expression is true on a page, which may be about to become another one.
func shows(t *testing.T, tab *page.Tab, expression string) {
	t.Helper()
	ctx := waiting(t)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		got, err := tab.Act(ctx, page.Action{Kind: page.KindEvaluate, Fn: "() => !!(" + expression + ")"})
		if err == nil && string(got.Value) == "true" {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("the page never shows %s: %v", expression, err)
		}
	}
}

func TestStopIsSaidOnTheCallPage(t *testing.T) {
	canHear(t)
	t.Parallel()
	microphone := stopFile(t)
	site := newSite(t)
	home, environ := newPlace(t)
	server := serving(t, home, environ)
	login := strings.TrimPrefix(await(t, server.stdout, "clank is ready"), "clank is ready: ")
	base, err := url.Parse(login)
	if err != nil {
		t.Fatal(err)
	}
	tab := caller(t, microphone)
	if _, err := tab.Navigate(waiting(t), login); err != nil {
		t.Fatal(err)
	}
	shows(t, tab, `location.pathname === "/"`)

	var place struct{ URL, Secret string }
	data, err := os.ReadFile(filepath.Join(home, "server.json"))
	if err == nil {
		err = json.Unmarshal(data, &place)
	}
	if err != nil {
		t.Fatal(err)
	}
	board := &client.Client{Base: place.URL, Token: place.Secret}
	task, err := board.Start(waiting(t), wire.TaskRequest{Prompt: "open " + site.URL + "/hang"})
	if err != nil {
		t.Fatal(err)
	}
	site.awaitHit(t, "/hang")
	if _, err := tab.Navigate(waiting(t), base.Scheme+"://"+base.Host+"/call"); err != nil {
		t.Fatal(err)
	}
	shows(t, tab, `document.getElementById("join")`)
	if _, err := tab.Act(waiting(t), page.Action{Kind: page.KindEvaluate, Fn: `() => {
		document.getElementById("name").value = "Ada";
		document.getElementById("join").click();
	}`}); err != nil {
		t.Fatal(err)
	}
	shows(t, tab, `document.getElementById("log").textContent.includes("Stopped, as Ada said.")`)
	view, err := board.Task(waiting(t), task.TaskID)
	if err != nil || view.Task.State != sessions.TaskStopped {
		t.Errorf("the task is %+v, %v, want it stopped", view.Task, err)
	}
}
