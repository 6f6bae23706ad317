package discord_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"clank/cancel"
	"clank/internal/test/discordtest/voicetest"
	"clank/voice/discord"
)

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
		w.joiner.HTTPClient.Transport.(*http.Transport).DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
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
			must(t, reached())
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
	if err := w.Voice.Wait(voicetest.Deadline(t), "the end of the connection", func() bool { _, there := w.Voice.Client(w.seat()); return !there }); err != nil {
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
			ada, err := w.EnterCall(voicetest.Deadline(t), w.call, w.ada, voicetest.MemberOptions{Privacy: voicetest.NewDAVESession})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = ada.Close() })
			l, err := w.joiner.Join(voicetest.Deadline(t), w.guild.ID, w.call.ID) // which does not wait for keys
			if err != nil {
				t.Fatal(err)
			}
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
			must(t, w.Voice.Drop(w.seat()))
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
			if err := l.Close(voicetest.Deadline(t)); err != nil {
				t.Error(err)
			}
			if err := l.Err(); err != nil {
				t.Errorf("the call ended with %v", err)
			}
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
	if err := w.joiner.Close(voicetest.Deadline(t)); err != nil {
		t.Error(err)
	}
	all.Wait()
	<-late // it may have come before the end, but then it ended with it
	if _, err := w.joiner.Join(voicetest.Deadline(t), w.guild.ID, w.call.ID); err == nil {
		t.Error("a call was joined after the end")
	}
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
	if _, err := w.Voice.WaitReceived(voicetest.Deadline(t), voicetest.OpIdentify, 0); err != nil {
		t.Fatal(err)
	}
	if err := w.joiner.Close(voicetest.Deadline(t)); err != nil {
		t.Error(err)
	}
	if err := <-joined; err == nil {
		t.Error("a call was joined while everything ended")
	}
	if _, err := w.joiner.Join(voicetest.Deadline(t), w.guild.ID, w.other.ID); err == nil {
		t.Error("a call was joined after everything had ended")
	}
	w.await(t, "the bot to leave", func() bool { return w.where() == "" })
}
