package voicetest_test

import (
	"bytes"
	"errors"
	"testing"

	"clank/internal/test/discordtest/delivery"
	"clank/internal/test/discordtest/voicetest"
	"clank/voice/discord/dave"
)

func encrypted(o *voicetest.MemberOptions) { o.Privacy, o.Video = voicetest.NewDAVESession, true }

// session is a member's part in the encryption.
func session(t *testing.T, m *voicetest.Member) *voicetest.DAVESession {
	t.Helper()
	s, ok := m.Private().(*voicetest.DAVESession)
	if !ok {
		t.Fatalf("got %T, want our own encryption", m.Private())
	}
	return s
}

// settled waits until all members are in one group and have been told all there is to say about it.
func (h hall) settled(t *testing.T, members ...*voicetest.Member) {
	t.Helper()
	if err := h.Wait(testDeadline(t), "the group to settle", func() bool { return h.Settled(guild, channel) }); err != nil {
		t.Fatal(err, h.Unused())
	}
	for _, m := range members {
		c, ok := h.Client(voicetest.ClientID{Server: guild, User: m.User})
		if !ok {
			t.Fatalf("%s is not there", m.User)
		}
		if err := m.Wait(testDeadline(t), "the same code", func() bool {
			s, first := session(t, m), session(t, members[0])
			return m.Handled() >= c.Last && s.Ready() && s.Version() > 0 && s.PrivacyCode() == first.PrivacyCode() &&
				(s.PrivacyCode() != "" || len(members) == 1)
		}); err != nil {
			t.Fatalf("%v; %v, %v", err, m.PrivacyErrors(), h.Unused())
		}
	}
}

// talk has each member say something that all others read.
func talk(t *testing.T, members ...*voicetest.Member) {
	t.Helper()
	for _, from := range members {
		from.Speak(1)
		said := []byte("this is " + from.User)
		if err := from.Send(said); err != nil {
			t.Fatal(err)
		}
		for _, to := range members {
			if to == from {
				continue
			}
			f, err := to.Next(testDeadline(t))
			if err != nil || f.Err != nil || f.From != from.User || !bytes.Equal(f.Data, said) || bytes.Contains(f.Encrypted, said) {
				t.Errorf("got %+v, %v, want %q, encrypted on the way", f, err, said)
			}
		}
	}
}

func TestAnEncryptedCallGrowsAndShrinks(t *testing.T) {
	h := newHall(t, voicetest.Config{DAVE: 1})
	ada := h.join(t, "1", encrypted)
	h.settled(t, ada)
	bob := h.join(t, "2", encrypted)
	h.settled(t, ada, bob)
	talk(t, ada, bob)
	eve := h.join(t, "3", encrypted)
	h.settled(t, ada, bob, eve)
	talk(t, ada, bob, eve)
	if err := bob.Close(); err != nil {
		t.Fatal(err)
	}
	if err := ada.Wait(testDeadline(t), "bob to go", func() bool { return !ada.People()["2"] }); err != nil {
		t.Fatal(err)
	}
	h.settled(t, ada, eve)
	talk(t, ada, eve)
	if got := h.Violations(); len(got) != 0 {
		t.Errorf("got violations %v, want none", got)
	}
}

func TestPicturesAreEncryptedWhole(t *testing.T) {
	h := newHall(t, voicetest.Config{DAVE: 1})
	ada, bob := h.join(t, "1", encrypted), h.join(t, "2", encrypted)
	h.settled(t, ada, bob)
	ada.AnnounceVideo(true, 640, 480)
	bob.RequestQuality(50)
	if err := ada.Wait(testDeadline(t), "a viewer", func() bool { return ada.Wanted() == 50 }); err != nil {
		t.Fatal(err)
	}
	picture := bytes.Repeat([]byte{0x10, 7, 7, 7}, 1500)
	if err := ada.SendVP8(picture); err != nil {
		t.Fatal(err)
	}
	if f, err := bob.Next(testDeadline(t)); err != nil || f.Err != nil || !bytes.Equal(f.Data, picture) || bytes.Equal(f.Encrypted, picture) {
		t.Errorf("got %d bytes, %v, %v, want the picture", len(f.Data), f.Err, err)
	}
}

func TestSomebodyWithoutEncryptionLeadsAllDownAndUpAgain(t *testing.T) {
	h := newHall(t, voicetest.Config{DAVE: 1, Optional: true})
	ada, bob := h.join(t, "1", encrypted), h.join(t, "2", encrypted)
	h.settled(t, ada, bob)
	old := h.join(t, "3", nil)
	for _, m := range []*voicetest.Member{ada, bob} {
		if err := m.Wait(testDeadline(t), "version 0", func() bool { return session(t, m).Version() == 0 && session(t, m).Ready() }); err != nil {
			t.Fatal(err)
		}
	}
	ada.Speak(1)
	if err := ada.Send([]byte("in the clear")); err != nil {
		t.Fatal(err)
	}
	if f, err := old.Next(testDeadline(t)); err != nil || string(f.Data) != "in the clear" {
		t.Errorf("got %+v, %v, want what ada said", f, err)
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	h.settled(t, ada, bob)
}

func TestTheServiceOfARoomCanBeTamperedWith(t *testing.T) {
	h := newHall(t, voicetest.Config{DAVE: 1})
	ada := h.join(t, "1", encrypted)
	h.settled(t, ada)
	broken := false
	if err := h.Group(guild, channel, func(g *delivery.Service) {
		g.Tamper = func(m delivery.Message) []delivery.Message {
			if m.Op == delivery.OpWelcome && !broken {
				broken, m.Payload = true, append(bytes.Clone(m.Payload[:20]), 1, 2, 3)
			}
			return []delivery.Message{m}
		}
	}); err != nil {
		t.Fatal(err)
	}
	bob := h.join(t, "2", encrypted)
	if _, err := h.WaitReceived(testDeadline(t), voicetest.OpInvalidCommitWelcome, 0); err != nil {
		t.Fatal(err)
	}
	h.settled(t, ada, bob)
	talk(t, ada, bob)
}

func TestARoomWithoutEncryptionHasNoGroup(t *testing.T) {
	h := newHall(t, voicetest.Config{})
	r := h.dial(t, "v=8")
	r.ready("1")
	if err := h.Group(guild, channel, func(*delivery.Service) {}); !errors.Is(err, voicetest.ErrNoGroup) {
		t.Errorf("got %v, want ErrNoGroup", err)
	}
	m := h.join(t, "2", func(o *voicetest.MemberOptions) { o.Privacy = voicetest.NewDAVESession })
	if got, want := session(t, m).Version(), 0; got != want {
		t.Errorf("got version %d, want %d", got, want)
	}
	if _, err := session(t, m).Encrypt("opus", []byte{1}); errors.Is(err, dave.ErrNotReady) {
		t.Error("a call without encryption waits for keys")
	}
}
