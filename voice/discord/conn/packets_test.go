package conn_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/pion/rtp/codecs"

	"clank/internal/test/check"
	"clank/internal/test/discordtest/voicetest"
	"clank/voice"
	"clank/voice/discord/conn"
)

var key = bytes.Repeat([]byte{7}, 32)

func newCipher(tb testing.TB, mode string) *conn.Cipher {
	tb.Helper()
	c, err := conn.NewCipher(mode, key)
	check.Must(tb, err)
	return c
}

// dressed returns a packet with sources, an extension and padding.
func dressed(tb testing.TB) []byte {
	tb.Helper()
	p := rtp.Packet{
		Header: rtp.Header{
			Version: 2, Marker: true, PayloadType: 120, SequenceNumber: 65535, Timestamp: 1 << 31, SSRC: 9,
			CSRC: []uint32{1, 2},
		},
		Payload: []byte("opus"),
	}
	check.Must(tb, p.SetExtension(1, []byte{0x30, 0x31, 0x32, 0x33, 0x34}))
	p.Padding, p.Header.PaddingSize = true, 5
	data, err := p.Marshal()
	check.Must(tb, err)
	return data
}

func TestPacketsAreReadByAnotherReadingOfTheDocuments(t *testing.T) {
	for _, mode := range []string{conn.ModeAES256GCM, conn.ModeXChaCha20Poly1305} {
		ours, plain := newCipher(t, mode), dressed(t)
		theirs, err := voicetest.NewPacketCipher(mode, key)
		check.Must(t, err)
		clear, err := voicetest.ClearRTP(plain)
		check.Must(t, err)
		sealed, err := ours.Seal(nil, plain)
		check.Must(t, err)
		if got, _, err := theirs.Open(bytes.Clone(sealed), clear); err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%s: they read %x, %v, want %x", mode, got, err, plain)
		}
		if got, err := ours.Open(nil, theirs.Seal(plain, clear)); err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%s: we read %x, %v, want %x", mode, got, err, plain)
		}
	}
}

func TestControlIsReadHoweverMuchOfItIsClear(t *testing.T) {
	plain, err := (&rtcp.PictureLossIndication{SenderSSRC: 1, MediaSSRC: 2}).Marshal()
	check.Must(t, err)
	ours := newCipher(t, conn.ModeAES256GCM)
	for _, clear := range []int{4, 8} {
		theirs, err := voicetest.NewPacketCipher(voicetest.ModeAES256GCM, key)
		check.Must(t, err)
		if got, err := ours.Open(nil, theirs.Seal(plain, clear)); err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%d clear bytes: got %x, %v, want %x", clear, got, err, plain)
		}
	}
}

func TestPacketsThatWereChangedAreRefused(t *testing.T) {
	c := newCipher(t, conn.ModeXChaCha20Poly1305)
	sealed, err := c.Seal(nil, dressed(t))
	check.Must(t, err)
	for i := range sealed {
		bad := bytes.Clone(sealed)
		bad[i] ^= 1
		check.Fails(t, check.Err(c.Open(nil, bad)), nil, "not encrypted with the key of this connection")
		check.Fails(t, check.Err(c.Open(nil, sealed[:i])), nil, "the packet is ")
	}
}

func TestNoncesDiffer(t *testing.T) {
	c, plain := newCipher(t, conn.ModeAES256GCM), dressed(t)
	one, _ := c.Seal(nil, plain)
	two, err := c.Seal(nil, plain)
	if err != nil || bytes.Equal(one[len(one)-4:], two[len(two)-4:]) {
		t.Errorf("nonces %x and %x (%v), want two", one[len(one)-4:], two[len(two)-4:], err)
	}
}

func TestChoosePrefersAES(t *testing.T) {
	for _, test := range []struct {
		offered []string
		want    string
	}{
		{[]string{"xsalsa20_poly1305", conn.ModeXChaCha20Poly1305, conn.ModeAES256GCM}, conn.ModeAES256GCM},
		{[]string{conn.ModeXChaCha20Poly1305}, conn.ModeXChaCha20Poly1305},
		{[]string{"aead_aes256_gcm"}, ""},
		{nil, ""},
	} {
		got, err := conn.ChooseMode(test.offered)
		if got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("Choose(%q) = %q, %v, want %q", test.offered, got, err, test.want)
		}
	}
}

func TestKeysAndModesAreChecked(t *testing.T) {
	for _, mode := range []string{conn.ModeAES256GCM, conn.ModeXChaCha20Poly1305} {
		check.Fails(t, check.Err(conn.NewCipher(mode, key[:16])), nil, "key")
	}
	check.Fails(t, check.Err(conn.NewCipher("xsalsa20_poly1305", key)), nil, `unknown encryption "xsalsa20_poly1305"`)
}

func TestStripLeavesThePayload(t *testing.T) {
	got, err := conn.ParseRTP(dressed(t))
	want := conn.RTPPacket{Type: 120, Marker: true, Sequence: 65535, Timestamp: 1 << 31, SSRC: 9, Payload: []byte("opus")}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("got %v, -want +got:\n%s", err, diff)
	}
}

func TestStripRefusesLengthsBeyondThePacket(t *testing.T) {
	head := func(first byte, rest ...byte) []byte {
		return append([]byte{first, 120, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}, rest...)
	}
	for name, packet := range map[string][]byte{
		"nothing":            nil,
		"half a header":      head(0x80)[:11],
		"another version":    head(0x40),
		"sources":            head(0x81, 0, 0, 0),
		"preamble":           head(0x90, 0xbe, 0xde),
		"extension":          head(0x90, 0xbe, 0xde, 0, 2, 0, 0, 0, 0),
		"padding of nothing": head(0xa0, 1, 0),
		"padding":            head(0xa0, 1, 3),
		"control":            {0x80, 200, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1},
	} {
		if got, err := conn.ParseRTP(packet); !errors.Is(err, conn.ErrPacketShort) {
			t.Errorf("%s: got %+v, %v, want ErrShort", name, got, err)
		}
	}
}

func FuzzStrip(f *testing.F) {
	f.Add(dressed(f))
	f.Add([]byte{0xb0, 120, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0xbe, 0xde, 0, 1, 0x10, 5, 0, 0, 9, 9, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := conn.ParseRTP(data)
		if err != nil {
			return
		}
		var other rtp.Packet
		if other.Unmarshal(data) != nil {
			return // it reads inside of extensions, which we pass over
		}
		if !bytes.Equal(got.Payload, other.Payload) || got.Sequence != other.SequenceNumber || got.SSRC != other.SSRC {
			t.Errorf("%x: got %+v, another reader %v %x", data, got, other.Header, other.Payload)
		}
	})
}

func FuzzOpen(f *testing.F) {
	c := newCipher(f, conn.ModeAES256GCM)
	sealed, err := c.Seal(nil, dressed(f))
	check.Must(f, err)
	f.Add(sealed)
	f.Fuzz(func(t *testing.T, data []byte) {
		if plain, err := c.Open(nil, data); err == nil && !bytes.Equal(data, sealed) && !bytes.Equal(plain, dressed(t)) {
			t.Errorf("%x was read as %x", data, plain)
		}
	})
}

func BenchmarkCipher(b *testing.B) {
	for _, mode := range []string{conn.ModeAES256GCM, conn.ModeXChaCha20Poly1305} {
		c, plain, buf := newCipher(b, mode), append(dressed(b)[:12], make([]byte, 160)...), []byte(nil)
		plain[0] = 0x80
		sealed, err := c.Seal(nil, plain)
		check.Must(b, err)
		b.Run("seal "+mode, func(b *testing.B) {
			for b.Loop() {
				if buf, err = c.Seal(buf[:0], plain); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("open "+mode, func(b *testing.B) {
			for b.Loop() {
				check.Must(b, check.Err(c.Open(nil, sealed)))
			}
		})
	}
}

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
	check.Equal(t, "a packet is of", owner(b, 9, now), adaSender.User)
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
	check.Equal(t, "it is of", owner(b, 9, now), adaSender.User)
	b.Assign(9, bob, now.Add(time.Minute)) // which she has not used for long
	check.Equal(t, "it is of", owner(b, 9, now), bob.User)
	b.MarkHeard(9, now.Add(time.Minute))
	b.RemoveUser(bob.User)
	check.Equal(t, "owner(b, 9, now)", owner(b, 9, now), "")
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
	check.Equal(t, "it is of", owner(b, 9, now), bob.User)
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
	check.Equal(t, "bob's source is of", owner(b, 1, now), bob.User)
	check.Equal(t, "ada's newest source is of", owner(b, 4999, now), adaSender.User)
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
	check.Equal(t, "kept", kept, 64)
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
	check.Equal(t, "of 50 packets tried of somebody who can be read again", tried(50), 50)
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
	if r.SSRC != 9 || r.TotalLost != 25 || r.FractionLost != 64 || r.LastSequenceNumber != 65599 ||
		r.LastSenderReport != 0x56789abc || r.Delay != 65536 || r.Jitter > 1 {
		t.Errorf("reported %+v", r)
	}
	if again := b.Reports(now.Add(2 * time.Second)); len(again) > 0 {
		t.Errorf("reported again without news: %+v", again)
	}
}

const (
	source, repeats     = 6, 7 // SSRCs
	typeVP8, typeRepeat = 105, 106
)

// post is a box over a network that takes what it is given.
type post struct {
	*conn.Pacer[string]

	now   time.Time
	sent  []rtp.Packet
	at    []time.Time
	again []rtp.Packet
	fails error
}

func newPost(t *testing.T) *post {
	t.Helper()
	p := &post{now: time.Unix(1, 0), Pacer: &conn.Pacer[string]{PayloadType: typeVP8, ResendType: typeRepeat}}
	read := func(packet []byte) rtp.Packet {
		var r rtp.Packet
		check.Must(t, r.Unmarshal(bytes.Clone(packet)))
		return r
	}
	p.Send = func(_ string, packet []byte, payload int, at time.Time) error {
		r := read(packet)
		if len(r.Payload) != payload {
			t.Errorf("%d bytes are said to follow the header, and %d do", payload, len(r.Payload))
		}
		p.sent, p.at = append(p.sent, r), append(p.at, at)
		return p.fails
	}
	p.Resend = func(_ string, packet []byte) { p.again = append(p.again, read(packet)) }
	p.Reset()
	return p
}

// put has a picture for "us" sent within a sixteenth of a second.
func (p *post) put(t *testing.T, size int) []byte {
	t.Helper()
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(i * 7 >> 3)
	}
	f := conn.VideoFrame{Data: data, SSRC: source, RTX: repeats, Timestamp: 90000, DelayID: 6, Spread: time.Second / 16}
	check.Must(t, p.PutFrame("us", f, p.now))
	return data
}

// run sends until d has passed.
func (p *post) run(t *testing.T, d time.Duration) {
	t.Helper()
	for end := p.now.Add(d); ; {
		wait, err := p.SendDue("us", p.now)
		check.Must(t, err)
		if wait == 0 || p.now.Add(wait).After(end) {
			p.now = end
			return
		}
		p.now = p.now.Add(wait)
	}
}

// ask tells that packets are missing.
func (p *post) ask(numbers ...uint16) {
	p.QueueResends(rtcp.NackPairsFromSequenceNumbers(numbers), p.now)
}

// next returns the number of the packet that would be made next.
func (p *post) next() uint16 { return p.sent[len(p.sent)-1].SequenceNumber + 1 }

func TestAPictureIsReadByAnotherReader(t *testing.T) {
	p := newPost(t)
	var last uint16
	for i, size := range []int{1, 1000, 60 << 10} {
		p.sent = nil
		want := p.put(t, size)
		p.run(t, time.Second/16)
		var got []byte
		for n, packet := range p.sent {
			var vp8 codecs.VP8Packet
			body, err := vp8.Unmarshal(packet.Payload)
			if err != nil || (vp8.S == 1) != (n == 0) || packet.Marker != (n == len(p.sent)-1) || vp8.PID != 0 {
				t.Fatalf("packet %d of %d: %+v %+v, %v", n, len(p.sent), packet.Header, vp8, err)
			}
			if n+i > 0 && vp8.PictureID != last && (n > 0 || vp8.PictureID != (last+1)&0x7fff) {
				t.Errorf("picture %d follows on %d", vp8.PictureID, last)
			}
			last = vp8.PictureID
			if packet.SSRC != source || packet.PayloadType != typeVP8 || packet.Timestamp != 90000 ||
				packet.GetExtension(6) == nil {
				t.Errorf("packet %d is %+v", n, packet.Header)
			}
			got = append(got, body...)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%d bytes came of %d, and not the same", len(got), len(want))
		}
	}
}

func TestPicturesThatComeFasterThanAnnouncedPushEachOther(t *testing.T) {
	p := newPost(t)
	for range 4 {
		p.put(t, conn.MaxVideoFrame)
	}
	p.run(t, time.Second)
	whole, n := 0, len(p.sent)
	for _, packet := range p.sent {
		if packet.Marker {
			whole++
		}
	}
	if whole != 1 || !p.sent[n-1].Marker || n > 2048 {
		t.Errorf("%d pictures went in %d packets, the newest among them: %v; want that one alone", whole, n,
			p.sent[n-1].Marker)
	}
	check.Fails(t, p.PutFrame("us", conn.VideoFrame{Data: make([]byte, conn.MaxVideoFrame+1), DelayID: 6}, p.now),
		nil, "at most 2097152")
}

func TestWhatIsForOneDestinationNeverGoesToAnother(t *testing.T) {
	p := newPost(t)
	p.put(t, 60<<10)
	if !p.HoldsFor("us") {
		t.Error("it is not known for whom the picture is")
	}
	check.Fails(t, check.Err(p.SendDue("others", p.now)), voice.ErrUnavailable)
	if _, err := p.SendDue("us", p.now); err != nil || p.Pending() || len(p.sent) > 0 || p.HoldsFor("us") {
		t.Errorf("error %v, and %d packets went of what was forgotten", err, len(p.sent))
	}
	p.put(t, 5000)
	p.run(t, time.Second)
	lost := p.next() - 1
	check.Must(t, p.PutFrame("others", conn.VideoFrame{Data: []byte{1}, DelayID: 6}, p.now))
	check.Must(t, check.Err(p.SendDue("others", p.now)))
	p.ask(lost)
	if _, err := p.SendDue("others", p.now.Add(time.Second)); err != nil || len(p.again) > 0 {
		t.Errorf("error %v, and %d packets of another destination were sent again", err, len(p.again))
	}
}

func TestAGapEndsTheFrame(t *testing.T) {
	p := newPost(t)
	p.put(t, 60<<10)
	p.fails = voice.ErrUnavailable
	if _, err := p.SendDue("us", p.now); !errors.Is(err, voice.ErrUnavailable) || p.Pending() || len(p.sent) != 1 {
		t.Errorf("error %v after %d packets, and more wait: %v", err, len(p.sent), p.Pending())
	}
}

func TestWhatWasLostIsSentAgain(t *testing.T) {
	p := newPost(t)
	p.put(t, 5000)
	p.run(t, time.Second/8)
	lost := p.sent[2]
	for range 2 { // two who have not got it
		p.ask(lost.SequenceNumber)
	}
	p.run(t, time.Second/8)
	if len(p.again) != 1 {
		t.Fatalf("%d packets were sent again, want one", len(p.again))
	}
	want := lost
	want.SSRC, want.PayloadType, want.SequenceNumber = repeats, typeRepeat, p.again[0].SequenceNumber
	want.Payload = append(binary.BigEndian.AppendUint16(nil, lost.SequenceNumber), lost.Payload...)
	a, errA := p.again[0].Marshal()
	b, errB := want.Marshal()
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		t.Errorf("sent again was\n%+v, want\n%+v", p.again[0].Header, want.Header)
	}
	p.ask(lost.SequenceNumber)
	p.run(t, time.Second/8)
	if len(p.again) != 2 || p.again[1].SequenceNumber != p.again[0].SequenceNumber+1 {
		t.Errorf("%d packets were sent again, want a second time with a number of its own", len(p.again))
	}
}

func TestWhatNobodyCanHaveLostIsNotSentAgain(t *testing.T) {
	for name, try := range map[string]func(*post, uint16){
		"not yet made":     func(p *post, next uint16) { p.ask(next, next+1, next+1000) },
		"before the first": func(p *post, next uint16) { p.ask(next-100, next-3000) },
		"too old":          func(p *post, next uint16) { p.now = p.now.Add(2 * time.Second); p.ask(next - 1) },
		"forgotten":        func(p *post, next uint16) { p.Clear(); p.ask(next - 1) },
		"not yet sent":     func(p *post, next uint16) { p.put(t, 100); p.ask(next) },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPost(t)
			p.put(t, 5000)
			p.run(t, time.Second/8)
			try(p, p.next())
			p.run(t, time.Second)
			if len(p.again) > 0 {
				t.Errorf("%d packets were sent again", len(p.again))
			}
		})
	}
}

func TestNobodyMakesUsSendWithoutEnd(t *testing.T) {
	p := newPost(t)
	const seconds, most, rate = 4, 512, 500
	for range seconds * 100 { // each hundredth of a second: a picture, and everything is asked for three times
		p.put(t, 20<<10)
		p.run(t, 5*time.Millisecond)
		for range 3 {
			var all []uint16
			for back := uint16(1000); back > 0; back-- {
				all = append(all, p.next()-back)
			}
			p.ask(all...)
		}
		p.run(t, 5*time.Millisecond)
	}
	if got := len(p.again); got < most || got > most+seconds*rate+1 {
		t.Errorf("%d packets were sent again in %d s, want at most %d and then %d a second", got, seconds, most, rate)
	}
}

// BenchmarkPictureOut measures what it costs to make and hand over the packets of a picture, step by step.
func BenchmarkPictureOut(b *testing.B) {
	for _, size := range []int{60 << 10, 200 << 10} {
		b.Run(fmt.Sprint(size>>10, "KB"), func(b *testing.B) {
			box := &conn.Pacer[int]{Send: func(int, []byte, int, time.Time) error { return nil }}
			box.Reset()
			frame := conn.VideoFrame{Data: make([]byte, size), DelayID: 6, Spread: time.Second / 16}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			steps := 0
			for now := time.Unix(1, 0); b.Loop(); now = now.Add(time.Second) {
				check.Must(b, box.PutFrame(1, frame, now))
				for at := now; box.Pending(); at = at.Add(2 * time.Millisecond) {
					steps++
					check.Must(b, check.Err(box.SendDue(1, at)))
				}
			}
			b.ReportMetric(float64(steps)/float64(b.N), "wakes/op")
		})
	}
}
