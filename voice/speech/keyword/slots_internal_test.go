package keyword

import (
	"testing"
	"testing/synctest"
	"time"

	"clank/voice"
)

func TestPlacesGoToTheBestClaims(t *testing.T) {
	at := func(s int64) time.Time { return time.Unix(s, 0) }
	for _, c := range []struct {
		name     string
		has      voice.SpotterPriority
		rests    time.Duration // how long the holder has said nothing; 0: speaks
		wants    voice.SpotterPriority
		wantGets bool
	}{
		{"nobody has a claim", voice.SpotterPriority{}, 0, voice.SpotterPriority{}, false},
		{"nobody has a claim, and the other rests", voice.SpotterPriority{}, yieldAfter, voice.SpotterPriority{}, true},
		{"the other has just ended", voice.SpotterPriority{}, yieldAfter / 2, voice.SpotterPriority{}, false},
		{
			"what they asked for is done",
			voice.SpotterPriority{LastAddressed: at(9)},
			0,
			voice.SpotterPriority{Working: true},
			true,
		},
		{
			"what the other asked for is done",
			voice.SpotterPriority{Working: true},
			2 * yieldAfter,
			voice.SpotterPriority{LastAddressed: at(9)},
			false,
		},
		{
			"they called last",
			voice.SpotterPriority{LastAddressed: at(1)},
			0,
			voice.SpotterPriority{LastAddressed: at(2)},
			true,
		},
		{
			"the other called last",
			voice.SpotterPriority{LastAddressed: at(2)},
			0,
			voice.SpotterPriority{LastAddressed: at(1)},
			false,
		},
		{
			"both",
			voice.SpotterPriority{Working: true, LastAddressed: at(1)},
			0,
			voice.SpotterPriority{Working: true, LastAddressed: at(2)},
			true,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := recognizerSlots{limit: 1, slots: map[*stream]*recognizerSlot{}}
				holder, other, e := &stream{}, &stream{}, &recognizer{}
				if ok, _ := p.acquire(holder, c.has); !ok {
					t.Fatal("a free place is not given")
				}
				if ok, _ := p.acquire(other, voice.SpotterPriority{Working: true, LastAddressed: at(99)}); ok {
					t.Error("a place is taken whose process is only being started")
				}
				p.setRecognizer(holder, e)
				if c.rests > 0 {
					p.update(holder, c.has, true)
					<-time.After(c.rests)
				}
				got, instead := p.acquire(other, c.wants)
				if got != c.wantGets || got && instead != e {
					t.Errorf("got it: %v, instead of %p; want %v, %p", got, instead, c.wantGets, e)
				}
				if had := p.release(holder); had == got {
					t.Errorf("the holder still had a place: %v", had)
				}
			})
		})
	}
}

func TestOfManyTheLeastClaimLosesItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := recognizerSlots{limit: 3, slots: map[*stream]*recognizerSlot{}}
		names := map[*stream]string{}
		add := func(name string, c voice.SpotterPriority) {
			l := &stream{}
			names[l] = name
			if ok, _ := p.acquire(l, c); !ok {
				t.Fatal(name, "has got no place")
			}
			p.setRecognizer(l, &recognizer{})
			<-time.After(time.Second)
		}
		add("asked", voice.SpotterPriority{Working: true})
		add("noisy", voice.SpotterPriority{})
		add("called", voice.SpotterPriority{LastAddressed: time.Unix(1, 0)})
		add("called later", voice.SpotterPriority{LastAddressed: time.Unix(2, 0)})
		add("asked later", voice.SpotterPriority{Working: true, LastAddressed: time.Unix(3, 0)})
		got := map[string]bool{}
		for l := range p.slots {
			got[names[l]] = true
		}
		if len(got) != 3 || !got["asked"] || !got["asked later"] || !got["called later"] {
			t.Errorf("those are listened to: %v", got)
		}
	})
}

// Segment is a segment as the gate cuts it, in frames of 10 ms.
type Segment struct {
	Began, Ended int64
	Alone        bool
}

// Cut puts samples through a new gate.
func Cut(samples []int16) []Segment {
	g := newSpeechGate()
	var all []Segment
	for len(samples) >= frameSize {
		if _, ended := g.frame(samples[:frameSize]); ended {
			all = append(all, Segment{g.current.began, g.current.ended, g.current.alone})
		}
		samples = samples[frameSize:]
	}
	return all
}

// BeginsAsStop says whether what is said in head begins as with "st". Head begins at the beginning of a segment.
func BeginsAsStop(head []int16) bool { return beginsAsStop(head, 0) }

// Judge says what is heard in a segment of which the process prints text; empty for nothing. It begins as with "st" if
// asStop is true.
func Judge(text string, start, end float64, alone, asStop bool) string {
	p, ok := pickPhrase((&vocabulary{phrases: phrases}).parseHits(text), segmentSpan{start, end, alone, asStop})
	if !ok {
		return ""
	}
	return p.spokenForm()
}

// Phrases returns all phrases that count where they stand alone.
func Phrases() []string {
	var all []string
	for _, p := range phrases {
		if p.kind == standalonePhrase {
			all = append(all, p.spokenForm())
		}
	}
	return all
}
