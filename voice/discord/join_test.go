package discord_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"clank/bot/discord"
	"clank/internal/test/check"
	"clank/internal/test/discordtest"
	"clank/internal/test/discordtest/voicetest"
	"clank/voice"
	voicediscord "clank/voice/discord"
	"clank/voice/discord/conn"
)

// closing are the connections to main gateways that say goodbye, for which their library takes a second.
var closing sync.WaitGroup

func TestMain(m *testing.M) {
	os.Exit(check.Main(m, func() error { closing.Wait(); return nil }))
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
	check.Must(t, w.gate.Open(voicetest.Deadline(t)))
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
	check.Must(t, err)
	lg := &log{line: l}
	lg.until(t, voice.Connected)
	return l, lg
}

// person brings somebody into a call.
func (w *town) person(t *testing.T, in discordtest.Channel, user discordtest.User) *voicetest.Member {
	t.Helper()
	m, err := w.EnterCall(voicetest.Deadline(t), in, user, voicetest.MemberOptions{})
	check.Must(t, err)
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
	check.Must(t, w.Wait(voicetest.Deadline(t), what, cond))
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

func TestACallIsJoinedHeardAndLeft(t *testing.T) {
	w := newTown(t, voicetest.Config{})
	ada := w.person(t, w.call, w.ada)
	check.Fails(t, check.Err(w.joiner.Join(voicetest.Deadline(t), w.guild.ID, "x")), nil, `"x": its id is no number`)
	l, lg := w.join(t, w.call)
	ada.Speak(conn.SpeakingMicrophone)
	check.Must(t, ada.Send([]byte{0x78, 1}))
	e := lg.until(t, voice.PacketReceived)
	if e.Packet.From != w.ada.ID || !bytes.Equal(e.Packet.Opus, []byte{0x78, 1}) {
		t.Errorf("heard %+v, want ada", e.Packet)
	}
	for _, e := range lg.list {
		if e.Kind == voice.Joined && e.Person.Name != "" && e.Person != (voice.Person{ID: w.ada.ID, Name: "ada"}) {
			t.Errorf("joined: %+v, want ada by her name", e.Person)
		}
	}
	check.Must(t, l.Play([]byte{0x78, 2}))
	check.Must(t, l.EndSpeech())
	if f, err := ada.Next(voicetest.Deadline(t)); err != nil || f.From != w.bot.ID ||
		!bytes.Equal(f.Data, []byte{0x78, 2}) {
		t.Errorf("ada hears %+v, %v", f, err)
	}
	if got := l.People(); !cmp.Equal(got, []voice.Person{{ID: w.ada.ID, Name: "ada"}}) {
		t.Errorf("people %+v", got)
	}
	if l.Channel() != w.call.ID || l.SessionID() != w.VoiceStates(w.guild)[w.bot.ID].SessionID {
		t.Errorf("in %s with session %s", l.Channel(), l.SessionID())
	}
	if got := l.Stats(); got.Received == 0 || got.Sent == 0 {
		t.Errorf("stats %+v", got)
	}
	for range 2 {
		check.Must(t, l.Close(voicetest.Deadline(t)))
	}
	check.Must(t, lg.end(t))
	w.await(t, "the bot to leave", func() bool { return w.where() == "" })
	check.Fails(t, l.Play([]byte{1}), voice.ErrUnavailable)
	if l.EndSpeech() != nil || l.PrivacyCode() != "" || l.Stats() != (conn.Stats{}) {
		t.Error("a closed line does something")
	}
	if _, ok := w.joiner.Line(w.guild.ID); ok {
		t.Error("the joiner still has a line")
	}
}

func TestNothingIsSaidInACallThatMustBeEncryptedAndIsNot(t *testing.T) {
	w := newTown(t, voicetest.Config{})
	w.joiner.RequireEncryption = func() bool { return true }
	l, err := w.joiner.Join(voicetest.Deadline(t), w.guild.ID, w.call.ID)
	check.Must(t, err)
	lg := &log{line: l}
	lg.until(t, voice.EncryptionOff)
	check.Fails(t, l.Play([]byte{0x78, 1}), voice.ErrUnavailable)
}

func TestPeopleComeAndGo(t *testing.T) {
	w := newTown(t, voicetest.Config{})
	_, lg := w.join(t, w.call)
	ada := w.person(t, w.call, w.ada)
	for lg.until(t, voice.Joined).Person.Name != "ada" { // the voice gateway may be first, which knows no names
	}
	w.LeaveVoice(w.guild, w.ada)
	if e := lg.until(t, voice.Left); e.Person.ID != w.ada.ID {
		t.Errorf("left %+v", e.Person)
	}
	w.JoinVoice(w.call, w.bob)
	for lg.until(t, voice.Joined).Person.Name != "bob" {
	}
	w.MoveVoice(w.other, w.bob)
	if e := lg.until(t, voice.Left); e.Person.ID != w.bob.ID {
		t.Errorf("left %+v", e.Person)
	}
	_ = ada
}

func TestWhereTellsWhoIsInWhichChannel(t *testing.T) {
	w := newTown(t, voicetest.Config{})
	w.JoinVoice(w.call, w.ada)
	w.JoinVoice(w.other, w.bob)
	w.join(t, w.call)
	for user, want := range map[string]string{w.ada.ID: w.call.ID, w.bob.ID: w.other.ID, w.bot.ID: w.call.ID, "1": ""} {
		if got, ok := w.joiner.ChannelOf(w.guild.ID, user); got != want || ok != (want != "") {
			t.Errorf("Where(%s) = %q, %v, want %q", user, got, ok, want)
		}
	}
	if got := w.joiner.People(w.guild.ID, w.call.ID); !cmp.Equal(got, []voice.Person{{ID: w.ada.ID, Name: "ada"}}) {
		t.Errorf("People = %+v, want ada alone", got)
	}
	if got, ok := w.joiner.ChannelOf("5", w.ada.ID); ok || w.joiner.People("5", w.call.ID) != nil {
		t.Errorf("in another guild ada is in %q", got)
	}
}

func TestWhoWasThereBeforeIsKnownFromTheGuild(t *testing.T) {
	j := &voicediscord.Joiner{}
	j.Dispatch("GUILD_CREATE",
		json.RawMessage(`{"id":"1","voice_states":[{"channel_id":"2","user_id":"3","session_id":"s"},{"channel_id":null,"user_id":"4"},
		{"channel_id":"2","user_id":"5","member":{"user":{"id":"5","username":"e","bot":true}}}],
		"members":[{"user":{"id":"3","username":"c","global_name":"Carol"},"nick":null}, null, {}]}`))
	want := []voice.Person{{ID: "3", Name: "Carol"}, {ID: "5", Name: "e", Bot: true}}
	if got := j.People("1", "2"); !cmp.Equal(got, want) {
		t.Errorf("People = %+v, want %+v", got, want)
	}
	j.Dispatch("VOICE_STATE_UPDATE", json.RawMessage(`{"guild_id":"1","channel_id":"7","user_id":"3"}`))
	if got := j.People("1", "7"); !cmp.Equal(got, want[:1]) {
		t.Errorf("People = %+v, want Carol by her name", got)
	}
	j.Dispatch("GUILD_DELETE", json.RawMessage(`{"id":"1","unavailable":true}`))
	if _, ok := j.ChannelOf("1", "3"); !ok {
		t.Error("an outage made the guild forgotten")
	}
	j.Dispatch("GUILD_DELETE", json.RawMessage(`{"id":"1"}`))
	if got, ok := j.ChannelOf("1", "3"); ok {
		t.Errorf("in a guild that is gone, somebody is in %q", got)
	}
}

func TestGarbageFromTheGatewayIsPassedOver(t *testing.T) {
	for _, kind := range []string{
		"READY", "GUILD_CREATE", "GUILD_DELETE", "VOICE_STATE_UPDATE", "VOICE_SERVER_UPDATE",
		"MESSAGE_CREATE",
	} {
		j := &voicediscord.Joiner{}
		j.Dispatch("GUILD_CREATE",
			json.RawMessage(`{"id":"1","voice_states":[{"channel_id":"2","user_id":"3"}],"members":[{"user":{"id":"3","username":"c"}}]}`))
		before := j.People("1", "2")
		if len(before) != 1 {
			t.Fatalf("people %+v, want one", before)
		}
		for _, data := range []string{"", "null", "[]", "7", "{", "{}", `{"id":7}`, `{"guild_id":"1"}`, `{"user":null}`} {
			j.Dispatch(kind, json.RawMessage(data))
			if got := j.People("1", "2"); kind != "READY" && !cmp.Equal(got, before) { // which begins anew
				t.Fatalf("people are %+v after %s %s, want %+v", got, kind, data, before)
			}
		}
		j.Dispatch("VOICE_STATE_UPDATE", json.RawMessage(`{"guild_id":"1","channel_id":"7","user_id":"3"}`))
		if at, ok := j.ChannelOf("1", "3"); !ok || at != "7" {
			t.Errorf("what comes after %s is not taken up: %q, %v", kind, at, ok)
		}
	}
}

func TestJoiningTwiceGivesTheSameLine(t *testing.T) {
	w := newTown(t, voicetest.Config{})
	var lines [4]*voicediscord.Line
	var wg sync.WaitGroup
	for i := range lines {
		wg.Go(func() {
			l, err := w.joiner.Join(voicetest.Deadline(t), w.guild.ID, w.call.ID)
			if err != nil {
				t.Error(err)
			}
			lines[i] = l
		})
	}
	wg.Wait()
	for _, l := range lines {
		if l != lines[0] {
			t.Errorf("lines %v, want one", lines)
		}
	}
	check.Equal(t, "connections", len(w.Voice.Received(voicetest.OpIdentify)), 1)
}

func TestAnotherChannelEndsTheLine(t *testing.T) {
	w := newTown(t, voicetest.Config{})
	_, lg := w.join(t, w.call)
	l, _ := w.join(t, w.other)
	check.Fails(t, lg.end(t), voicediscord.ErrOtherChannel)
	if w.where() != w.other.ID || l.Channel() != w.other.ID {
		t.Errorf("we are in %s, want %s", w.where(), w.other.ID)
	}
}

func TestManyGuildsAtOnce(t *testing.T) {
	w := newTown(t, voicetest.Config{})
	var wg sync.WaitGroup
	for range 5 {
		g := w.CreateGuild("another", w.ada)
		w.AddMember(g, w.bot.User)
		call := w.CreateVoiceChannel(g, "call")
		wg.Go(func() {
			l, err := w.joiner.Join(voicetest.Deadline(t), g.ID, call.ID)
			if err != nil {
				t.Error(err)
				return
			}
			(&log{line: l}).until(t, voice.Connected)
		})
	}
	wg.Wait()
	check.Must(t, w.joiner.Close(voicetest.Deadline(t)))
	check.Equal(t, "connections are left", len(w.Voice.Clients()), 0)
}

func TestNoAnswerNamesTheWayOut(t *testing.T) {
	for name, test := range map[string]struct {
		prepare func(*town)
		want    error
	}{
		"channel is full": {
			func(w *town) { w.JoinVoice(w.call, w.ada); w.LimitVoice(w.call, 1) },
			voicediscord.ErrFull,
		},
		"channel is another guild's": {
			func(w *town) { w.call = w.CreateVoiceChannel(w.CreateGuild("x", w.ada), "call") },
			voicediscord.ErrNoAnswer,
		},
		"no server": {func(w *town) { w.LoseVoiceServer(w.guild, 0) }, voicediscord.ErrNoServer},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTown(t, voicetest.Config{})
			w.joiner.AnswerTimeout = 200 * time.Millisecond
			test.prepare(w)
			_, err := w.joiner.Join(voicetest.Deadline(t), w.guild.ID, w.call.ID)
			if !errors.Is(err, test.want) || !strings.Contains(err.Error(), ": main gateway: ") {
				t.Errorf("Join = %v, want %v", err, test.want)
			}
			w.await(t, "the bot to be outside", func() bool { return w.where() == "" })
		})
	}
}

func TestRefusalsOfTheVoiceGatewayAreNamed(t *testing.T) {
	w := newTown(t, voicetest.Config{})
	for _, code := range []int{4016, 4017, 4021, 4022} {
		w.Voice.RefuseNext(code, "")
		_, err := w.joiner.Join(voicetest.Deadline(t), w.guild.ID, w.call.ID)
		closed, ok := errors.AsType[*conn.CloseError](err)
		if !ok || closed.Code != code || !strings.Contains(err.Error(), "voice connection") {
			t.Errorf("Join = %v, want code %d of the voice connection", err, code)
		}
		w.await(t, "the bot to be outside", func() bool { return w.where() == "" })
	}
}

func TestSpentTokensAreRenewed(t *testing.T) {
	w := newTown(t, voicetest.Config{})
	for _, code := range []int{4004, 4006, 4011} {
		w.Voice.RefuseNext(code, "")
		l, lg := w.join(t, w.call)
		check.Must(t, w.Voice.CloseSeat(w.seat(), code, ""))
		lg.until(t, voice.Interrupted)
		lg.until(t, voice.Connected)
		check.Must(t, l.Close(voicetest.Deadline(t)))
	}
}

func TestJoinBeforeTheGatewayIsThere(t *testing.T) {
	j := &voicediscord.Joiner{}
	check.Fails(t, check.Err(j.Join(t.Context(), "1", "2")), nil, "not connected")
}
