package discordtest_test

import (
	"errors"
	"testing"
	"time"

	"clank/internal/test/discordtest"

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"
)

func TestWrongTokenIsClosedWith4004AndRefusedWith401(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	w.bot.Token = "wrong"
	d := w.session(t)
	err := d.Open()
	var closed *websocket.CloseError
	if !errors.As(err, &closed) || closed.Code != discordtest.CloseAuthFailed {
		t.Errorf("got %v, want close code 4004", err)
	}
	_, err = d.User("@me")
	refusal(t, err, 401, 0)
}

func TestIntentsNotAllowedAreClosedWith4014(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	w.ForbidIntents(w.bot, discordtest.MessageContent)
	var closed *websocket.CloseError
	if err := w.session(t).Open(); !errors.As(err, &closed) || closed.Code != discordtest.CloseDisallowedIntents {
		t.Errorf("got %v, want close code 4014", err)
	}
}

func TestDroppedSocketResumesAndReplaysWhatWasMissed(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	d := w.session(t)
	heard, resumed := events[*discordgo.MessageCreate](d), events[*discordgo.Resumed](d)
	open(t, w, d)
	settled(t, w)
	if err := w.DropSockets(w.bot); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"one", "two"} {
		if _, err := w.SendMessage(w.room, w.ada, text); err != nil {
			t.Fatal(err)
		}
	}
	got := map[string]bool{next(t, heard).Content: true, next(t, heard).Content: true} // discordgo keeps no order
	if !got["one"] || !got["two"] {
		t.Errorf("got messages %v, want one and two", got)
	}
	next(t, resumed)
	if got, want := len(w.Received(2)), 1; got != want {
		t.Errorf("got %d identifies, want %d", got, want)
	}
}

func TestReconnectRequestIsResumed(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	d := w.session(t)
	resumed := events[*discordgo.Resumed](d)
	open(t, w, d)
	settled(t, w)
	if err := w.Reconnect(w.bot); err != nil {
		t.Fatal(err)
	}
	next(t, resumed)
	if err := w.WaitConnected(deadline(t), w.bot); err != nil {
		t.Fatal(err)
	}
}

func TestInvalidSessionIsIdentifiedAgain(t *testing.T) {
	for name, resumable := range map[string]bool{"resumable": true, "gone": false} {
		t.Run(name, func(t *testing.T) {
			w := newTown(t, discordtest.Config{})
			d := w.session(t)
			open(t, w, d)
			settled(t, w)
			ready, heard := events[*discordgo.Ready](d), events[*discordgo.MessageCreate](d)
			if err := w.InvalidateSession(w.bot, resumable); err != nil {
				t.Fatal(err)
			}
			next(t, ready)
			if _, err := w.SendMessage(w.room, w.ada, "still there?"); err != nil {
				t.Fatal(err)
			}
			next(t, heard)
		})
	}
}

func TestResumeOfAForgottenSessionStartsAnew(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	d := w.session(t)
	open(t, w, d)
	settled(t, w)
	ready, heard := events[*discordgo.Ready](d), events[*discordgo.MessageCreate](d)
	if err := w.DropSockets(w.bot); err != nil {
		t.Fatal(err)
	}
	if err := w.InvalidateSession(w.bot, false); err != nil && !errors.Is(err, discordtest.ErrNotConnected) {
		t.Fatal(err)
	}
	if _, err := w.SendMessage(w.room, w.ada, "missed for good"); err != nil {
		t.Fatal(err)
	}
	next(t, ready)
	if _, err := w.SendMessage(w.room, w.ada, "heard"); err != nil {
		t.Fatal(err)
	}
	if got, want := next(t, heard).Content, "heard"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCloseFromTheServerIsResumed(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	d := w.session(t)
	resumed := events[*discordgo.Resumed](d)
	open(t, w, d)
	settled(t, w)
	if err := w.CloseGateway(w.bot, discordtest.CloseUnknownError, "We do not know what went wrong."); err != nil {
		t.Fatal(err)
	}
	next(t, resumed)
	got := w.Disconnects()
	if len(got) != 1 || got[0].Code != discordtest.CloseUnknownError || !got[0].ByServer {
		t.Errorf("got disconnects %+v, want one with 4000 by the server", got)
	}
}

func TestWithheldHeartbeatACKsMakeTheClientLeave(t *testing.T) {
	w := newTown(t, discordtest.Config{HeartbeatInterval: 500 * time.Millisecond}) // a client leaves after five without an answer
	d := w.session(t)
	d.ShouldReconnectOnError = false
	open(t, w, d)
	if _, err := w.WaitReceived(deadline(t), 1, 3); err != nil { // answered, it stays
		t.Fatal(err)
	}
	w.WithholdHeartbeatACK(true)
	if err := w.Wait(deadline(t), "the client to leave", func() bool { return len(w.Disconnects()) == 1 }); err != nil {
		t.Fatal(err)
	}
	if got := w.Disconnects()[0]; got.ByServer || got.Code != 1000 {
		t.Errorf("got %+v, want a goodbye of the client", got)
	}
}

func TestHeartbeatIsSentWhenAskedFor(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	d := w.session(t)
	open(t, w, d)
	if _, err := w.WaitReceived(deadline(t), 1, 0); err != nil { // the one after connecting
		t.Fatal(err)
	}
	if err := w.RequestHeartbeat(w.bot); err != nil {
		t.Fatal(err)
	}
	if _, err := w.WaitReceived(deadline(t), 1, 1); err != nil {
		t.Fatal(err)
	}
}

func TestRevokedTokenEndsTheConnection(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	d := w.session(t)
	d.ShouldReconnectOnError = false
	gone := events[*discordgo.Disconnect](d)
	open(t, w, d)
	w.RevokeToken(w.bot)
	next(t, gone)
	if w.Connected(w.bot) {
		t.Error("the bot is still connected")
	}
}

func TestSequenceNumbersHaveNoGaps(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	d := w.session(t)
	heard := events[*discordgo.MessageCreate](d)
	open(t, w, d)
	for range 5 {
		if _, err := w.SendMessage(w.room, w.ada, "x"); err != nil {
			t.Fatal(err)
		}
		next(t, heard)
	}
	want := int64(0)
	for _, f := range w.Frames() {
		if f.Received || f.Op != 0 {
			continue
		}
		want++
		if f.Seq != want {
			t.Errorf("got sequence number %d for %s, want %d", f.Seq, f.Type, want)
		}
	}
}

func TestVoiceStateGivesSessionAndServer(t *testing.T) {
	endpoint := "voice.discord.media:443"
	w := newTown(t, discordtest.Config{VoiceEndpoint: &endpoint})
	call := w.CreateVoiceChannel(w.guild, "call")
	d := w.session(t)
	states, servers := events[*discordgo.VoiceStateUpdate](d), events[*discordgo.VoiceServerUpdate](d)
	open(t, w, d)
	if err := d.ChannelVoiceJoinManual(w.guild.ID, call.ID, false, true); err != nil {
		t.Fatal(err)
	}
	if v := next(t, states); v.UserID != w.bot.ID || v.ChannelID != call.ID || v.SessionID == "" || !v.SelfDeaf {
		t.Errorf("got state %+v, want the bot in the call", v.VoiceState)
	}
	if v := next(t, servers); v.Endpoint != endpoint || v.Token == "" || v.GuildID != w.guild.ID {
		t.Errorf("got server %+v, want the endpoint", v)
	}
	w.JoinVoice(call, w.ada)
	if v := next(t, states); v.UserID != w.ada.ID {
		t.Errorf("got state of %s, want ada's", v.UserID)
	}
	if err := d.ChannelVoiceJoinManual(w.guild.ID, "", false, false); err != nil {
		t.Fatal(err)
	}
	if v := next(t, states); v.ChannelID != "" {
		t.Errorf("got channel %s, want none", v.ChannelID)
	}
	w.LeaveVoice(w.guild, w.ada)
	next(t, states)
	if got := w.VoiceStates(w.guild); len(got) != 0 {
		t.Errorf("got voice states %v, want none", got)
	}
}

func TestMembersAreSentWhenAskedFor(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	d := w.session(t)
	chunks := events[*discordgo.GuildMembersChunk](d)
	open(t, w, d)
	if err := d.RequestGuildMembers(w.guild.ID, "ad", 0, "n1", false); err != nil {
		t.Fatal(err)
	}
	if c := next(t, chunks); len(c.Members) != 1 || c.Members[0].User.ID != w.ada.ID || c.Nonce != "n1" {
		t.Errorf("got chunk %+v, want ada", c)
	}
}
