package voiceloop

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"clank/voice"
	"clank/voice/audio"
	"clank/voice/ear"
)

// Carry is the way from the one who speaks to the one who listens: packets go in as they are sent, every 20 ms, and come out as they
// arrive. The result is closed when in is.
type Carry func(ctx context.Context, in <-chan voice.Packet) <-chan voice.Packet

// Lossy loses a part of all packets, from 0 to 1, and nothing else.
func Lossy(part float64, seed uint64) Carry {
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

// Heard is a phrase that was spotted, and when in the time of the take.
type Heard struct {
	Phrase string
	At     time.Duration
}

// Play sends a take in real time over the way to a spotter, and returns what was heard.
func Play(ctx context.Context, t Take, way Carry, spotter voice.Spotter) ([]Heard, error) {
	packets, err := t.packets()
	if err != nil {
		return nil, err
	}
	var (
		mu    sync.Mutex
		heard []Heard
	)
	start := time.Now()
	listening, err := spotter.Listen(ctx, t.Voice.String(), func(s voice.Spotted) {
		mu.Lock()
		defer mu.Unlock()
		heard = append(heard, Heard{Phrase: s.Phrase, At: time.Since(start)})
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

func (t Take) packets() ([]voice.Packet, error) {
	packer, err := audio.NewPacker(voice.RateOpus)
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
func receive(ctx context.Context, out <-chan voice.Packet, to voice.Listening) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	hears := &ear.Ear{Rate: voice.RateSpeech, Sound: to.Write}
	ended := make(chan error, 1)
	go func() { ended <- hears.Run(ctx) }()
	for p := range out {
		p.At = time.Now()
		hears.Take(p)
	}
	cancel()
	return <-ended
}
