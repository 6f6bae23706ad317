package discord_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"clank/bot/discord"
	"clank/internal/test/discordtest"
	"clank/internal/test/discordtest/voicetest"
	"clank/voice"
	voicediscord "clank/voice/discord"
)

// closing are the connections to main gateways that say goodbye, for which their library takes a second.
var closing sync.WaitGroup

func TestMain(m *testing.M) {
	code := m.Run()
	closing.Wait()
	os.Exit(code)
}

// town is a guild with two voice channels, a bot that is signed in, and its joiner.
type town struct {
	*discordtest.Server
	bot         discordtest.Bot
	ada, bob    discordtest.User
	guild       discordtest.Guild
	call, other discordtest.Channel
	gate        *discord.Gateway
	joiner      *voicediscord.Joiner
}

func newTown(t *testing.T, cfg voicetest.Config) *town {
	t.Helper()
	t.Parallel()
	return aTown(t, cfg)
}

func aTown(t *testing.T, cfg voicetest.Config) *town {
	t.Helper()
	s := discordtest.StartTest(t, discordtest.Config{Voice: &cfg})
	t.Cleanup(func() {
		if got := s.Voice.Violations(); len(got) > 0 {
			t.Errorf("what Discord would not take: %v", got)
		}
	})
	w := &town{Server: s, bot: s.CreateBot("clank", "secret"), ada: s.CreateUser("ada"), bob: s.CreateUser("bob")}
	w.guild = s.CreateGuild("home", w.ada)
	s.AddMember(w.guild, w.bob)
	s.AddMember(w.guild, w.bot.User)
	w.call, w.other = s.CreateVoiceChannel(w.guild, "call"), s.CreateVoiceChannel(w.guild, "other")
	w.connect(t)
	return w
}

// connect signs the bot in.
func (w *town) connect(t *testing.T) {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: w.Voice.Roots()}}
	t.Cleanup(transport.CloseIdleConnections)
	w.joiner = &voicediscord.Joiner{
		Send:          func(ctx context.Context, op int, d any) error { return w.gate.Send(ctx, op, d) },
		AnswerTimeout: 5 * time.Second, MinWait: 20 * time.Millisecond, MaxOutage: 20 * time.Second,
		HTTPClient: &http.Client{Transport: transport},
	}
	w.gate = &discord.Gateway{
		Token: w.bot.Token, Intents: 1 | 1<<7, // guilds and who is in their calls
		URL:        w.GatewayURL,
		OnDispatch: func(kind string, data json.RawMessage) { w.joiner.Dispatch(kind, data) },
		MinWait:    10 * time.Millisecond,
	}
	must(t, w.gate.Open(voicetest.Deadline(t)))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
		defer cancel()
		if err := w.joiner.Close(ctx); err != nil {
			t.Error(err)
		}
		gate := w.gate
		closing.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
			defer cancel()
			_ = gate.Close(ctx)
		})
	})
}

// join brings the bot into a call, and returns what happens there.
func (w *town) join(t *testing.T, channel discordtest.Channel) (*voicediscord.Line, *log) {
	t.Helper()
	l, err := w.joiner.Join(voicetest.Deadline(t), w.guild.ID, channel.ID)
	if err != nil {
		t.Fatal(err)
	}
	lg := &log{line: l}
	lg.until(t, voice.Connected)
	return l, lg
}

// person brings somebody into a call.
func (w *town) person(t *testing.T, in discordtest.Channel, user discordtest.User) *voicetest.Member {
	t.Helper()
	m, err := w.EnterCall(voicetest.Deadline(t), in, user, voicetest.MemberOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

func (w *town) seat() voicetest.ClientID { return discordtest.VoiceClientID(w.guild, w.bot.User) }

// where returns the channel in which Discord has the bot.
func (w *town) where() string {
	if v, ok := w.VoiceStates(w.guild)[w.bot.ID]; ok {
		return *v.ChannelID
	}
	return ""
}

func (w *town) await(t *testing.T, what string, cond func() bool) {
	t.Helper()
	must(t, w.Wait(voicetest.Deadline(t), what, cond))
}

// log reads the events of a line.
type log struct {
	line *voicediscord.Line
	list []voice.Event
}

// until reads on to the next event of a kind.
func (l *log) until(t *testing.T, kind voice.EventKind) voice.Event {
	t.Helper()
	ctx := voicetest.Deadline(t)
	for {
		select {
		case e, ok := <-l.line.Events():
			if !ok {
				t.Fatalf("the call ended (%v) before %q, after %v", l.line.Err(), kind, l.kinds())
			}
			if l.list = append(l.list, e); e.Kind == kind {
				return e
			}
		case <-ctx.Done():
			t.Fatalf("no %q among %v", kind, l.kinds())
		}
	}
}

// end reads on until the call has ended, and returns why.
func (l *log) end(t *testing.T) error {
	t.Helper()
	ctx := voicetest.Deadline(t)
	for {
		select {
		case e, ok := <-l.line.Events():
			if !ok {
				return l.line.Err()
			}
			l.list = append(l.list, e)
		case <-ctx.Done():
			t.Fatalf("the call did not end, after %v", l.kinds())
		}
	}
}

func (l *log) kinds() []voice.EventKind {
	var kinds []voice.EventKind
	for _, e := range l.list {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

// must ends the test at an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
