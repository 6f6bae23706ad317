package discord_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/cancel"
	"clank/internal/test/check"
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
	check.Equal(t, "moved to", lg.until(t, voice.Moved).Text, w.other.ID)
	lg.until(t, voice.Connected)
	if got := <-moved; got != w.guild.ID+"/"+w.other.ID || len(moved) > 0 {
		t.Errorf("told of a move to %s and %d more, want one to %s", got, len(moved), w.other.ID)
	}
	bob.Speak(conn.SpeakingMicrophone)
	check.Must(t, bob.Send([]byte{1}))
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
		check.Must(t, err)
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
	check.Fails(t, lg.end(t), discord.ErrRemoved)
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
	check.Fails(t, l.Play([]byte{1}), voice.ErrUnavailable)
	w.MuteVoice(w.guild, w.bot.User, false, false)
	lg.until(t, voice.Connected)
	check.Must(t, l.Play([]byte{1}))
}

func TestAnAudienceIsTold(t *testing.T) {
	w := newTown(t, voicetest.Config{})
	_, lg := w.join(t, w.call)
	state := w.VoiceStates(w.guild)[w.bot.ID]
	w.joiner.Dispatch("VOICE_STATE_UPDATE", json.RawMessage(fmt.Sprintf(
		`{"guild_id":%q,"channel_id":%q,"user_id":%q,"session_id":%q,"suppress":true}`, w.guild.ID, w.call.ID, w.bot.ID,
		state.SessionID)))
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
			check.Fails(t, l.Play([]byte{1}), voice.ErrUnavailable)
			w.FindVoiceServer(w.guild)
			lg.until(t, voice.Connected)
			check.Must(t, l.Play([]byte{1}))
			if f, err := ada.Next(voicetest.Deadline(t)); err != nil || f.From != w.bot.ID {
				t.Errorf("ada hears %+v, %v", f, err)
			}
			ada.Speak(1)
			check.Must(t, ada.Send([]byte{0x78, 1}))
			if e := lg.until(t, voice.PacketReceived); e.Packet.From != w.ada.ID {
				t.Errorf("heard %+v, want ada over the new server", e.Packet)
			}
			check.Equal(t, "connections", len(w.Voice.Clients()), 2)
		})
	}
}

func TestANewServerIsFollowedAtOnce(t *testing.T) {
	w := newTown(t, voicetest.Config{})
	_, lg := w.join(t, w.call)
	w.FindVoiceServer(w.guild)
	lg.until(t, voice.Interrupted)
	lg.until(t, voice.Connected)
	check.Equal(t, "connections", len(w.Voice.Clients()), 1)
}

func TestBrokenLinesOfTheMainGatewayDoNotMatter(t *testing.T) {
	w := newTown(t, voicetest.Config{})
	l, lg := w.join(t, w.call)
	check.Must(t, w.DropSockets(w.bot))
	w.await(t, "the bot to resume", func() bool { return w.Connected(w.bot) })
	w.JoinVoice(w.call, w.ada)
	lg.until(t, voice.Joined)
	check.Must(t, l.Play([]byte{1}))
	check.Equal(t, "voice connections", len(w.Voice.Received(voicetest.OpIdentify)), 1)
}

func TestANewSessionOfTheMainGatewayBringsUsBack(t *testing.T) {
	w := newTown(t, voicetest.Config{})
	l, lg := w.join(t, w.call)
	check.Must(t, w.InvalidateSession(w.bot, false))
	lg.until(t, voice.Interrupted)
	lg.until(t, voice.Connected)
	check.Equal(t, "we are in", w.where(), w.call.ID)
	check.Must(t, l.Play([]byte{1}))
}

func TestTheLastCloseCodeIsTold(t *testing.T) {
	w := newTown(t, voicetest.Config{})
	for _, code := range []int{4017, 4021, 4022} {
		_, lg := w.join(t, w.call)
		check.Must(t, w.Voice.CloseSeat(w.seat(), code, ""))
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
	check.Must(t, l.Close(voicetest.Deadline(t)))
	check.Equal(t, "voice connections are left", len(w.Voice.Clients()), 0)
	l, lg := w.join(t, w.call)
	w.LeaveVoice(w.guild, w.bot.User)
	_ = lg.end(t)
	check.Must(t, l.Close(voicetest.Deadline(t)))
	voicetest.NoneLeft(t)
}

func TestAReaderThatFallsBehindLosesOnlySound(t *testing.T) {
	w := newTown(t, voicetest.Config{})
	ada := w.person(t, w.call, w.ada)
	l, lg := w.join(t, w.call)
	ada.Speak(conn.SpeakingMicrophone)
	const sent = 400
	for i := range sent {
		check.Must(t, ada.Send([]byte{byte(i), byte(i >> 8)}))
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

// step is where a join is given up.
type step struct {
	name    string
	layer   string // that is named; empty: the join may have been faster
	prepare func(t *testing.T, w *town) (reached func() error)
}

// steps are those of a join, in their order.
var steps = []step{
	{"our place is not told", "main gateway", func(t *testing.T, w *town) func() error {
		t.Helper()
		w.JoinVoice(w.call, w.ada)
		w.LimitVoice(w.call, 1)
		return func() error { _, err := w.WaitReceived(voicetest.Deadline(t), 4, 0); return err }
	}},
	{"the server is not told", "main gateway", func(t *testing.T, w *town) func() error {
		t.Helper()
		w.LoseVoiceServer(w.guild, 0)
		return func() error {
			return w.Wait(voicetest.Deadline(t), "a place", func() bool { return w.where() == w.call.ID })
		}
	}},
	{"the voice gateway does not answer", "voice connection", func(t *testing.T, w *town) func() error {
		t.Helper()
		asked := make(chan struct{}, 10)
		w.joiner.HTTPClient.Transport.(*http.Transport).DialContext = func(ctx context.Context, _,
			_ string,
		) (net.Conn, error) {
			asked <- struct{}{}
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
		return func() error {
			select {
			case <-asked:
				return nil
			case <-voicetest.Deadline(t).Done():
				return context.DeadlineExceeded
			}
		}
	}},
	{"our own address is not told", "voice connection", func(t *testing.T, w *town) func() error {
		t.Helper()
		w.Voice.LoseDiscoveries(1000)
		return func() error {
			_, err := w.Voice.WaitReceived(voicetest.Deadline(t), voicetest.OpIdentify, 0)
			return err
		}
	}},
	{"the session is about to be described", "", func(t *testing.T, w *town) func() error {
		t.Helper()
		return func() error {
			_, err := w.Voice.WaitReceived(voicetest.Deadline(t), voicetest.OpSelectProtocol, 0)
			return err
		}
	}},
}

func TestAJoinIsGivenUpAtEachStep(t *testing.T) {
	for _, s := range steps {
		t.Run(s.name, func(t *testing.T) {
			w := aTown(t, voicetest.Config{DAVE: 1})
			reached := s.prepare(t, w)
			ctx, give := context.WithCancelCause(t.Context())
			joined := make(chan error, 1)
			go func() {
				l, err := w.joiner.Join(ctx, w.guild.ID, w.call.ID)
				if err == nil {
					err = l.Close(voicetest.Deadline(t))
				}
				joined <- err
			}()
			check.Must(t, reached())
			why := &cancel.Cause{Reason: cancel.Stopped, By: "ada"}
			give(why)
			var err error
			select {
			case err = <-joined:
			case <-voicetest.Deadline(t).Done():
				t.Fatal("Join does not return")
			}
			if err != nil || s.layer != "" {
				want := "join the voice channel " + w.call.ID + ": " + s.layer + ": stopped by ada"
				if s.layer == "" {
					want = "join the voice channel " + w.call.ID + ": voice connection: stopped by ada"
				}
				if !errors.Is(err, why) || err.Error() != want {
					t.Errorf("Join = %v, want %q", err, want)
				}
			}
			w.nothingLeft(t)
		})
	}
}

// nothingLeft waits until nobody knows anything of a call of ours.
func (w *town) nothingLeft(t *testing.T) {
	t.Helper()
	w.await(t, "the bot to be outside", func() bool { return w.where() == "" })
	if err := w.Voice.Wait(voicetest.Deadline(t), "the end of the connection", func() bool {
		_, there := w.Voice.Client(w.seat())
		return !there
	}); err != nil {
		t.Error(err)
	}
	if _, there := w.joiner.Line(w.guild.ID); there {
		t.Error("the joiner still has a line")
	}
	voicetest.NoneLeft(t)
}

// TestACallIsLeftWhoeverWaitsForIt leaves with a context that has ended: nobody waits, and it is left all the same.
func TestACallIsLeftWhoeverWaitsForIt(t *testing.T) {
	for name, when := range map[string]func(t *testing.T, w *town) *discord.Line{
		"while it is connected": func(t *testing.T, w *town) *discord.Line {
			t.Helper()
			l, _ := w.join(t, w.call)
			return l
		},
		"while keys are agreed on": func(t *testing.T, w *town) *discord.Line {
			t.Helper()
			ada, err := w.EnterCall(voicetest.Deadline(t), w.call, w.ada,
				voicetest.MemberOptions{Privacy: voicetest.NewDAVESession})
			check.Must(t, err)
			t.Cleanup(func() { _ = ada.Close() })
			l, err := w.joiner.Join(voicetest.Deadline(t), w.guild.ID, w.call.ID) // which does not wait for keys
			check.Must(t, err)
			return l
		},
		"while there is no server": func(t *testing.T, w *town) *discord.Line {
			t.Helper()
			l, _ := w.join(t, w.call)
			w.LoseVoiceServer(w.guild, voicetest.CloseCrashed)
			return l
		},
		"while it reconnects": func(t *testing.T, w *town) *discord.Line {
			t.Helper()
			l, _ := w.join(t, w.call)
			check.Must(t, w.Voice.Drop(w.seat()))
			return l
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := aTown(t, voicetest.Config{DAVE: 1})
			l := when(t, w)
			ended, end := context.WithCancelCause(t.Context())
			end(errors.New("nobody waits"))
			if err := l.Close(ended); err != nil && err.Error() != "leave the call: nobody waits" {
				t.Errorf("Close = %v", err)
			}
			w.await(t, "the bot to be outside", func() bool { return w.where() == "" })
			check.Must(t, l.Close(voicetest.Deadline(t)))
			check.Must(t, l.Err())
			if _, there := w.joiner.Line(w.guild.ID); there {
				t.Error("the joiner still has a line")
			}
		})
	}
}

func TestEverythingAtOnceLeavesNothingBehind(t *testing.T) {
	w := aTown(t, voicetest.Config{DAVE: 1})
	ctx, end := context.WithTimeout(t.Context(), 2*time.Second)
	defer end()
	var all, readers sync.WaitGroup
	lines := make(chan *discord.Line, 1000)
	again := func(do func()) {
		all.Go(func() {
			for ctx.Err() == nil {
				do()
				select {
				case <-time.After(rand.N(60 * time.Millisecond)):
				case <-ctx.Done():
				}
			}
		})
	}
	for _, channel := range []string{w.call.ID, w.other.ID} {
		again(func() {
			patience, cancel := context.WithTimeout(ctx, rand.N(500*time.Millisecond))
			defer cancel()
			l, err := w.joiner.Join(patience, w.guild.ID, channel)
			if err != nil {
				return
			}
			readers.Go(func() {
				for range l.Events() {
					_ = l.Play([]byte{0xf8, 1})
				}
			})
			lines <- l
		})
	}
	again(func() { w.LeaveVoice(w.guild, w.bot.User) })
	again(func() { w.MoveVoice(w.other, w.bot.User) })
	again(func() { w.LoseVoiceServer(w.guild, voicetest.CloseCrashed); w.FindVoiceServer(w.guild) })
	again(func() { _ = w.Voice.Drop(w.seat()) })
	again(func() {
		select {
		case l := <-lines:
			_ = l.Close(ctx)
		default:
		}
	})
	<-ctx.Done()
	late := make(chan error, 1)
	go func() {
		_, err := w.joiner.Join(voicetest.Deadline(t), w.guild.ID, w.call.ID)
		late <- err
	}()
	check.Must(t, w.joiner.Close(voicetest.Deadline(t)))
	all.Wait()
	<-late // it may have come before the end, but then it ended with it
	check.Fails(t, check.Err(w.joiner.Join(voicetest.Deadline(t), w.guild.ID, w.call.ID)), nil, "clank is shutting down")
	close(lines)
	readers.Wait()
	voicetest.NoneLeft(t)
}

func TestAJoinUnderWayEndsWithTheJoiner(t *testing.T) {
	w := newTown(t, voicetest.Config{})
	w.Voice.LoseDiscoveries(2)
	joined := make(chan error, 1)
	go func() {
		_, err := w.joiner.Join(voicetest.Deadline(t), w.guild.ID, w.call.ID)
		joined <- err
	}()
	check.Must(t, check.Err(w.Voice.WaitReceived(voicetest.Deadline(t), voicetest.OpIdentify, 0)))
	check.Must(t, w.joiner.Close(voicetest.Deadline(t)))
	check.Fails(t, <-joined, nil, "clank is shutting down")
	check.Fails(t, check.Err(w.joiner.Join(voicetest.Deadline(t), w.guild.ID, w.other.ID)), nil, "clank is shutting down")
	w.await(t, "the bot to leave", func() bool { return w.where() == "" })
}
