package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/cmplx"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/settings"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
	"clank/internal/test/discordtest"
	"clank/internal/test/discordtest/voicetest"
	"clank/internal/test/voiceloop"
	"clank/llm/plain"
	"clank/sessions"
	"clank/voice"
)

// testVoice is the voice of people in these tests.
var testVoice = voiceloop.Voice{Program: "espeak-ng", Name: "en-us", Speed: 1}

// fakeTranscriber is a transcription server that recognizes speech by the tone mixed into it. Speech without a tone,
// such as a spoken stop, is not recognized.
type fakeTranscriber struct {
	*httptest.Server
	heard chan string // what each request was answered

	mu     sync.Mutex
	words  []string // by the number of the tone
	record []string // what was heard, for messages
}

func newFakeTranscriber(t *testing.T) *fakeTranscriber {
	t.Helper()
	s := &fakeTranscriber{heard: make(chan string, 100)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		file, _, err := r.FormFile("file")
		if err != nil || r.URL.Path != "/v1/audio/transcriptions" {
			http.Error(w, fmt.Sprint(r.URL.Path, err), http.StatusBadRequest)
			return
		}
		defer file.Close()
		samples, err := decodeOgg(file)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		text := s.understand(samples)
		_ = json.NewEncoder(w).Encode(map[string]string{"text": text})
		s.heard <- text
	}))
	t.Cleanup(s.Close)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("heard: %s", strings.Join(s.record, "; "))
		}
	})
	return s
}

func decodeOgg(r io.Reader) (samples []int16, err error) {
	file, err := voice.NewOggReader(r)
	if err != nil {
		return nil, err
	}
	decoder, err := voice.NewOpusDecoder(voice.RateOpus)
	if err != nil {
		return nil, err
	}
	for {
		packet, err := file.Next()
		if errors.Is(err, io.EOF) {
			return samples, nil
		}
		if err != nil {
			return nil, err
		}
		piece, err := decoder.Decode(packet)
		if err != nil {
			return nil, err
		}
		samples = append(samples, piece...)
	}
}

// mark mixes a tone into speech by which the server recognizes it.
func (s *fakeTranscriber) mark(speech []int16, means string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	step := toneStep(len(s.words))
	s.words = append(s.words, means)
	for i := range speech {
		speech[i] = int16(float64(speech[i])/2 + 6000*math.Sin(step*float64(i)))
	}
}

// toneStep is the phase difference between two samples of a tone.
func toneStep(number int) float64 { return 2 * math.Pi * float64(1000+400*number) / voice.RateOpus }

// understand returns the meaning of the tone that is clearly louder than the speech at its frequency, for the longest
// time: an utterance may also have pauses.
func (s *fakeTranscriber) understand(samples []int16) (means string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	const piece, loud = voice.RateOpus / 50, 2000 // of a tone with an amplitude of 6000, half is seen
	most := 9
	for number, text := range s.words {
		step, n := toneStep(number), 0
		for i := 0; i+piece <= len(samples); i += piece {
			var at complex128
			for k, v := range samples[i : i+piece] {
				at += cmplx.Rect(float64(v), step*float64(k))
			}
			if cmplx.Abs(at) > loud*piece {
				n++
			}
		}
		if n > most {
			means, most = text, n
		}
	}
	s.record = append(s.record, fmt.Sprintf("%q: %d pieces of %d", means, most, len(samples)/piece))
	return means
}

// await waits until text was recognized. not must not be recognized before.
func (s *fakeTranscriber) await(t *testing.T, text, not string) {
	t.Helper()
	if !s.hears(testDeadline(t), t, text, not) {
		t.Fatalf("nobody was heard saying %q", text)
	}
}

// hears reports whether text is recognized before ctx ends.
func (s *fakeTranscriber) hears(ctx context.Context, t *testing.T, text, not string) bool {
	t.Helper()
	for {
		select {
		case got := <-s.heard:
			switch got {
			case text:
				return true
			case not:
				t.Errorf("%q was put into words", got)
			}
		case <-ctx.Done():
			return false
		}
	}
}

// callFixture is an emulated Discord with two voice channels, and the real program connected to it.
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
	colours *colourSite
	environ []string
	program *runningProgram
}

func newCallFixture(t *testing.T) *callFixture {
	t.Helper()
	d, err := discordtest.Start(discordtest.Config{Voice: &voicetest.Config{DAVE: 1}})
	check.Must(t, err)
	t.Cleanup(func() { d.Close() })
	h := &callFixture{Server: d, whole: t, t: t, scribe: newFakeTranscriber(t), colours: newColourSite(t)}
	h.bot, h.eve = d.CreateBot("clank", "secret"), d.CreateAccount("eve", "of eve")
	h.ada, h.bob = d.CreateUser("ada"), d.CreateUser("bob")
	h.guild = d.CreateGuild("home", h.ada)
	for _, u := range []discordtest.User{h.bot.User, h.eve.User, h.bob} {
		d.AddMember(h.guild, u)
	}
	h.room, h.lounge, h.attic = d.CreateChannel(h.guild, "general"), d.CreateVoiceChannel(h.guild, "lounge"),
		d.CreateVoiceChannel(h.guild, "attic")
	h.call = h.lounge
	trust := filepath.Join(t.TempDir(), "voice.pem")
	check.Must(t, os.WriteFile(trust, d.Voice.Certificate(), 0o600))
	home, environ := newTestHome(t)
	environ = append(environ, "DISCORD_TOKEN="+h.bot.Token, "DISCORD_GOLIVE_TOKEN="+h.eve.Token, "CLANK_DISCORD_API="+
		d.URL, "SSL_CERT_FILE="+trust)
	for key, value := range map[string]string{
		"interaction.voice.transcription.baseUrl": h.scribe.URL + "/v1",
		"interaction.share.goLive":                "true",
	} {
		if code, _, told := runInProcess(t, environ, "config", "set", key, value); code != exitDone {
			t.Fatalf("config set %s: exit code %d: %s", key, code, told)
		}
	}
	h.environ = environ
	h.program = startServer(t, home, environ, "--watch-addr", "127.0.0.1:0")
	for _, b := range []discordtest.Bot{h.bot, h.eve} {
		check.Must(t, d.WaitConnected(testDeadline(t), b))
	}
	return h
}

// runCommand uses a subcommand of /clank and returns the answer.
func (h *callFixture) runCommand(who discordtest.User, sub string, args discordtest.Args) string {
	h.t.Helper()
	it, err := h.SlashCommand(h.room, who, "clank "+sub, args)
	check.Must(h.t, err)
	it, err = h.WaitInteraction(testDeadline(h.t), it, func(it discordtest.Interaction) bool {
		return it.Original != nil && it.Original.Content != "" && it.Original.Flags&discordtest.FlagLoading == 0 &&
			!it.Original.HasButton("Stop")
	})
	check.Must(h.t, err)
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

// messagesIn returns the bot's messages in a channel.
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
	check.Must(h.t, err)
	return &callMember{Member: m, name: who.Username, microphone: &voiceloop.Microphone{To: m}}
}

// awaitKeys waits until the person has exchanged keys with the others.
func (p *callMember) awaitKeys(t *testing.T) {
	t.Helper()
	check.Must(t, p.Wait(testDeadline(t), "keys", func() bool { return p.Private().(*voicetest.DAVESession).Ready() }))
}

// openMicrophone sends the person's audio until the test ends.
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

// speaks makes a person say a text after a short pause, which is transcribed as means unless that is empty.
func (h *callFixture) speaks(p *callMember, text, means string) {
	t := h.t
	t.Helper()
	lines, err := voiceloop.SynthesizeLines(t.Context(), testVoice, voiceloop.TestText{Sentences: []string{text}})
	check.Must(t, err)
	if means != "" {
		h.scribe.mark(lines[0].Samples, means)
	}
	pause := make([]int16, voice.RateOpus*3/10)
	if _, _, err := p.microphone.Say(testDeadline(t), append(pause, lines[0].Samples...)); err != nil {
		t.Fatal(err)
	}
}

// awaitSpeech waits until a person's audio is as loud as speech, and skips earlier audio.
func (p *callMember) awaitSpeech(t *testing.T, from string) {
	t.Helper()
	for len(p.Frames()) > 0 {
		<-p.Frames()
	}
	decoder, err := voice.NewOpusDecoder(voice.RateOpus)
	check.Must(t, err)
	ctx := testDeadline(t)
	for loud := 0; loud < 10; {
		f, err := p.Next(ctx)
		check.Must(t, err)
		if f.From != from || f.Err != nil {
			continue
		}
		samples, err := decoder.Decode(f.Data)
		check.Must(t, err)
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
	inHalf(t, true)
	check.Installed(t, "espeak-ng", "pocketsphinx_continuous")
	t.Parallel()
	h := newCallFixture(t)
	site := newTestSite(t)
	check.Contains(t, h.runCommand(h.ada, "share", nil), "no browser session")
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
		t.Run("a private session stays with its owner", func(t *testing.T) { h.in(t).notPrivate() }) &&
		t.Run("what Go Live is refused is seen by link", func(t *testing.T) { h.in(t).seenByLink() }) &&
		t.Run("it ends with a kick, with its channel and when it is told to", func(t *testing.T) { h.in(t).ends(ada) })
	h.t = t
	if got := h.Voice.Violations(); len(got) != 0 {
		t.Errorf("got violations %v, want none", got)
	}
	h.program.interrupt(t)
	check.Equal(t, "exit code", h.program.exitCode(t), exitDone)
}

// in returns the fixture for a subtest.
func (h *callFixture) in(t *testing.T) *callFixture {
	t.Helper()
	h.t = t
	return h
}

// answers makes a person who is alone with clank ask for something aloud, without its name.
func (h *callFixture) answers(who *callMember, site *testSite) {
	h.t.Helper()
	asks := "open " + site.URL + ", read"
	h.speaks(who, "ferry times", asks)
	h.scribe.await(h.t, asks, "")
	onePicture(h.t, h.awaitMessage("ferry at 10:40"))
	who.awaitSpeech(h.t, h.bot.ID)
}

// followed makes a moderator move clank from ada's channel to bob's while it shares a page.
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
	h.speaks(bob, "other page", asks)
	site.awaitHit(h.t, "/hang")
	h.speaks(ada, "stop", "") // which is no business of this call any more
	h.stops(bob)
	site.awaitHit(h.t, abandonedHit)
	h.seenBy(h.bob)
	check.Diff(h.t, "written into the chat that the call has left", h.messagesIn(h.lounge), left)
	for _, once := range []string{"joined the call and listen", "The call has moved", "shares"} {
		if n := strings.Count(strings.Join(h.messagesIn(h.attic), "\n"), once); n != 1 {
			h.t.Errorf("told %d times that %q, want once: %q", n, once, h.messagesIn(h.attic))
		}
	}
}

// shares makes a person share their last session in the call.
func (h *callFixture) shares(who discordtest.User) {
	h.t.Helper()
	if got := h.runCommand(who, "share", nil); !strings.Contains(got, "Open the stream") {
		h.t.Fatalf("/clank share says %q", got)
	}
	h.stream()
}

// stream waits until a page is shared by Go Live in the call, and nowhere else.
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

// seenBy checks that a person in the call sees the shared page.
func (h *callFixture) seenBy(who discordtest.User) {
	h.t.Helper()
	watching, err := h.WatchStream(testDeadline(h.t), h.stream().Key, who,
		voicetest.MemberOptions{Privacy: voicetest.NewDAVESession})
	check.Must(h.t, err)
	defer watching.Close()
	watching.RequestQuality(100)
	for ctx := testDeadline(h.t); ; {
		f, err := watching.Next(ctx)
		check.Must(h.t, err)
		if f.Video && f.Err == nil {
			return
		}
	}
}

// leavesOut makes a person opt out and in again.
func (h *callFixture) leavesOut(who *callMember) {
	h.t.Helper()
	check.Contains(h.t, h.runCommand(h.bob, "privacy", discordtest.Args{"choice": "out"}), "You are left out")
	h.speaks(who, "not heard", "what nobody hears")
	check.Contains(h.t, h.runCommand(h.bob, "privacy", discordtest.Args{"choice": "in"}), "I listen to you")
	for range 3 { // on a busy machine the call may learn of the choice while they speak, and drop that
		h.speaks(who, "heard again", "what is heard now")
		ctx, cancel := context.WithTimeout(testDeadline(h.t), 25*time.Second)
		defer cancel()
		if h.scribe.hears(ctx, h.t, "what is heard now", "what nobody hears") {
			return
		}
	}
	h.t.Fatal("who wants to be heard again is not heard")
}

var viewerLink = regexp.MustCompile(`http://127\.0\.0\.1:\d+/\S+`)

// seenByLink shares a page that Go Live refuses, while the call is moved back to ada's channel.
func (h *callFixture) seenByLink() {
	h.t.Helper()
	for _, want := range []string{"not shared any more", "othing is shared"} {
		check.Contains(h.t, h.runCommand(h.ada, "unshare", nil), want)
	}
	h.runCommand(h.ada, "browse", discordtest.Args{"task": "open " + h.colours.URL})
	h.RefuseStream("unauthorized")
	h.runCommand(h.ada, "share", nil)
	link := viewerLink.FindString(h.awaitMessage("cannot be shown by Go Live").Content)
	if link == "" {
		h.t.Fatalf("the call is told %q, want a link", h.messagesIn(h.call))
	}
	browser := browsertest.Connect(h.t, browsertest.Launch(h.t), page.Options{})
	tab := browsertest.Tab(h.t, browser, page.TabOptions{})
	browsertest.Navigate(h.t, tab, link)
	h.colours.awaitOn(h.t, tab, viewerProbe())

	h.RefuseStream("unauthorized")
	h.call = h.lounge
	h.MoveVoice(h.lounge, h.bot.User)
	moved := viewerLink.FindString(h.awaitMessage("The call has moved").Content)
	if awaitPageState(h.t, tab, "ended"); moved == "" || moved == link {
		h.t.Fatalf("the call is told %q, want another link where it has moved to", h.messagesIn(h.call))
	}
	// in the old one, another fragment would not load the page again
	tab = browsertest.Tab(h.t, browser, page.TabOptions{})
	browsertest.Navigate(h.t, tab, moved)
	h.colours.awaitOn(h.t, tab, viewerProbe())

	check.Contains(h.t, h.runCommand(h.ada, "unshare", nil), "not shared any more")
	awaitPageState(h.t, tab, "ended")
	late := browsertest.Tab(h.t, browser, page.TabOptions{})
	browsertest.Navigate(h.t, late, moved)
	awaitPageState(h.t, late, "gone")
}

var sessionID = regexp.MustCompile("session `(\\w+)` stays open")

func (h *callFixture) notPrivate() {
	h.t.Helper()
	told := h.runCommand(h.bob, "browse", discordtest.Args{"task": "open " + h.colours.URL, "private": true})
	id := sessionID.FindStringSubmatch(told)
	if id == nil {
		h.t.Fatalf("got %q, want it to name the session", told)
	}
	for who, want := range map[discordtest.User]string{h.ada: "belongs to bob", h.bob: "private"} { // ada is a moderator
		if got := h.runCommand(who, "share", discordtest.Args{"session": id[1]}); !strings.Contains(got, want) {
			h.t.Errorf("%s, who shares it, is answered by %q, want %q", who.Username, got, want)
		}
	}
}

// ends ends the call in the ways in which people can, and starts it again in ada's channel.
func (h *callFixture) ends(ada *callMember) {
	h.t.Helper()
	ada.off()
	h.LeaveVoice(h.guild, h.bot.User) // a moderator disconnects it
	h.over("a kick")
	h.follows()
	check.Contains(h.t, h.runCommand(h.ada, "leave", nil), "left the call")
	h.over("leaving")
	h.joins()
	h.DeleteChannel(h.lounge)
	h.over("the end of the channel")
	check.Contains(h.t, h.runCommand(h.ada, "share", nil), "/clank join")
}

// follows checks that clank joins ada's channel when she asks for something, because the setting is on.
func (h *callFixture) follows() {
	h.t.Helper()
	const key = "interaction.voice.autoJoin"
	if code, _, told := runInProcess(h.t, h.environ, "config", "set", key, "true"); code != exitDone {
		h.t.Fatalf("config set: exit code %d: %s", code, told)
	}
	h.call = h.lounge
	h.runCommand(h.ada, "browse", discordtest.Args{"task": "open " + h.colours.URL})
	if err := h.Wait(testDeadline(h.t), "clank to follow ada", func() bool {
		in := h.VoiceStates(h.guild)[h.bot.ID].ChannelID
		return in != nil && *in == h.lounge.ID
	}); err != nil {
		h.t.Fatal(err)
	}
	if code, _, told := runInProcess(h.t, h.environ, "config", "unset", key); code != exitDone {
		h.t.Fatalf("config unset: exit code %d: %s", code, told)
	}
}

// joins makes ada bring clank into her channel and share a page there.
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

// stops makes a person say "stop" until it is recognized; a synthetic voice may have to repeat it.
func (h *callFixture) stops(who *callMember) {
	h.t.Helper()
	for range 4 {
		h.speaks(who, "stop", "")
		ctx, cancel := context.WithTimeout(h.t.Context(), 4*time.Second)
		_, err := h.WaitMessage(ctx, h.call, func(m discordtest.Message) bool {
			return strings.Contains(m.Content, "Stopped, as "+who.name+" said")
		})
		cancel()
		if err == nil {
			return
		}
	}
	h.t.Fatalf("a spoken stop was not heard; the call is told %q", h.messagesIn(h.call))
}

// stopRecording returns a WAV file of someone who says "stop" every few seconds.
func stopRecording(t *testing.T) string {
	t.Helper()
	take, err := voiceloop.Record(t.Context(), testVoice, voiceloop.TestText{Sentences: []string{"stop"}}, 1)
	check.Must(t, err)
	path := filepath.Join(t.TempDir(), "stop.wav")
	f, err := os.Create(path)
	check.Must(t, err)
	check.Must(t, errors.Join(voice.WriteWAV(f, voice.RateOpus, take.Samples), f.Close()))
	return path
}

// colourSite serves a page with a color set by the test.
type colourSite struct {
	*httptest.Server

	now atomic.Value
}

func newColourSite(t *testing.T) *colourSite {
	t.Helper()
	c := &colourSite{}
	c.now.Store("#ff0000")
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/colour" {
			io.WriteString(w, c.now.Load().(string))
			return
		}
		if r.URL.Path == "/tone.wav" {
			if err := voice.WriteWAV(w, voice.RateOpus, pureTone()); err != nil {
				t.Error(err)
			}
			return
		}
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, `<!doctype html><title>Colours</title><button onclick="player.play()">Play</button>
			<audio id="player" src="/tone.wav" loop></audio><script>
			setInterval(async () => { document.documentElement.style.background = await (await fetch("/colour")).text() }, 200)</script>`)
	}))
	t.Cleanup(c.Close)
	return c
}

// toneHertz is the frequency of the page's sound, unlike any voice.
const toneHertz = 3000

func pureTone() []int16 {
	s := make([]int16, voice.RateOpus)
	for i := range s {
		s[i] = int16(16000 * math.Sin(2*math.Pi*toneHertz*float64(i)/voice.RateOpus))
	}
	return s
}

// hearsTone is true on a call page on which the tone is the loudest sound.
var hearsTone = fmt.Sprintf(`(() => {
	window.analyser ??= (() => {
		const context = new AudioContext(), node = context.createAnalyser();
		const track = callConnection.getReceivers().find((r) => r.track.kind === "audio").track;
		context.createMediaStreamSource(new MediaStream([track])).connect(node);
		return node;
	})();
	const levels = new Float32Array(analyser.frequencyBinCount);
	analyser.getFloatFrequencyData(levels);
	const top = levels.indexOf(Math.max(...levels));
	return levels[top] > -60 && Math.abs(top * analyser.context.sampleRate / analyser.fftSize - %d) < 100;
})()`, toneHertz)

// awaitOn waits until a tab shows the page in one color and then in another.
func (c *colourSite) awaitOn(t *testing.T, tab *page.Tab, probe string) {
	t.Helper()
	for _, colour := range [][2]string{{"#ff0000", `"high,low,low"`}, {"#0000ff", `"low,low,high"`}} {
		c.now.Store(colour[0])
		browsertest.Eventually(t, colour[0], func() bool { return browsertest.JS(t, tab, probe) == colour[1] })
	}
}

// videoProbe returns the color in the middle of a video, if the page's connection has decoded at least one frame.
func videoProbe(video, connection string) string {
	return `async () => {
	if (typeof ` + connection + ` === "undefined" || !` + connection + `) return "nothing";
	const video = document.getElementById("` + video + `"), to = new OffscreenCanvas(1, 1).getContext("2d");
	const s = [...(await ` + connection + `.getStats()).values()].find((s) => s.type === "inbound-rtp" && s.framesDecoded > 0);
	if (!s || !video.videoWidth) return "nothing";
	to.drawImage(video, video.videoWidth / 2, video.videoHeight / 2, 1, 1, 0, 0, 1, 1);
	return ` + colourOf("to, 0, 0") + `;
}`
}

// colourOf returns an expression for the color of a pixel: "high,low,low" is red.
func colourOf(pixel string) string {
	return `((to, x, y) => [...to.getImageData(x, y, 1, 1).data].slice(0, 3)
		.map((v) => v > 200 ? "high" : v < 50 ? "low" : v).join())(` + pixel + `)`
}

// viewerProbe returns the color in the middle of what the page of a link shows: its video or, where no picture has come
// by WebRTC within seconds, as on a busy machine, the canvas for the pictures of its WebSocket.
func viewerProbe() string {
	return `async () => {
	if (document.body.dataset.way !== "WebSocket") return (` + videoProbe("video", "viewerConnection") + `)();
	const { width, height } = canvas;
	return ` + colourOf(`canvas.getContext("2d"), width / 2, height / 2`) + `;
}`
}

func awaitPageState(t *testing.T, tab *page.Tab, state string) {
	t.Helper()
	browsertest.Eventually(t, state, func() bool {
		return browsertest.JS(t, tab, `() => document.body.dataset.state === "`+state+`"`) == "true"
	})
}

// awaitAfterNavigation waits until an expression is true on a page that may be navigating.
func awaitAfterNavigation(t *testing.T, tab *page.Tab, expression string) {
	t.Helper()
	browsertest.Eventually(t, expression, func() bool {
		got, err := tab.Act(testDeadline(t), page.Action{Kind: actiontable.KindEvaluate, Fn: "() => Boolean(" + expression +
			")"})
		return err == nil && string(got.Value) == "true"
	})
}

// callOnThePage checks that a person on the call page sees a shared browser, and stops a task by voice.
func callOnThePage(t *testing.T, r *serverFixture) {
	t.Helper()
	check.Installed(t, "espeak-ng", "pocketsphinx_continuous")
	r.updateSettings(map[string]any{"interaction.voice.speech.engine": settings.SpeechLocal})
	a, board := r.server, r.openDashboard(t)
	operator := sessions.Origin{Kind: sessions.FromDashboard, Channel: "dashboard", Moderator: true}
	run := func(prompt string) (sessions.TaskRecord, error) {
		return a.Sessions.Run(testDeadline(t), sessions.Task{Prompt: prompt, Model: plain.ModelName, Origin: operator}, nil)
	}
	colours := newColourSite(t)
	done, err := run("open " + colours.URL)
	check.Must(t, err)
	check.Fails(t, check.Err(a.CallService.Share(t.Context(), operator, done.SessionID)), nil, "in no call")
	stopped := make(chan sessions.TaskRecord, 1)
	go func() {
		rec, err := run("open " + r.site.URL + "/hang")
		if err != nil {
			t.Error(err)
		}
		stopped <- rec
	}()
	r.site.awaitHit(t, "/hang")
	caller := browsertest.Launch(t, "--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream", "--mute-audio",
		"--use-file-for-fake-audio-capture="+stopRecording(t))
	tab := browsertest.Tab(t, browsertest.Connect(t, caller, page.Options{}), page.TabOptions{})
	browsertest.Navigate(t, tab, board.LoginURL())
	awaitAfterNavigation(t, tab, `location.pathname === "/"`)
	browsertest.Navigate(t, tab, board.URL()+"/call")
	awaitAfterNavigation(t, tab, `document.getElementById("join")`)
	browsertest.JS(t, tab, `async () => {
		await import(document.querySelector("script[type=module]").src); // it listens then
		document.getElementById("name").value = "Ada";
		document.getElementById("join").click();
	}`)
	awaitPageState(t, tab, "in")
	awaitAfterNavigation(t, tab, `document.getElementById("log").textContent.includes("Stopped, as Ada said.")`)
	// no stop for what is shared
	browsertest.JS(t, tab, `() => callConnection.getSenders().forEach((s) => s.replaceTrack(null))`)
	if rec := <-stopped; rec.State != sessions.TaskStopped {
		t.Errorf("the task ended %s, want it stopped", rec.State)
	}
	if _, err := a.Sessions.Run(testDeadline(t), sessions.Task{
		Prompt: "click Play", SessionID: done.SessionID,
		Model: plain.ModelName, Origin: operator,
	}, nil); err != nil {
		t.Fatal(err)
	}

	if told, err := a.CallService.Share(testDeadline(t), operator, done.SessionID); err != nil ||
		!strings.Contains(told, "on this page") {
		t.Fatalf("told %q, error %v", told, err)
	}
	awaitAfterNavigation(t, tab, hearsTone)
	colours.awaitOn(t, tab, videoProbe("shared", "callConnection"))
	check.Must(t, check.Err(a.CallService.Unshare(testDeadline(t), operator)))
	awaitAfterNavigation(t, tab, `document.getElementById("shared").hidden`)
}
