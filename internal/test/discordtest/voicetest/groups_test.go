package voicetest_test

import (
	"bytes"
	"testing"

	"clank/internal/test/discordtest/voicetest"
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
