package callpeers_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"clank/internal/test/discordtest"
	"clank/internal/test/discordtest/voicetest"
)

// TestABotOfOtherHandsIsInTheCall has a library that nobody here wrote join by its own means, be heard and hear: without
// end-to-end encryption, and with it, as the second and as the first in the call.
func TestABotOfOtherHandsIsInTheCall(t *testing.T) {
	asked(t)
	for name, c := range map[string]struct {
		cfg   voicetest.Config
		after bool // the person comes after the bot
	}{
		"no encryption":              {voicetest.Config{}, false},
		"XChaCha only":               {voicetest.Config{Modes: []string{"aead_xchacha20_poly1305_rtpsize"}}, false},
		"encryption":                 {voicetest.Config{DAVE: 1}, false},
		"encryption, the bot before": {voicetest.Config{DAVE: 1}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTestGuild(t, c.cfg)
			o := voicetest.MemberOptions{Privacy: voicetest.NewDAVESession}
			var ada *voicetest.Member
			var bot *peer
			enter := func() {
				m, err := w.EnterCall(deadline(t), w.call, w.ada, o)
				if err != nil {
					t.Fatal(err)
				}
				ada = m
				t.Cleanup(func() { _ = m.Close() })
			}
			if !c.after {
				enter()
			}
			bot = startPeer(t, w, w.call)
			bot.is("ready")
			if c.after {
				enter()
			}
			converse(t, w, ada, bot, c.cfg.DAVE > 0)
		})
	}
}

func converse(t *testing.T, w *testGuild, ada *voicetest.Member, bot *peer, encrypted bool) {
	t.Helper()
	seat := discordtest.VoiceClientID(w.guild, w.peer.User)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := ada.Wait(ctx, "the bot", func() bool { return ada.People()[w.peer.ID] }); err != nil {
		t.Fatal(err)
	}
	if encrypted {
		if err := w.Voice.Wait(ctx, "the group to settle", func() bool { return w.Voice.Settled(w.guild.ID, w.call.ID) }); err != nil {
			t.Fatal(err, w.Voice.Unused(), ada.PrivacyErrors())
		}
		ours, ok := ada.Private().(*voicetest.DAVESession)
		if !ok {
			t.Fatalf("got %T", ada.Private())
		}
		if err := ada.Wait(ctx, "keys", func() bool { return ours.Ready() && ours.PrivacyCode() != "" }); err != nil {
			t.Fatal(err)
		}
		bot.command("code")
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
	bot.command("say" + strings.Repeat(" "+hex.EncodeToString(reply), 50))
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
	if _, err := w.Voice.WaitReceived(ctx, voicetest.OpResume, 0); err != nil {
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
	w.innocent(t)
}

// speak says the same each 20 ms until it was heard.
func speak(m *voicetest.Member, said []byte, heard <-chan struct{}) {
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
