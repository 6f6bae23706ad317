package discord_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"clank/internal/test/discordtest"
	"clank/internal/test/discordtest/voicetest"
	"clank/voice"
	"clank/voice/discord"
	"clank/voice/discord/conn"
)

func TestAMoveIsFollowed(t *testing.T) {
	w := newTown(t, voicetest.Config{})
	moved := make(chan string, 8)
	w.joiner.OnMoved = func(guild, channel string) { moved <- guild + "/" + channel }
	l, lg := w.join(t, w.call)
	w.person(t, w.call, w.ada)
	bob := w.person(t, w.other, w.bob)
	lg.until(t, voice.Joined)
	w.MoveVoice(w.other, w.bot.User)
	if e := lg.until(t, voice.Moved); e.Text != w.other.ID {
		t.Errorf("moved to %q, want %q", e.Text, w.other.ID)
	}
	lg.until(t, voice.Connected)
	if got := <-moved; got != w.guild.ID+"/"+w.other.ID || len(moved) > 0 {
		t.Errorf("told of a move to %s and %d more, want one to %s", got, len(moved), w.other.ID)
	}
	bob.Speak(conn.SpeakingMicrophone)
	must(t, bob.Send([]byte{1}))
	if e := lg.until(t, voice.PacketReceived); e.Packet.From != w.bob.ID {
		t.Errorf("heard %s, want bob", e.Packet.From)
	}
	if got := l.People(); len(got) != 1 || got[0].Name != "bob" || l.Channel() != w.other.ID {
		t.Errorf("in %s with %+v, want bob in %s", l.Channel(), got, w.other.ID)
	}
}

func TestAnEncryptedCallIsFollowedIntoAnotherGroup(t *testing.T) {
	w := newTown(t, voicetest.Config{DAVE: 1})
	people := map[string]*voicetest.Member{}
	for _, p := range []struct {
		user discordtest.User
		in   discordtest.Channel
	}{{w.ada, w.call}, {w.bob, w.other}} {
		m, err := w.EnterCall(voicetest.Deadline(t), p.in, p.user, voicetest.MemberOptions{Privacy: voicetest.NewDAVESession})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = m.Close() })
		people[p.user.ID] = m
	}
	l, lg := w.join(t, w.call)
	talk := func(user string) {
		t.Helper()
		code := func() string { return people[user].Private().(*voicetest.DAVESession).PrivacyCode() }
		limit := voicetest.Deadline(t)
		for l.PrivacyCode() == "" || l.PrivacyCode() != code() {
			select {
			case <-time.After(2 * time.Millisecond):
			case <-limit.Done():
				t.Fatalf("our code is %q, theirs %q", l.PrivacyCode(), code())
			}
		}
		people[user].Speak(conn.SpeakingMicrophone)
		// what is said while keys change is lost to those who are new
		stop := voicetest.Repeat(t, func() error { return people[user].Send([]byte(user)) })
		if e := lg.until(t, voice.PacketReceived); e.Packet.From != user || string(e.Packet.Opus) != user {
			t.Errorf("heard %q of %s", e.Packet.Opus, e.Packet.From)
		}
		stop()
		stop = voicetest.Repeat(t, func() error { return l.Play([]byte("we")) })
		defer stop()
		for {
			f := voicetest.NextFrame(t, people[user])
			if f.From == w.bot.ID && string(f.Data) == "we" {
				return
			}
		}
	}
	talk(w.ada.ID)
	w.MoveVoice(w.other, w.bot.User)
	lg.until(t, voice.Moved)
	lg.until(t, voice.Connected)
	talk(w.bob.ID)
}

func TestAKickEndsTheCall(t *testing.T) {
	w := newTown(t, voicetest.Config{})
	_, lg := w.join(t, w.call)
	w.LeaveVoice(w.guild, w.bot.User)
	if err := lg.end(t); !errors.Is(err, discord.ErrRemoved) {
		t.Errorf("ended with %v, want ErrRemoved", err)
	}
	if w.where() != "" {
		t.Error("the bot came back on its own")
	}
	w.join(t, w.call) // being asked anew is another thing
}

func TestBeingMutedIsTold(t *testing.T) {
	w := newTown(t, voicetest.Config{})
	l, lg := w.join(t, w.call)
	w.MuteVoice(w.guild, w.bot.User, true, false)
	if e := lg.until(t, voice.Interrupted); !strings.Contains(e.Text, "muted") {
		t.Errorf("told %q", e.Text)
	}
	if err := l.Play([]byte{1}); !errors.Is(err, voice.ErrUnavailable) {
		t.Errorf("Play = %v, want ErrMute", err)
	}
	w.MuteVoice(w.guild, w.bot.User, false, false)
	lg.until(t, voice.Connected)
	if err := l.Play([]byte{1}); err != nil {
		t.Errorf("Play = %v", err)
	}
}

func TestAnAudienceIsTold(t *testing.T) {
	w := newTown(t, voicetest.Config{})
	_, lg := w.join(t, w.call)
	state := w.VoiceStates(w.guild)[w.bot.ID]
	w.joiner.Dispatch("VOICE_STATE_UPDATE", json.RawMessage(fmt.Sprintf(
		`{"guild_id":%q,"channel_id":%q,"user_id":%q,"session_id":%q,"suppress":true}`, w.guild.ID, w.call.ID, w.bot.ID, state.SessionID)))
	if e := lg.until(t, voice.Interrupted); !strings.Contains(e.Text, "stage") {
		t.Errorf("told %q", e.Text)
	}
}

func TestAChangeOfServerIsFollowed(t *testing.T) {
	for name, code := range map[string]int{"announced": 0, "crashed": 4015, "closed with 4014": 4014} {
		t.Run(name, func(t *testing.T) {
			w := newTown(t, voicetest.Config{})
			ada := w.person(t, w.call, w.ada)
			l, lg := w.join(t, w.call)
			w.LoseVoiceServer(w.guild, code)
			lg.until(t, voice.Interrupted)
			if err := l.Play([]byte{1}); !errors.Is(err, voice.ErrUnavailable) {
				t.Errorf("Play = %v, want ErrMute", err)
			}
			w.FindVoiceServer(w.guild)
			lg.until(t, voice.Connected)
			if err := l.Play([]byte{1}); err != nil {
				t.Errorf("Play = %v", err)
			}
			if f, err := ada.Next(voicetest.Deadline(t)); err != nil || f.From != w.bot.ID {
				t.Errorf("ada hears %+v, %v", f, err)
			}
			if n := len(w.Voice.Clients()); n != 2 {
				t.Errorf("%d connections, want ada's and ours", n)
			}
		})
	}
}

func TestANewServerIsFollowedAtOnce(t *testing.T) {
	w := newTown(t, voicetest.Config{})
	_, lg := w.join(t, w.call)
	w.FindVoiceServer(w.guild)
	lg.until(t, voice.Interrupted)
	lg.until(t, voice.Connected)
	if n := len(w.Voice.Clients()); n != 1 {
		t.Errorf("%d connections, want one", n)
	}
}

func TestBrokenLinesOfTheMainGatewayDoNotMatter(t *testing.T) {
	w := newTown(t, voicetest.Config{})
	l, lg := w.join(t, w.call)
	must(t, w.DropSockets(w.bot))
	w.await(t, "the bot to resume", func() bool { return w.Connected(w.bot) })
	w.JoinVoice(w.call, w.ada)
	lg.until(t, voice.Joined)
	if err := l.Play([]byte{1}); err != nil {
		t.Errorf("Play = %v", err)
	}
	if n := len(w.Voice.Received(voicetest.OpIdentify)); n != 1 {
		t.Errorf("%d voice connections, want the one", n)
	}
}

func TestANewSessionOfTheMainGatewayBringsUsBack(t *testing.T) {
	w := newTown(t, voicetest.Config{})
	l, lg := w.join(t, w.call)
	must(t, w.InvalidateSession(w.bot, false))
	lg.until(t, voice.Interrupted)
	lg.until(t, voice.Connected)
	if w.where() != w.call.ID {
		t.Errorf("we are in %q, want %q", w.where(), w.call.ID)
	}
	if err := l.Play([]byte{1}); err != nil {
		t.Errorf("Play = %v", err)
	}
}

func TestTheLastCloseCodeIsTold(t *testing.T) {
	w := newTown(t, voicetest.Config{})
	for _, code := range []int{4017, 4021, 4022} {
		_, lg := w.join(t, w.call)
		must(t, w.Voice.CloseSeat(w.seat(), code, ""))
		closed, ok := errors.AsType[*conn.CloseError](lg.end(t))
		if !ok || closed.Code != code {
			t.Errorf("ended with %v, want code %d", lg.line.Err(), code)
		}
		w.await(t, "the bot to leave", func() bool { return w.where() == "" })
	}
}

func TestNothingIsLeftAfterClose(t *testing.T) {
	w := aTown(t, voicetest.Config{}) // not in parallel: it looks at all goroutines
	l, _ := w.join(t, w.call)
	must(t, l.Close(voicetest.Deadline(t)))
	if n := len(w.Voice.Clients()); n != 0 {
		t.Errorf("%d voice connections are left", n)
	}
	l, lg := w.join(t, w.call)
	w.LeaveVoice(w.guild, w.bot.User)
	_ = lg.end(t)
	must(t, l.Close(voicetest.Deadline(t)))
	voicetest.NoneLeft(t)
}

func TestAReaderThatFallsBehindLosesOnlySound(t *testing.T) {
	w := newTown(t, voicetest.Config{})
	ada := w.person(t, w.call, w.ada)
	l, lg := w.join(t, w.call)
	ada.Speak(conn.SpeakingMicrophone)
	const sent = 400
	for i := range sent {
		must(t, ada.Send([]byte{byte(i), byte(i >> 8)}))
		// The network holds only so much, and loses what is more.
		for came, still := l.Stats().Received, 0; came+20 < uint64(i) && still < 50; still++ {
			<-time.After(time.Millisecond)
			if now := l.Stats().Received; now != came {
				came, still = now, 0
			}
		}
	}
	w.JoinVoice(w.call, w.bob)
	heard := 0
	for {
		e := lg.until(t, voice.Joined)
		if e.Person.ID == w.bob.ID {
			break
		}
	}
	for _, kind := range lg.kinds() {
		if kind == voice.PacketReceived {
			heard++
		}
	}
	if heard == 0 || heard > 300 { // some are read while the last ones come
		t.Errorf("%d packets of %d were kept, want 250", heard, sent)
	}
}
