package conn_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"
	"time"

	"clank/internal/test/discordtest/delivery"
	"clank/internal/test/discordtest/voicetest"
	"clank/voice"
	"clank/voice/discord/conn"
)

func encrypted(o *voicetest.MemberOptions) { o.Privacy, o.Video = voicetest.NewDAVESession, true }

// poll waits until a condition holds that nobody tells of.
func poll(t *testing.T, what string, cond func() bool) {
	t.Helper()
	ctx := voicetest.Deadline(t)
	for !cond() {
		select {
		case <-time.After(2 * time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("no %s", what)
		}
	}
}

// agreed waits until we and the others have the same keys.
func (h hall) agreed(t *testing.T, c *conn.Conn, others ...*voicetest.Member) {
	t.Helper()
	h.await(t, "the group to settle", func() bool { return h.Settled(guild, channel) })
	poll(t, "common code", func() bool {
		for _, m := range others {
			s, ok := m.Private().(*voicetest.DAVESession)
			if !ok || !s.Ready() || s.PrivacyCode() == "" || s.PrivacyCode() != c.PrivacyCode() {
				return false
			}
		}
		return true
	})
}

func TestNothingIsSentWhileKeysAreAgreed(t *testing.T) {
	h := newHall(t, voicetest.Config{DAVE: 1})
	first := h.join(t, ada, encrypted)
	h.await(t, "a group of one", func() bool { return h.Settled(guild, channel) })
	group := func(do func(*delivery.Service)) {
		must(t, h.Group(guild, channel, do))
	}
	group(func(g *delivery.Service) { g.Hold = true })
	c, e := h.open(t, nil)
	h.await(t, "a commit", func() bool {
		held := 0
		group(func(g *delivery.Service) { held = g.Held() })
		return held > 0
	})
	if err := c.SendAudio([]byte("plain")); !errors.Is(err, voice.ErrUnavailable) {
		t.Errorf("SendAudio = %v, want ErrMute", err)
	}
	if err := c.EndSpeech(); err != nil {
		t.Error(err)
	}
	if got, _ := h.Client(seat); got.Received != 0 || c.Stats().Sent != 0 || e.count(conn.Up) != 0 {
		t.Errorf("the server got %d packets, we sent %d, up %d times; want nothing", got.Received, c.Stats().Sent, e.count(conn.Up))
	}
	group(func(g *delivery.Service) { _ = g.Release() }) // of two members' commits one is late
	e.kind(t, 0, conn.Up)
	h.agreed(t, c, first)
	talk(t, c, e, first, "now")
}

// talk has us and another say something that the other one reads.
func talk(t *testing.T, c *conn.Conn, e *events, m *voicetest.Member, word string) {
	t.Helper()
	said := []byte("clank says " + word)
	stop := voicetest.Repeat(t, func() error { return c.SendAudio(said) })
	for {
		f := voicetest.NextFrame(t, m)
		if f.From == self && bytes.Contains(f.Encrypted, []byte("says "+word)) {
			t.Errorf("%q can be read on the way", f.Encrypted)
		}
		if f.From == self && bytes.Equal(f.Data, said) {
			break
		}
	}
	stop()
	m.Speak(conn.SpeakingMicrophone)
	said = []byte(m.User + " says " + word)
	stop = voicetest.Repeat(t, func() error { return m.Send(said) })
	e.next(t, 0, word+" of "+m.User, func(ev conn.Event) bool {
		return ev.Kind == conn.PacketReceived && ev.Packet.From == m.User && bytes.Equal(ev.Packet.Opus, said)
	})
	stop()
}

func TestAnEncryptedCallIsHeardThroughAllThatHappens(t *testing.T) {
	h := newHall(t, voicetest.Config{DAVE: 1})
	c, e := h.open(t, nil)
	first := h.join(t, ada, encrypted)
	_, at := e.kind(t, 0, conn.Up)
	h.agreed(t, c, first)
	talk(t, c, e, first, "hello")
	second := h.join(t, "902", encrypted)
	h.agreed(t, c, first, second)
	talk(t, c, e, second, "welcome")
	must(t, first.Close())
	h.agreed(t, c, second)
	talk(t, c, e, second, "alone")

	must(t, h.Drop(seat))
	_, at = e.kind(t, at, conn.Down)
	_, at = e.kind(t, at, conn.Up)
	talk(t, c, e, second, "resumed")

	must(t, h.CloseSeat(seat, voicetest.CloseTimeout, ""))
	_, at = e.kind(t, at, conn.Down)
	e.kind(t, at, conn.Up)
	h.agreed(t, c, second)
	talk(t, c, e, second, "anew")
	if got := h.Violations(); len(got) > 0 {
		t.Errorf("violations %v", got)
	}
}

func TestJoiningAnEncryptedCallLast(t *testing.T) {
	h := newHall(t, voicetest.Config{DAVE: 1})
	first := h.join(t, ada, encrypted)
	c, e := h.open(t, nil)
	e.kind(t, 0, conn.Up)
	h.agreed(t, c, first)
	talk(t, c, e, first, "late")
}

func TestPicturesAreEncrypted(t *testing.T) {
	h := newHall(t, voicetest.Config{DAVE: 1})
	c, e := h.open(t, func(c *conn.Conn) { c.Video = true })
	m := h.join(t, ada, encrypted)
	e.kind(t, 0, conn.Up)
	h.agreed(t, c, m)
	c.ShowVideo(conn.Format{Width: 1280, Height: 720})
	m.RequestQuality(100)
	e.next(t, 0, "wish", func(ev conn.Event) bool { return ev.Kind == conn.QualityWanted && ev.Quality == 100 })
	frame := append([]byte{0x10, 2, 0, 0x9d, 1, 0x2a, 0, 5, 0xd0, 2}, bytes.Repeat([]byte("picture"), 5000)...)
	must(t, c.SendVideo(frame, time.Now()))
	f := voicetest.NextFrame(t, m)
	if !bytes.Equal(f.Data, frame) || bytes.Contains(f.Encrypted, []byte("picture")) || !bytes.Equal(f.Encrypted[:10], frame[:10]) {
		t.Errorf("got %d bytes (%v), want %d, encrypted but for the first ten", len(f.Data), f.Err, len(frame))
	}
}

func TestWhoSpeaksUnannouncedIsFoundByTheirKey(t *testing.T) {
	h := newHall(t, voicetest.Config{DAVE: 1})
	c, e := h.open(t, func(c *conn.Conn) {
		c.Transport = func(received func([]byte), failed func(error)) conn.Transport {
			return conn.NewUDP(func(p []byte) {
				binary.BigEndian.PutUint32(p[8:], 4242)
				received(p)
			}, failed)
		}
	})
	m, other := h.join(t, ada, encrypted), h.join(t, "902", encrypted)
	h.agreed(t, c, m, other)
	m.Speak(conn.SpeakingMicrophone)
	h.await(t, "speaking", func() bool { return len(h.Received(voicetest.OpSpeaking)) > 0 })
	for i := range byte(20) {
		must(t, m.Send([]byte{0x78, i}))
	}
	ev, _ := e.kind(t, 0, conn.PacketReceived)
	if ev.Packet.From != ada || ev.Packet.Opus[0] != 0x78 {
		t.Errorf("heard %+v, want ada", ev.Packet)
	}
}

func TestACallWithoutEncryptionGoesOnInTheClear(t *testing.T) {
	h := newHall(t, voicetest.Config{DAVE: 1, Optional: true})
	c, e := h.open(t, nil)
	first := h.join(t, ada, encrypted)
	h.agreed(t, c, first)
	old := h.join(t, "902", nil)
	_, at := e.kind(t, 0, conn.EncryptionOff)
	said := []byte("in the clear")
	stop := voicetest.Repeat(t, func() error { return c.SendAudio(said) })
	for _, m := range []*voicetest.Member{old, first} {
		for {
			f := voicetest.NextFrame(t, m)
			if bytes.Equal(f.Encrypted, said) && bytes.Equal(f.Data, said) {
				break
			}
		}
	}
	stop()
	must(t, old.Close())
	h.agreed(t, c, first)
	e.kind(t, at, conn.EncryptionOn)
	talk(t, c, e, first, "private again")
}

func TestADowngradeThatIsOnlyAnnouncedIsToldToo(t *testing.T) {
	h := newHall(t, voicetest.Config{DAVE: 1})
	c, e := h.open(t, nil)
	first := h.join(t, ada, encrypted)
	h.agreed(t, c, first)
	if got := e.count(conn.EncryptionOff); got != 0 {
		t.Errorf("an encrypted call was called exposed %d times", got)
	}
	if err := h.Send(seat, voicetest.OpPrepareEpoch, `{"epoch":1}`); err != nil { // without a version
		t.Fatal(err)
	}
	must(t, h.Send(seat, 21, `{"transition_id":7,"protocol_version":0}`))
	e.kind(t, 0, conn.EncryptionOff)
	first.Speak(conn.SpeakingMicrophone)
	talk(t, c, e, first, "still private")
}

func TestNobodyTakesTheVoiceOfAnother(t *testing.T) {
	for _, version := range []int{0, 1} {
		h := newHall(t, voicetest.Config{DAVE: version})
		c, e := h.open(t, nil)
		how := encrypted
		if version == 0 {
			how = nil
		}
		victim, liar := h.join(t, ada, how), h.join(t, "902", how)
		if version > 0 {
			h.agreed(t, c, victim, liar)
		}
		says := func(word string) {
			stop := voicetest.Repeat(t, func() error { return victim.Send([]byte(word)) })
			defer stop()
			ev, _ := e.next(t, 0, word, func(ev conn.Event) bool { return ev.Kind == conn.PacketReceived && string(ev.Packet.Opus) == word })
			if ev.Packet.From != ada {
				t.Errorf("version %d: %q of ada counts as that of %s", version, word, ev.Packet.From)
			}
		}
		ssrc, _ := victim.SSRC()
		lie := func(after string) {
			must(t, h.Send(seat, voicetest.OpSpeaking, fmt.Sprintf(`{"speaking":1,"ssrc":%d,"user_id":"902"}`, ssrc)))
			if err := h.Send(seat, 13, `{"user_id":"`+after+`"}`); err != nil { // messages come in order
				t.Fatal(err)
			}
			e.next(t, 0, "end of "+after, func(ev conn.Event) bool { return ev.Kind == conn.UsersLeft && ev.Users[0] == after })
		}
		victim.Speak(conn.SpeakingMicrophone)
		if _, err := h.WaitReceived(voicetest.Deadline(t), voicetest.OpSpeaking, 0); err != nil {
			t.Fatal(err)
		}
		if version > 0 {
			lie("903") // before the other has said anything: only the keys can tell
			says("before")
		}
		says("mine")
		lie("904")
		says("still mine")
	}
}
