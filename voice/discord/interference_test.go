package discord_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"clank/internal/test/discordtest/voicetest"
	"clank/voice/discord"
)

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
