package discordtest_test

import (
	"errors"
	"testing"

	"clank/internal/test/discordtest"
	"clank/internal/test/discordtest/voicetest"

	"github.com/bwmarrin/discordgo"
	"github.com/coder/websocket"
)

// callTown is a town with a voice server, a call, and the bot signed in.
type callTown struct {
	town
	call    discordtest.Channel
	bot     *discordgo.Session
	states  <-chan *discordgo.VoiceStateUpdate
	servers <-chan *discordgo.VoiceServerUpdate
}

func newCallTown(t *testing.T, cfg voicetest.Config) callTown {
	t.Helper()
	w := newTown(t, discordtest.Config{Voice: &cfg})
	d := w.session(t)
	d.SyncEvents = true
	c := callTown{
		town: w, call: w.CreateVoiceChannel(w.guild, "call"), bot: d,
		states: events[*discordgo.VoiceStateUpdate](d), servers: events[*discordgo.VoiceServerUpdate](d),
	}
	open(t, w, d)
	return c
}

// enter has the bot ask for the channel and connect with what it is told.
func (c callTown) enter(t *testing.T, channel string) *voicetest.Member {
	t.Helper()
	if err := c.bot.ChannelVoiceJoinManual(c.guild.ID, channel, false, false); err != nil {
		t.Fatal(err)
	}
	state := next(t, c.states)
	return c.connect(t, state.SessionID, next(t, c.servers))
}

func (c callTown) connect(t *testing.T, session string, server *discordgo.VoiceServerUpdate) *voicetest.Member {
	t.Helper()
	m, err := voicetest.JoinCall(deadline(t), voicetest.MemberOptions{
		Endpoint: server.Endpoint, Roots: c.Voice.Roots(), Credentials: voicetest.Credentials{
			ClientID: c.seat(), Session: session, Token: server.Token,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

func (c callTown) seat() voicetest.ClientID {
	return discordtest.VoiceClientID(c.guild, c.town.bot.User)
}

// ended waits for the close code with which the member's connection ends.
func ended(t *testing.T, m *voicetest.Member, want int) {
	t.Helper()
	err := m.Wait(deadline(t), "the end", func() bool { return false })
	if got := int(websocket.CloseStatus(err)); got != want {
		t.Errorf("got close code %d (%v), want %d", got, err, want)
	}
}

func (c callTown) person(t *testing.T, in discordtest.Channel, user discordtest.User) *voicetest.Member {
	t.Helper()
	m, err := c.EnterCall(deadline(t), in, user, voicetest.MemberOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

func TestABotAndAPersonHearEachOther(t *testing.T) {
	c := newCallTown(t, voicetest.Config{})
	bot := c.enter(t, c.call.ID)
	ada := c.person(t, c.call, c.ada)
	for _, pair := range [][2]*voicetest.Member{{ada, bot}, {bot, ada}} {
		pair[0].Speak(1)
		if err := pair[0].Send([]byte{0x78, 1}); err != nil {
			t.Fatal(err)
		}
		if f, err := pair[1].Next(deadline(t)); err != nil || f.From != pair[0].User {
			t.Errorf("got %+v, %v, want a packet of %s", f, err, pair[0].User)
		}
	}
	if got := c.Voice.Violations(); len(got) != 0 {
		t.Errorf("got violations %v, want none", got)
	}
}

func TestAKickClosesWith4014AndEndsTheTicket(t *testing.T) {
	c := newCallTown(t, voicetest.Config{})
	bot := c.enter(t, c.call.ID)
	c.LeaveVoice(c.guild, c.town.bot.User)
	ended(t, bot, voicetest.CloseDisconnected)
	if v := next(t, c.states); v.ChannelID != "" {
		t.Errorf("got channel %q, want none", v.ChannelID)
	}
}

func TestAMoveGivesAnotherRoom(t *testing.T) {
	c := newCallTown(t, voicetest.Config{})
	other := c.CreateVoiceChannel(c.guild, "other")
	bot := c.enter(t, c.call.ID)
	ada := c.person(t, other, c.ada)
	next(t, c.states)
	c.MoveVoice(other, c.town.bot.User)
	ended(t, bot, voicetest.CloseDisconnected)
	v := next(t, c.states)
	if v.ChannelID != other.ID {
		t.Errorf("got channel %q, want %q", v.ChannelID, other.ID)
	}
	c.connect(t, v.SessionID, next(t, c.servers))
	if err := ada.Wait(deadline(t), "the bot", func() bool { return ada.People()[c.town.bot.ID] }); err != nil {
		t.Error(err)
	}
}

func TestAServerThatIsLostIsNullAndThenAnother(t *testing.T) {
	c := newCallTown(t, voicetest.Config{})
	if err := c.bot.ChannelVoiceJoinManual(c.guild.ID, c.call.ID, false, false); err != nil {
		t.Fatal(err)
	}
	session, first := next(t, c.states).SessionID, next(t, c.servers)
	bot := c.connect(t, session, first)
	c.LoseVoiceServer(c.guild, voicetest.CloseDisconnected)
	ended(t, bot, voicetest.CloseDisconnected)
	if v := next(t, c.servers); v.Endpoint != "" {
		t.Errorf("got endpoint %q, want none", v.Endpoint)
	}
	if _, err := c.EnterCall(deadline(t), c.call, c.ada, voicetest.MemberOptions{}); err == nil {
		t.Error("ada enters a call without a server")
	}
	c.FindVoiceServer(c.guild)
	second := next(t, c.servers)
	if second.Endpoint == "" || second.Endpoint == first.Endpoint || second.Token == first.Token {
		t.Errorf("got %+v after %+v, want another place and token", second, first)
	}
	c.connect(t, session, second)
}

func TestAFullChannelSaysNothing(t *testing.T) {
	c := newCallTown(t, voicetest.Config{})
	c.LimitVoice(c.call, 1)
	c.person(t, c.call, c.ada)
	next(t, c.states)
	if err := c.bot.ChannelVoiceJoinManual(c.guild.ID, c.call.ID, false, false); err != nil {
		t.Fatal(err)
	}
	if _, err := c.WaitReceived(deadline(t), 4, 0); err != nil {
		t.Fatal(err)
	}
	if _, there := c.VoiceStates(c.guild)[c.town.bot.ID]; there {
		t.Error("the bot is in a call that is full")
	}
	c.MuteVoice(c.guild, c.ada, true, false)
	if v := next(t, c.states); v.UserID != c.ada.ID || !v.Mute {
		t.Errorf("got %+v, want ada muted", v.VoiceState)
	}
}

func TestTheEndOfTheMainSessionEndsTheCall(t *testing.T) {
	c := newCallTown(t, voicetest.Config{})
	bot := c.enter(t, c.call.ID)
	if err := c.InvalidateSession(c.town.bot, false); err != nil {
		t.Fatal(err)
	}
	ended(t, bot, voicetest.CloseDisconnected)
	if got := c.VoiceStates(c.guild); len(got) != 0 {
		t.Errorf("got voice states %v, want none", got)
	}
}

func TestADeletedChannelAndALeavingMemberEndTheCall(t *testing.T) {
	c := newCallTown(t, voicetest.Config{})
	bot, ada, bob := c.enter(t, c.call.ID), c.person(t, c.call, c.ada), c.person(t, c.call, c.bob)
	c.RemoveMember(c.guild, c.bob)
	ended(t, bob, voicetest.CloseDisconnected)
	c.DeleteChannel(c.call)
	ended(t, bot, voicetest.CloseDisconnected)
	ended(t, ada, voicetest.CloseDisconnected)
}

func TestWithoutAVoiceServerNobodyEntersACall(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	if _, err := w.EnterCall(deadline(t), w.CreateVoiceChannel(w.guild, "call"), w.ada, voicetest.MemberOptions{}); !errors.Is(err, discordtest.ErrNoVoice) {
		t.Errorf("got %v, want ErrNoVoice", err)
	}
}
