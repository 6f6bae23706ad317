package realtime

import (
	"context"
	"iter"
	"sync"
	"time"

	"clank/voice"
)

// answerSound is the sound of one item of the model's, as it comes.
type answerSound struct {
	id           string
	playing      PlaybackPosition
	packer       *voice.OpusPacker
	sampleCount  int  // samples
	disconnected bool // with the connection that it came over

	mu      sync.Mutex
	packets [][]byte
	ended   bool
	changed chan struct{} // closed and replaced
}

func newAnswerSound(id string) (*answerSound, error) {
	p, err := voice.NewOpusPacker(voice.RateRealtime)
	if err != nil {
		return nil, err
	}
	return &answerSound{id: id, packer: p, changed: make(chan struct{})}, nil
}

// add takes samples as they come.
func (a *answerSound) add(samples []int16) error {
	a.sampleCount += len(samples)
	packets, err := a.packer.Write(samples)
	a.change(packets, false)
	return err
}

// end says that nothing more comes.
func (a *answerSound) end() error {
	last, err := a.packer.Flush()
	var packets [][]byte
	if last != nil {
		packets = append(packets, last)
	}
	a.change(packets, true)
	return err
}

func (a *answerSound) change(packets [][]byte, ended bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return
	}
	a.packets, a.ended = append(a.packets, packets...), ended
	close(a.changed)
	a.changed = make(chan struct{})
}

// packetSeq gives the packets as they come, once.
func (a *answerSound) packetSeq(ctx context.Context) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for {
			a.mu.Lock()
			packets, ended, changed := a.packets, a.ended, a.changed
			a.packets = nil
			a.mu.Unlock()
			for _, p := range packets {
				if !yield(p, nil) {
					return
				}
			}
			if ended {
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}
}

// length returns how long what came sounds.
func (a *answerSound) length() time.Duration {
	return time.Duration(a.sampleCount) * time.Second / voice.RateRealtime
}

// playedLength returns how much of it went out.
func (a *answerSound) playedLength() time.Duration {
	if a.playing == nil {
		return 0
	}
	return min(a.playing.Played(), a.length())
}
