package voiceloop

import (
	"context"
	"math"
	"math/rand/v2"
	"time"

	"clank/voice"
)

// Sentences are what is said besides orders; many have "stop" in them, or words like it.
var Sentences = []string{
	"look up the ferry times for tomorrow morning",
	"I think we should take the top road instead",
	"the shop on the corner closes at six",
	"it is only one step from the door",
	"where is the next bus stop on this street",
	"don't stop me now I am having such a good time",
	"what is the cheapest flight to Lisbon in June",
	"yes",
	"no I did not mean that one",
	"the stop sign was hidden behind a tree",
	"please click on the second one",
	"how much is the blue jacket",
	"can you stop by the shop and buy some milk",
	"that is a nonstop flight isn't it",
	"hold on",
	"I stopped reading the book after ten pages",
	"scroll down a bit and read me the headline",
	"thanks that was very helpful",
	"clank look for a cheap hotel near the station",
	"we drank tea and talked about the bank",
	"sorry what did you say about the hotel",
	"my train stops in every little town on the way",
	"right so what is the next thing on the list",
	"stay on this page until I say something else",
}

// Orders are what must be heard, one after every second sentence.
var Orders = []string{"stop", "stop it", "stop", "clank stop", "stop", "please stop", "stop", "stop now", "stop", "cancel that"}

// Said is something in a [Take].
type Said struct {
	Text       string
	Order      bool // it must be heard as a stop word, and nothing else
	Start, End time.Duration
}

// Take is what one voice says: all sentences and orders with pauses between them, and noise under it all.
type Take struct {
	Voice   Voice
	Said    []Said
	Samples []int16 // at [voice.RateOpus]
}

// Loudness of speech, and of the noise under it: 20 dB less.
const (
	speechRMS = 2500.0
	noiseRMS  = speechRMS / 10
)

// Record makes a take of the first n sentences. The same seed gives the same take.
func Record(ctx context.Context, v Voice, n int, seed uint64) (Take, error) {
	t := Take{Voice: v}
	random := rand.New(rand.NewPCG(seed, 1))
	pause := func() {
		d := time.Duration(500+random.IntN(600)) * time.Millisecond
		t.Samples = append(t.Samples, make([]int16, int(d.Seconds()*voice.RateOpus))...)
	}
	say := func(text string, order bool) error {
		samples, err := v.Say(ctx, text)
		if err != nil {
			return err
		}
		start := at(len(t.Samples))
		t.Samples = append(t.Samples, samples...)
		t.Said = append(t.Said, Said{Text: text, Order: order, Start: start, End: at(len(t.Samples))})
		pause()
		return nil
	}
	pause()
	for i, s := range Sentences[:n] {
		if err := say(s, false); err != nil {
			return Take{}, err
		}
		if i%2 == 0 {
			continue
		}
		if err := say(Orders[i/2%len(Orders)], true); err != nil {
			return Take{}, err
		}
	}
	pause()
	t.mix(random)
	return t, nil
}

func at(samples int) time.Duration {
	return time.Duration(samples) * time.Second / voice.RateOpus
}

// Speech is how long somebody speaks in it.
func (t Take) Speech() time.Duration {
	var d time.Duration
	for _, s := range t.Said {
		d += s.End - s.Start
	}
	return d
}

// mix brings the speech to one loudness and puts noise under it.
func (t Take) mix(random *rand.Rand) {
	sum, n := 0.0, 0
	for _, s := range t.Samples {
		if s > 100 || s < -100 {
			sum += float64(s) * float64(s)
			n++
		}
	}
	gain := speechRMS / math.Sqrt(sum/float64(max(n, 1)))
	for i, s := range t.Samples {
		v := float64(s)*gain + random.NormFloat64()*noiseRMS
		t.Samples[i] = int16(max(math.MinInt16, min(math.MaxInt16, v)))
	}
}
