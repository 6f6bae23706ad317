package conn_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"
	"time"

	"clank/voice"
	"clank/voice/discord/conn"

	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/pion/rtp/codecs"
)

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
		must(t, r.Unmarshal(bytes.Clone(packet)))
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
	must(t, p.PutFrame("us", f, p.now))
	return data
}

// run sends until d has passed.
func (p *post) run(t *testing.T, d time.Duration) {
	t.Helper()
	for end := p.now.Add(d); ; {
		wait, err := p.SendDue("us", p.now)
		if err != nil {
			t.Fatal(err)
		}
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
			if packet.SSRC != source || packet.PayloadType != typeVP8 || packet.Timestamp != 90000 || packet.GetExtension(6) == nil {
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
		t.Errorf("%d pictures went in %d packets, the newest among them: %v; want that one alone", whole, n, p.sent[n-1].Marker)
	}
	if err := p.PutFrame("us", conn.VideoFrame{Data: make([]byte, conn.MaxVideoFrame+1), DelayID: 6}, p.now); err == nil {
		t.Error("a picture that is too large was taken")
	}
}

func TestWhatIsForOneDestinationNeverGoesToAnother(t *testing.T) {
	p := newPost(t)
	p.put(t, 60<<10)
	if !p.HoldsFor("us") {
		t.Error("it is not known for whom the picture is")
	}
	if _, err := p.SendDue("others", p.now); !errors.Is(err, voice.ErrUnavailable) {
		t.Errorf("got error %v, want %v", err, voice.ErrUnavailable)
	}
	if _, err := p.SendDue("us", p.now); err != nil || p.Pending() || len(p.sent) > 0 || p.HoldsFor("us") {
		t.Errorf("error %v, and %d packets went of what was forgotten", err, len(p.sent))
	}
	p.put(t, 5000)
	p.run(t, time.Second)
	lost := p.next() - 1
	must(t, p.PutFrame("others", conn.VideoFrame{Data: []byte{1}, DelayID: 6}, p.now))
	if _, err := p.SendDue("others", p.now); err != nil {
		t.Fatal(err)
	}
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
				must(b, box.PutFrame(1, frame, now))
				for at := now; box.Pending(); at = at.Add(2 * time.Millisecond) {
					steps++
					if _, err := box.SendDue(1, at); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(steps)/float64(b.N), "wakes/op")
		})
	}
}
