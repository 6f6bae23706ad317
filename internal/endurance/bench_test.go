package endurance_test

import (
	"context"
	"math"
	"net"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/pion/rtp"

	"clank/voice"
	"clank/voice/audio"
	"clank/voice/discord/media"
	"clank/voice/discord/media/rtpsize"
	"clank/voice/ear"
)

const second = 50 // packets

// tap is a transport that lets a benchmark put packets in, and sends what goes out to nobody.
type tap struct {
	media.Transport
	received func([]byte)
	ssrc     uint32
	cipher   *rtpsize.Cipher // nil: packets go on to the server
	sink     net.Conn
	buf      []byte
}

func (t *tap) Send(p []byte) error {
	if t.cipher == nil {
		return t.Transport.Send(p)
	}
	sealed, err := t.cipher.Seal(t.buf[:0], p)
	if err != nil {
		return err
	}
	t.buf = sealed
	_, err = t.sink.Write(sealed)
	return err
}

func tapped(b *testing.B) (*pair, *tap) {
	b.Helper()
	t := &tap{}
	p := newPair(b, nil, func(received func([]byte), failed func(error)) media.Transport {
		t.Transport, t.received = media.UDP(received, failed), received
		return t
	})
	return p, t
}

// cipher is one of a key of the benchmark's own.
func cipher(b *testing.B) *rtpsize.Cipher {
	b.Helper()
	c, err := rtpsize.New(rtpsize.AES, make([]byte, 32))
	if err != nil {
		b.Fatal(err)
	}
	return c
}

// cpu is what the process has used so far.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkOneSecondHeard takes a second of one person's speech from sealed packets to samples at 16 kHz: both decryptions, order,
// decoding, the search for speech.
func BenchmarkOneSecondHeard(b *testing.B) {
	p, tp := tapped(b)
	defer p.close(b)
	sounds := make(chan struct{}, 10*second)
	e := &ear.Ear{Sound: func(voice.Sound) { sounds <- struct{}{} }}
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan struct{})
	go func() {
		defer close(ran)
		_ = e.Run(ctx) // its rate is good
	}()
	defer func() { cancel(); <-ran }()
	known := make(chan struct{}, 1)
	p.conn.Handle = func(ev media.Event) {
		if ev.Kind == media.Sound {
			e.Take(ev.Packet)
			return
		}
		select {
		case known <- struct{}{}:
		default:
		}
	}
	p.open(b)
	p.other.Speak(1)
	ssrc, _ := p.other.SSRC()
	seal, open := cipher(b), cipher(b)
	seq := 0
	var used time.Duration
	for b.Loop() {
		b.StopTimer()
		sealed := make([][]byte, 0, second)
		for range second {
			frame, err := p.other.Private().Encrypt("opus", spoken[seq%len(spoken)])
			if err != nil {
				b.Fatal(err)
			}
			h := rtp.Header{Version: 2, PayloadType: 120, SequenceNumber: uint16(seq), Timestamp: uint32(seq * 960), SSRC: ssrc} //nolint:gosec // they wrap
			data, err := (&rtp.Packet{Header: h, Payload: frame}).Marshal()
			if err != nil {
				b.Fatal(err)
			}
			data, err = seal.Seal(nil, data)
			if err != nil {
				b.Fatal(err)
			}
			sealed, seq = append(sealed, data), seq+1
		}
		if seq == second { // until it is known whose packets these are
			for p.voice.Received(5) == nil || !heardOf(p, known) {
				time.Sleep(time.Millisecond)
			}
		}
		before := cpu()
		b.StartTimer()
		for _, data := range sealed {
			plain, err := open.Open(make([]byte, 0, len(data)), data)
			if err != nil {
				b.Fatal(err)
			}
			tp.received(plain)
		}
		for range second {
			<-sounds
		}
		used += cpu() - before
	}
	b.ReportMetric(float64(used.Microseconds())/float64(b.N), "cpu-µs/s")
}

// heardOf reports whether our connection has been told of the other person.
func heardOf(p *pair, known chan struct{}) bool {
	select {
	case <-known:
		time.Sleep(50 * time.Millisecond) // who speaks is told right after who is there
		return true
	default:
		return false
	}
}

// BenchmarkOneSecondSaid takes a second of samples at 24 kHz to datagrams: encoding, both encryptions, the socket.
func BenchmarkOneSecondSaid(b *testing.B) {
	p, tp := tapped(b)
	defer p.close(b)
	p.open(b)
	silent, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		b.Fatal(err)
	}
	defer silent.Close()
	if tp.sink, err = net.Dial("udp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(silent.LocalAddr().(*net.UDPAddr).Port))); err != nil {
		b.Fatal(err)
	}
	defer tp.sink.Close()
	tp.cipher = cipher(b)
	enc, err := audio.NewEncoder(voice.RateRealtime)
	if err != nil {
		b.Fatal(err)
	}
	samples := make([]int16, voice.RateRealtime)
	for i := range samples {
		t := float64(i) / voice.RateRealtime
		samples[i] = int16(8000 * max(0, math.Sin(2*math.Pi*3*t)) * math.Sin(2*math.Pi*180*t))
	}
	before := cpu()
	for b.Loop() {
		for frame := range slices.Chunk(samples, voice.RateRealtime/second) {
			opus, err := enc.Encode(frame)
			if err != nil {
				b.Fatal(err)
			}
			if err := p.conn.SendAudio(opus); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64((cpu()-before).Microseconds())/float64(b.N), "cpu-µs/s")
}
