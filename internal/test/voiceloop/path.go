package voiceloop

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"clank/voice"
	"clank/voice/speech/vad"
)

// PacketPath is the way from the one who speaks to the one who listens: packets go in as they are sent, every 20 ms, and come out as they
// arrive. The result is closed when in is.
type PacketPath func(ctx context.Context, in <-chan voice.Packet) <-chan voice.Packet

// Lossy loses a part of all packets, from 0 to 1, and nothing else.
func Lossy(part float64, seed uint64) PacketPath {
	return func(ctx context.Context, in <-chan voice.Packet) <-chan voice.Packet {
		out := make(chan voice.Packet)
		go func() {
			defer close(out)
			random := rand.New(rand.NewPCG(seed, 2))
			for p := range in {
				if random.Float64() < part {
					continue
				}
				select {
				case out <- p:
				case <-ctx.Done():
					return
				}
			}
		}()
		return out
	}
}

// SpottedAt is a phrase that was spotted, and when in the time of the take.
type SpottedAt struct {
	Phrase string
	At     time.Duration
}

// SpotRecording sends a take in real time over the way to a spotter, and returns what was heard.
func SpotRecording(ctx context.Context, t Recording, way PacketPath, spotter voice.Spotter) ([]SpottedAt, error) {
	packets, err := t.packets()
	if err != nil {
		return nil, err
	}
	var (
		mu    sync.Mutex
		heard []SpottedAt
	)
	start := time.Now()
	listening, err := spotter.Listen(ctx, t.Voice.String(), func(s voice.SpottedPhrase) {
		mu.Lock()
		defer mu.Unlock()
		heard = append(heard, SpottedAt{Phrase: s.Phrase, At: time.Since(start)})
	})
	if err != nil {
		return nil, err
	}
	in := make(chan voice.Packet)
	go func() {
		defer close(in)
		send(ctx, packets, start, in)
	}()
	err = receive(ctx, way(ctx, in), listening)
	_ = listening.Close()
	if err != nil {
		return nil, err
	}
	mu.Lock()
	defer mu.Unlock()
	return heard, ctx.Err()
}

func (t Recording) packets() ([]voice.Packet, error) {
	packer, err := voice.NewOpusPacker(voice.RateOpus)
	if err != nil {
		return nil, err
	}
	encoded, err := packer.Write(t.Samples)
	if err != nil {
		return nil, err
	}
	var packets []voice.Packet
	for i, opus := range encoded {
		packets = append(packets, voice.Packet{
			From: t.Voice.String(), Sequence: uint16(i), Timestamp: uint32(i * voice.RateOpus / 50), Opus: opus,
		})
	}
	return packets, nil
}

// send keeps the time: a packet is sent when its last sample has been said.
func send(ctx context.Context, packets []voice.Packet, start time.Time, in chan<- voice.Packet) {
	for i, p := range packets {
		due := start.Add(time.Duration(i+1) * voice.FrameTime)
		select {
		case <-time.After(time.Until(due)):
		case <-ctx.Done():
			return
		}
		p.At = time.Now()
		select {
		case in <- p:
		case <-ctx.Done():
			return
		}
	}
}

// receive lets an ear hear what comes, whose sound goes to the spotter.
func receive(ctx context.Context, out <-chan voice.Packet, to voice.SpotterStream) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	hears := &vad.Detector{Rate: voice.RateSpeech, Sound: to.Write}
	ended := make(chan error, 1)
	go func() { ended <- hears.Run(ctx) }()
	for p := range out {
		p.At = time.Now()
		hears.Write(p)
	}
	cancel()
	return <-ended
}
