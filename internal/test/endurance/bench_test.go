package endurance_test

import (
	"math"
	"net"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"clank/internal/test/discordtest/voicetest"
	"clank/voice"
	"clank/voice/discord/conn"
	"clank/voice/speech/vad"

	"github.com/pion/rtp"
)

const second = 50 // packets

// tap is a transport that lets a benchmark put packets in, and sends what goes out to nobody.
type tap struct {
	conn.Transport
	received func([]byte)
	cipher   *conn.Cipher // nil: packets go on to the server
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
	p := newPair(b, nil, func(received func([]byte), failed func(error)) conn.Transport {
		t.Transport, t.received = conn.NewUDP(received, failed), received
		return t
	})
	return p, t
}

// cipher returns a cipher with a key of the benchmark's own.
func cipher(b *testing.B) *conn.Cipher {
	b.Helper()
	c, err := conn.NewCipher(conn.ModeAES256GCM, make([]byte, 32))
	if err != nil {
		b.Fatal(err)
	}
	return c
}

// cpu returns the CPU time that the process has used so far.
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
	e := &vad.Detector{Sound: func(voice.Sound) { sounds <- struct{}{} }}
	var live atomic.Bool
	p.conn.Handle = func(ev conn.Event) {
		if ev.Kind == conn.PacketReceived && live.Load() {
			e.Write(ev.Packet)
		}
	}
	p.open(b)
	p.wg.Go(func() { _ = e.Run(p.life) }) // its rate is good
	p.introduce(b)
	live.Store(true)
	seal, open := cipher(b), cipher(b)
	var used time.Duration
	for n := 0; b.Loop(); n++ {
		b.StopTimer()
		sealed := p.second(b, seal, 1000+n*second)
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

// introduce waits until our connection knows whose the other's packets are.
func (p *pair) introduce(b *testing.B) {
	b.Helper()
	p.other.Speak(1)
	for end := time.Now().Add(30 * time.Second); p.conn.Stats().Received == 0; rest(p.life, time.Millisecond) {
		if err := p.other.Send(voicetest.OpusSilence); err != nil || time.Now().After(end) {
			b.Fatalf("nothing is heard of the other: %v", err)
		}
	}
}

// second makes a second of the other's packets, as they come from the network.
func (p *pair) second(b *testing.B, seal *conn.Cipher, seq int) [][]byte {
	b.Helper()
	ssrc, _ := p.other.SSRC()
	sealed := make([][]byte, 0, second)
	for i := range second {
		frame, err := p.other.Private().Encrypt("opus", spoken[(seq+i)%len(spoken)])
		if err != nil {
			b.Fatal(err)
		}
		h := rtp.Header{Version: 2, PayloadType: 120, SequenceNumber: uint16(seq + i), Timestamp: uint32((seq + i) * 960), SSRC: ssrc}
		data, err := (&rtp.Packet{Header: h, Payload: frame}).Marshal()
		if err != nil {
			b.Fatal(err)
		}
		if data, err = seal.Seal(nil, data); err != nil {
			b.Fatal(err)
		}
		sealed = append(sealed, data)
	}
	return sealed
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
	if tp.sink, err = p.dial(b.Context(), "udp4", silent.LocalAddr().String()); err != nil {
		b.Fatal(err)
	}
	defer tp.sink.Close()
	tp.cipher = cipher(b)
	enc, err := voice.NewOpusEncoder(voice.RateRealtime)
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
