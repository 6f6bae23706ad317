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
	"clank/browsermgr/page/action/actiontable"
	"clank/dashboard/api"
	"clank/internal/test/discordtest"
	"clank/internal/test/discordtest/voicetest"
	"clank/internal/test/voiceloop"
	"clank/sessions"
	"clank/voice"

	"github.com/google/go-cmp/cmp"
)

// testVoice is the voice of people in these tests.
var testVoice = voiceloop.Voice{Program: "espeak-ng", Name: "en-us", Speed: 1}

// requireSpeechPrograms skips where the programs are missing that hear and speak.
func requireSpeechPrograms(t *testing.T) {
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

// fakeTranscriber is a server that puts speech into words: into those it was told.
type fakeTranscriber struct {
	*httptest.Server
	asked chan string // what each request was answered

	mu    sync.Mutex
	words []string
}

func newFakeTranscriber(t *testing.T) *fakeTranscriber {
	t.Helper()
	s := &fakeTranscriber{asked: make(chan string, 100)}
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

func (s *fakeTranscriber) next() (text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.words) > 0 {
		text, s.words = s.words[0], s.words[1:]
	}
	return text
}

func (s *fakeTranscriber) queueText(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.words = append(s.words, text)
}

// clearTexts drops what was asked.
func (s *fakeTranscriber) clearTexts() {
	for len(s.asked) > 0 {
		<-s.asked
	}
}

// await waits until the server was asked for that text.
func (s *fakeTranscriber) await(t *testing.T, text string) {
	t.Helper()
	ctx := testDeadline(t)
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

// callFixture is an emulated Discord with two voice channels, and the real program in it.
type callFixture struct {
	*discordtest.Server
	whole   *testing.T
	t       *testing.T // the part that runs
	bot     discordtest.Bot
	eve     discordtest.Bot // the account that goes live
	guild   discordtest.Guild
	ada     discordtest.User
	bob     discordtest.User
	room    discordtest.Channel // of text
	lounge  discordtest.Channel // of voice
	attic   discordtest.Channel // of voice
	call    discordtest.Channel // where the call is now
	scribe  *fakeTranscriber
	program *runningProgram
}

func newCallFixture(t *testing.T) *callFixture {
	t.Helper()
	d, err := discordtest.Start(discordtest.Config{Voice: &voicetest.Config{DAVE: 1}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	h := &callFixture{Server: d, whole: t, t: t, scribe: newFakeTranscriber(t)}
	h.bot, h.eve = d.CreateBot("clank", "secret"), d.CreateAccount("eve", "of eve")
	h.ada, h.bob = d.CreateUser("ada"), d.CreateUser("bob")
	h.guild = d.CreateGuild("home", h.ada)
	for _, u := range []discordtest.User{h.bot.User, h.eve.User, h.bob} {
		d.AddMember(h.guild, u)
	}
	h.room, h.lounge, h.attic = d.CreateChannel(h.guild, "general"), d.CreateVoiceChannel(h.guild, "lounge"), d.CreateVoiceChannel(h.guild, "attic")
	h.call = h.lounge
	trust := filepath.Join(t.TempDir(), "voice.pem")
	if err := os.WriteFile(trust, d.Voice.Certificate(), 0o600); err != nil {
		t.Fatal(err)
	}
	home, environ := newTestHome(t)
	environ = append(environ, "DISCORD_TOKEN="+h.bot.Token, "DISCORD_GOLIVE_TOKEN="+h.eve.Token, "CLANK_DISCORD_API="+d.URL, "SSL_CERT_FILE="+trust)
	for key, value := range map[string]string{"interaction.voice.transcription.baseUrl": h.scribe.URL + "/v1", "interaction.share.goLive": "true"} {
		if got := startProgram(t, home, environ, "config", "set", key, value).exitCode(t); got != exitDone {
			t.Fatalf("config set %s: exit code = %d", key, got)
		}
	}
	h.program = startServer(t, home, environ, "--watch-addr", "127.0.0.1:0")
	for _, b := range []discordtest.Bot{h.bot, h.eve} {
		if err := d.WaitConnected(testDeadline(t), b); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// runCommand uses a subcommand of /clank and returns what it is answered.
func (h *callFixture) runCommand(who discordtest.User, sub string, args discordtest.Args) string {
	h.t.Helper()
	it, err := h.SlashCommand(h.room, who, "clank "+sub, args)
	if err != nil {
		h.t.Fatal(err)
	}
	it, err = h.WaitInteraction(testDeadline(h.t), it, func(it discordtest.Interaction) bool {
		return it.Original != nil && it.Original.Content != "" && it.Original.Flags&discordtest.FlagLoading == 0 && len(it.Original.Buttons()) == 0
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return it.Original.Content
}

// awaitMessage waits for a message of the bot in the chat of the call.
func (h *callFixture) awaitMessage(want string) discordtest.Message {
	h.t.Helper()
	m, err := h.WaitMessage(testDeadline(h.t), h.call, func(m discordtest.Message) bool {
		return m.Author.ID == h.bot.ID && strings.Contains(m.Content, want)
	})
	if err != nil {
		h.t.Fatalf("%q: %v; there are %q", want, err, h.messagesIn(h.call))
	}
	return m
}

// messagesIn returns what the bot has written into a channel.
func (h *callFixture) messagesIn(in discordtest.Channel) (texts []string) {
	for _, m := range h.Messages(in) {
		if m.Author.ID == h.bot.ID {
			texts = append(texts, m.Content)
		}
	}
	return texts
}

// callMember is a person in the call, with a microphone.
type callMember struct {
	*voicetest.Member
	name       string
	microphone *voiceloop.Microphone
	off        func() // ends what switchOn has begun; nil before
}

func (h *callFixture) joinVoice(in discordtest.Channel, who discordtest.User) *callMember {
	h.t.Helper()
	m, err := h.EnterCall(testDeadline(h.t), in, who, voicetest.MemberOptions{Privacy: voicetest.NewDAVESession})
	if err != nil {
		h.t.Fatal(err)
	}
	return &callMember{Member: m, name: who.Username, microphone: &voiceloop.Microphone{To: m}}
}

// awaitKeys waits until the person can be understood, and understands others.
func (p *callMember) awaitKeys(t *testing.T) {
	t.Helper()
	if err := p.Wait(testDeadline(t), "keys", func() bool { return p.Private().(*voicetest.DAVESession).Ready() }); err != nil {
		t.Fatal(err)
	}
}

// openMicrophone begins to send what the person says, until the test ends.
func (p *callMember) openMicrophone(t *testing.T) {
	t.Helper()
	ctx, off := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.microphone.Run(ctx) }()
	p.off = sync.OnceFunc(func() {
		off()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		_ = p.Close()
	})
	t.Cleanup(p.off)
}

// speak says a text after a short pause.
func (p *callMember) speak(t *testing.T, text string) {
	t.Helper()
	lines, err := voiceloop.SynthesizeLines(t.Context(), testVoice, voiceloop.TestText{Sentences: []string{text}})
	if err != nil {
		t.Fatal(err)
	}
	pause := make([]int16, voice.RateOpus*3/10)
	if _, _, err := p.microphone.Say(testDeadline(t), append(pause, lines[0].Samples...)); err != nil {
		t.Fatal(err)
	}
}

// awaitSpeech waits until somebody's sound is as loud as speech, and passes over what came before.
func (p *callMember) awaitSpeech(t *testing.T, from string) {
	t.Helper()
	for len(p.Frames()) > 0 {
		<-p.Frames()
	}
	decoder, err := voice.NewOpusDecoder(voice.RateOpus)
	if err != nil {
		t.Fatal(err)
	}
	ctx := testDeadline(t)
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
	requireSpeechPrograms(t)
	t.Parallel()
	h := newCallFixture(t)
	site := newTestSite(t)
	ada, bob := h.joinVoice(h.lounge, h.ada), h.joinVoice(h.attic, h.bob)
	if got := h.runCommand(h.ada, "join", nil); !strings.Contains(got, "I am in <#"+h.lounge.ID+">") {
		t.Fatalf("/clank join says %q", got)
	}
	h.awaitMessage("listen")
	ada.awaitSpeech(t, h.bot.ID)
	ada.awaitKeys(t)
	ada.openMicrophone(t)

	_ = t.Run("who asks is answered", func(t *testing.T) { h.in(t).answers(ada, site) }) &&
		t.Run("it goes on where it is moved to", func(t *testing.T) { h.in(t).followed(ada, bob, site) }) &&
		t.Run("who wants to be left out is not heard", func(t *testing.T) { h.in(t).leavesOut(bob) }) &&
		t.Run("it ends with a kick, with its channel and when it is told to", func(t *testing.T) { h.in(t).ends(ada) })
	h.t = t
	if got := h.Voice.Violations(); len(got) != 0 {
		t.Errorf("got violations %v, want none", got)
	}
	h.program.interrupt(t)
	if got := h.program.exitCode(t); got != exitDone {
		t.Errorf("exit code = %d, want %d", got, exitDone)
	}
}

// in returns the house for a part of a test.
func (h *callFixture) in(t *testing.T) *callFixture {
	t.Helper()
	h.t = t
	return h
}

// answers has somebody who is alone with us ask for something, aloud and without our name.
func (h *callFixture) answers(who *callMember, site *testSite) {
	h.t.Helper()
	asks := "open " + site.URL + ", read"
	h.scribe.queueText(asks)
	who.speak(h.t, "ferry times")
	h.scribe.await(h.t, asks)
	onePicture(h.t, h.awaitMessage("ferry at 10:40"))
	who.awaitSpeech(h.t, h.bot.ID)
}

// followed has a moderator move clank from ada's channel into bob's, while it shows a page there.
func (h *callFixture) followed(ada, bob *callMember, site *testSite) {
	h.t.Helper()
	h.runCommand(h.ada, "browse", discordtest.Args{"task": "open " + site.URL})
	h.shares(h.ada)
	h.awaitMessage("ada shares a browser page.")
	left := h.messagesIn(h.lounge)

	h.MoveVoice(h.attic, h.bot.User)
	h.call = h.attic
	h.awaitMessage("joined the call and listen")
	bob.awaitSpeech(h.t, h.bot.ID)
	bob.awaitKeys(h.t)
	bob.openMicrophone(h.whole)
	h.awaitMessage("The call has moved, and the page that ada shares with it.")
	h.seenBy(h.bob)
	h.answers(bob, site)

	asks := "open " + site.URL + "/hang"
	h.scribe.queueText(asks)
	bob.speak(h.t, "other page")
	site.awaitHit(h.t, "/hang")
	ada.speak(h.t, "stop") // which is no business of this call any more
	h.stops(bob)
	site.awaitHit(h.t, abandonedHit)
	h.seenBy(h.bob)
	if diff := cmp.Diff(left, h.messagesIn(h.lounge)); diff != "" {
		h.t.Errorf("written into the chat that the call has left (-then +now):\n%s", diff)
	}
	for _, once := range []string{"joined the call and listen", "The call has moved", "shares"} {
		if n := strings.Count(strings.Join(h.messagesIn(h.attic), "\n"), once); n != 1 {
			h.t.Errorf("told %d times that %q, want once: %q", n, once, h.messagesIn(h.attic))
		}
	}
}

// shares has somebody show what they browsed last to the call.
func (h *callFixture) shares(who discordtest.User) {
	h.t.Helper()
	if got := h.runCommand(who, "share", nil); !strings.Contains(got, "Open the stream") {
		h.t.Fatalf("/clank share says %q", got)
	}
	h.stream()
}

// stream waits until a page is shown by Go Live in the call, and nowhere else.
func (h *callFixture) stream() (s discordtest.Stream) {
	h.t.Helper()
	if err := h.Wait(testDeadline(h.t), "a page shown in the call alone", func() bool {
		all := h.Streams()
		for _, s = range all {
			if s.Channel != h.call.ID {
				return false
			}
		}
		return len(all) == 1
	}); err != nil {
		h.t.Fatalf("%v; there are %v, and the call is told %q", err, h.Streams(), h.messagesIn(h.call))
	}
	return s
}

// seenBy has somebody in the call see a picture of what is shown there.
func (h *callFixture) seenBy(who discordtest.User) {
	h.t.Helper()
	watching, err := h.WatchStream(testDeadline(h.t), h.stream().Key, who, voicetest.MemberOptions{Privacy: voicetest.NewDAVESession})
	if err != nil {
		h.t.Fatal(err)
	}
	defer watching.Close()
	watching.RequestQuality(100)
	for ctx := testDeadline(h.t); ; {
		f, err := watching.Next(ctx)
		if err != nil {
			h.t.Fatal(err)
		}
		if f.Video && f.Err == nil {
			return
		}
	}
}

// leavesOut has somebody not want to be heard, and then want it again.
func (h *callFixture) leavesOut(who *callMember) {
	h.t.Helper()
	if got := h.runCommand(h.bob, "privacy", discordtest.Args{"choice": "out"}); !strings.Contains(got, "You are left out") {
		h.t.Errorf("/clank privacy says %q", got)
	}
	h.scribe.clearTexts() // what was said before
	who.speak(h.t, "not heard")
	if got := h.runCommand(h.bob, "privacy", discordtest.Args{"choice": "in"}); !strings.Contains(got, "I listen to you") {
		h.t.Errorf("/clank privacy says %q", got)
	}
	who.speak(h.t, "heard again")
	h.scribe.queueText("what is heard now") // and not what was said before
	select {
	case got := <-h.scribe.asked:
		if got != "what is heard now" {
			h.t.Errorf("what was said by somebody who is left out was put into words")
		}
	case <-testDeadline(h.t).Done():
		h.t.Error("nobody is heard who wants it again")
	}
}

// ends ends the call in the ways in which people can, and begins it again where ada is.
func (h *callFixture) ends(ada *callMember) {
	h.t.Helper()
	ada.off()
	h.LeaveVoice(h.guild, h.bot.User) // a moderator disconnects it
	h.over("a kick")
	h.joins()
	if got := h.runCommand(h.ada, "leave", nil); !strings.Contains(got, "left the call") {
		h.t.Errorf("/clank leave says %q", got)
	}
	h.over("leaving")
	h.joins()
	h.DeleteChannel(h.lounge)
	h.over("the end of the channel")
}

// joins has ada bring clank into her channel, and show a page there.
func (h *callFixture) joins() {
	h.t.Helper()
	h.call = h.lounge
	if got := h.runCommand(h.ada, "join", nil); !strings.Contains(got, "I am in <#"+h.lounge.ID+">") {
		h.t.Fatalf("/clank join says %q", got)
	}
	h.shares(h.ada)
}

// over waits until nothing is left of the call.
func (h *callFixture) over(why string) {
	h.t.Helper()
	if err := h.Wait(testDeadline(h.t), "nothing to be left after "+why, func() bool {
		there := h.VoiceStates(h.guild)
		return there[h.bot.ID].ChannelID == nil && there[h.eve.ID].ChannelID == nil && len(h.Streams()) == 0
	}); err != nil {
		there := h.VoiceStates(h.guild)
		h.t.Fatalf("%v: clank is there: %v, its account for Go Live: %v, streams: %d",
			err, there[h.bot.ID].ChannelID != nil, there[h.eve.ID].ChannelID != nil, len(h.Streams()))
	}
	for ctx := testDeadline(h.t); ; {
		got := h.runCommand(h.ada, "unshare", nil)
		if strings.Contains(got, "in no call") {
			return
		}
		if ctx.Err() != nil {
			h.t.Fatalf("after %s, /clank unshare says %q", why, got)
		}
	}
}

// stops has a person say "stop" until it is heard; a voice that is made may have to say it twice.
func (h *callFixture) stops(who *callMember) {
	h.t.Helper()
	for range 4 {
		who.speak(h.t, "stop")
		ctx, cancel := context.WithTimeout(h.t.Context(), 4*time.Second)
		_, err := h.WaitMessage(ctx, h.call, func(m discordtest.Message) bool { return strings.Contains(m.Content, "Stopped, as "+who.name+" said") })
		cancel()
		if err == nil {
			return
		}
	}
	h.t.Fatalf("a spoken stop was not heard; the call is told %q", h.messagesIn(h.call))
}

// stopRecording returns a WAV file of a microphone into which somebody says "stop" every few seconds.
func stopRecording(t *testing.T) string {
	t.Helper()
	take, err := voiceloop.Record(t.Context(), testVoice, voiceloop.TestText{Sentences: []string{"stop"}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "stop.wav")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(voice.WriteWAV(f, voice.RateOpus, take.Samples), f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// openCallerTab returns a real browser with a microphone into which the file is played.
func openCallerTab(t *testing.T, microphone string) *page.Tab {
	t.Helper()
	exe, err := chrome.Find(t.Context(), os.Getenv("CLANK_CHROMIUM"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := chrome.Launch(testDeadline(t), chrome.LaunchOptions{Executable: exe.Path, Headless: true, Args: []string{
		"--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream", "--mute-audio", "--use-file-for-fake-audio-capture=" + microphone,
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Stop(context.Background()) })
	b, err := page.Connect(testDeadline(t), p.WebSocketURL, page.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	tab, err := b.NewTab(testDeadline(t), page.TabOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// awaitOnPage waits until an expression is true on a page, which may be about to become another one.
func awaitOnPage(t *testing.T, tab *page.Tab, expression string) {
	t.Helper()
	ctx := testDeadline(t)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		got, err := tab.Act(ctx, page.Action{Kind: actiontable.KindEvaluate, Fn: "() => !!(" + expression + ")"})
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
	requireSpeechPrograms(t)
	t.Parallel()
	microphone := stopRecording(t)
	site := newTestSite(t)
	home, environ := newTestHome(t)
	server := startServer(t, home, environ)
	login := strings.TrimPrefix(awaitOutput(t, server.stdout, "clank is ready"), "clank is ready: ")
	base, err := url.Parse(login)
	if err != nil {
		t.Fatal(err)
	}
	tab := openCallerTab(t, microphone)
	if _, err := tab.Navigate(testDeadline(t), login); err != nil {
		t.Fatal(err)
	}
	awaitOnPage(t, tab, `location.pathname === "/"`)

	var place struct{ URL, Secret string }
	data, err := os.ReadFile(filepath.Join(home, "server.json"))
	if err == nil {
		err = json.Unmarshal(data, &place)
	}
	if err != nil {
		t.Fatal(err)
	}
	board := &api.Client{Base: place.URL, Token: place.Secret}
	task, err := board.Start(testDeadline(t), api.TaskRequest{Prompt: "open " + site.URL + "/hang"})
	if err != nil {
		t.Fatal(err)
	}
	site.awaitHit(t, "/hang")
	if _, err := tab.Navigate(testDeadline(t), base.Scheme+"://"+base.Host+"/call"); err != nil {
		t.Fatal(err)
	}
	awaitOnPage(t, tab, `document.getElementById("join")`)
	if _, err := tab.Act(testDeadline(t), page.Action{Kind: actiontable.KindEvaluate, Fn: `() => {
		document.getElementById("name").value = "Ada";
		document.getElementById("join").click();
	}`}); err != nil {
		t.Fatal(err)
	}
	awaitOnPage(t, tab, `document.getElementById("log").textContent.includes("Stopped, as Ada said.")`)
	view, err := board.Task(testDeadline(t), task.TaskID)
	if err != nil || view.Task.State != sessions.TaskStopped {
		t.Errorf("the task is %+v, %v, want it stopped", view.Task, err)
	}
}
