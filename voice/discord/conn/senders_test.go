package conn_test

import (
	"testing"
	"time"

	"clank/voice/discord/conn"

	"github.com/pion/rtcp"
)

var (
	adaSender = conn.Sender{User: "2", ID: 2}
	bob       = conn.Sender{User: "3", ID: 3}
)

// at returns a packet of a source.
func at(ssrc uint32, sequence int, when time.Time) conn.ReceivedPacket {
	var p conn.RTPPacket
	p.SSRC, p.Sequence, p.Timestamp = ssrc, uint16(sequence), uint32(sequence*960)
	return conn.ReceivedPacket{RTPPacket: p, At: when}
}

func begin(users ...string) (*conn.SenderTable, time.Time) {
	b := conn.NewSenderTable()
	b.AddUsers(users)
	return b, time.Unix(100, 0)
}

// owner returns whose packets those of a source are.
func owner(b *conn.SenderTable, ssrc uint32, now time.Time) string {
	p, _, _ := b.SenderOf(at(ssrc, 1, now))
	return p.User
}

func TestPacketsThatComeBeforeTheirSenderIsKnownAreKept(t *testing.T) {
	b, now := begin(adaSender.User)
	for n := range 3 {
		if _, known, waiting := b.SenderOf(at(9, n, now)); known || len(waiting) > 0 {
			t.Fatalf("packet %d of nobody: known %v, %d handed on", n, known, len(waiting))
		}
	}
	if got := b.Assign(9, adaSender, now); len(got) != 3 || got[2].Sequence != 2 {
		t.Errorf("%d packets are handed on, want the three that came", len(got))
	}
	if got := owner(b, 9, now); got != adaSender.User {
		t.Errorf("a packet is of %q, want ada", got)
	}
	b.SenderOf(at(8, 0, now))
	if _, _, waiting := b.SenderOf(at(8, 1, now.Add(time.Second))); len(waiting) != 2 {
		t.Errorf("%d packets of somebody whom nobody announces are handed on, want two", len(waiting))
	}
}

func TestASourceThatIsHeardDoesNotChangeHandsBecauseSomebodySaysSo(t *testing.T) {
	b, now := begin(adaSender.User, bob.User)
	b.Assign(9, adaSender, now)
	b.MarkHeard(9, now)
	b.Assign(9, bob, now.Add(time.Second))
	if got := owner(b, 9, now); got != adaSender.User {
		t.Errorf("it is of %q, want ada", got)
	}
	b.Assign(9, bob, now.Add(time.Minute)) // which she has not used for long
	if got := owner(b, 9, now); got != bob.User {
		t.Errorf("it is of %q, want bob", got)
	}
	b.MarkHeard(9, now.Add(time.Minute))
	b.RemoveUser(bob.User)
	if got := owner(b, 9, now); got != "" {
		t.Errorf("it is of %q, who has left", got)
	}
}

func TestWhoseItIsIsLookedForAfterEnoughDoubts(t *testing.T) {
	b, now := begin(adaSender.User, bob.User)
	if b.AddDoubt(9) {
		t.Error("nobody's source is doubted")
	}
	b.Assign(9, adaSender, now)
	for range 9 {
		if b.AddDoubt(9) {
			t.Fatal("it is looked for after a few packets")
		}
	}
	b.MarkHeard(9, now)
	for n := range 10 {
		if got, want := b.AddDoubt(9), n == 9; got != want {
			t.Fatalf("it is looked for after %d packets in a row: %v", n+1, got)
		}
	}
	b.Correct(9, bob)
	if got := owner(b, 9, now); got != bob.User {
		t.Errorf("it is of %q, want bob", got)
	}
	if !b.AllowSearch(now) || b.AllowSearch(now.Add(time.Millisecond)) || !b.AllowSearch(now.Add(time.Second)) {
		t.Error("keys are not tried four times a second at most")
	}
}

func TestOnePersonHasFewSources(t *testing.T) {
	b, now := begin(adaSender.User, bob.User)
	b.Assign(1, bob, now)
	for ssrc := uint32(2); ssrc < 5000; ssrc++ {
		b.Assign(ssrc, adaSender, now)
	}
	if got := owner(b, 1, now); got != bob.User {
		t.Errorf("bob's source is of %q", got)
	}
	if got := owner(b, 4999, now); got != adaSender.User {
		t.Errorf("ada's newest source is of %q", got)
	}
	have := 0
	for ssrc := uint32(2); ssrc < 5000; ssrc++ {
		if owner(b, ssrc, now) == adaSender.User {
			have++
		}
	}
	if have > 8 {
		t.Errorf("ada has %d sources", have)
	}
}

func TestStrangersAreBounded(t *testing.T) {
	b, now := begin()
	for ssrc := range uint32(1000) {
		b.SenderOf(at(ssrc, 1, now))
	}
	kept := 0
	for ssrc := range uint32(1000) {
		kept += len(b.Assign(ssrc, adaSender, now))
	}
	if kept != 64 {
		t.Errorf("packets of %d strangers are kept, want 64", kept)
	}
}

func TestOnePersonIsReadSoOftenAndNoMore(t *testing.T) {
	b, now := begin(adaSender.User)
	allowed := 0
	for range 50000 {
		if b.Allow(adaSender.User, now) {
			allowed++
		}
	}
	if allowed != 20000 || !b.Allow(bob.User, now) {
		t.Errorf("%d packets at once, want 20000, and the other's", allowed)
	}
	if !b.Allow(adaSender.User, now.Add(time.Second)) {
		t.Error("a second later nothing is read")
	}
}

func TestWhoSendsWhatCannotBeReadIsTriedLessOften(t *testing.T) {
	b, now := begin(adaSender.User)
	tried := func(n int) (allowed int) {
		for range n {
			now = now.Add(time.Millisecond)
			if b.Allow(adaSender.User, now) {
				b.RecordDecrypt(adaSender.User, true)
				allowed++
			}
		}
		return allowed
	}
	tried(100)
	if got := tried(1000); got < 15 || got > 25 {
		t.Errorf("%d packets tried in a second, want about 20", got)
	}
	now = now.Add(50 * time.Millisecond)
	if !b.Allow(adaSender.User, now) {
		t.Fatal("nothing is tried any more")
	}
	b.RecordDecrypt(adaSender.User, false)
	if got := tried(50); got != 50 {
		t.Errorf("%d of 50 packets tried of somebody who can be read again", got)
	}
}

func TestReceiversReportWhatWasLost(t *testing.T) {
	b, now := begin(adaSender.User)
	b.Assign(9, adaSender, now)
	for n := range 100 {
		if n%4 != 1 {
			b.SenderOf(at(9, 65500+n, now.Add(time.Duration(n)*20*time.Millisecond)))
		}
	}
	now = now.Add(2 * time.Second)
	b.HandleSenderReport(&rtcp.SenderReport{SSRC: 9, NTPTime: 0x123456789abcdef0}, now)
	got := b.Reports(now.Add(time.Second))
	if len(got) != 1 {
		t.Fatalf("%d blocks, want one", len(got))
	}
	r := got[0]
	if r.SSRC != 9 || r.TotalLost != 25 || r.FractionLost != 64 || r.LastSequenceNumber != 65599 || r.LastSenderReport != 0x56789abc || r.Delay != 65536 || r.Jitter > 1 {
		t.Errorf("reported %+v", r)
	}
	if again := b.Reports(now.Add(2 * time.Second)); len(again) > 0 {
		t.Errorf("reported again without news: %+v", again)
	}
}
