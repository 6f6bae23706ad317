package voiceloop

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"clank/voice"
)

// Sentences are spoken besides the orders; many contain "stop" or similar words.
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

// Orders must be recognized, one after every second sentence.
var Orders = []string{
	"stop", "stop it", "stop", "clank stop", "stop", "please stop", "stop", "stop now", "stop",
	"cancel that",
}

// Tuned is the text with which the thresholds of the spotter were tuned, HeldOut was not used for that.
var (
	Tuned   = TestText{Sentences, Orders}
	HeldOut = TestText{heldSentences, heldOrders}
)

var heldSentences = []string{
	"could you find out when the museum opens on Sunday",
	"the top shelf is where we keep the cups",
	"she stopped by the office to pick up the keys",
	"I would rather take the second train",
	"there is a bus stop right in front of the house",
	"what do you think about the new neighbour",
	"no wait that is the wrong street",
	"clank what does the blue one cost",
	"he dropped the phone and it still works",
	"stop and go traffic all the way to the bridge",
	"okay",
	"it would be nice if the rain stopped for a while",
	"read me the first three results please",
	"the shop has a big stock of paper",
	"maybe",
	"we could eat something on top of the hill",
	"I cannot stop thinking about that song",
	"how long does the trip take by boat",
	"well done",
	"so far so good",
	"the last stop is near the harbour",
	"give me a second",
	"let us talk about dinner",
	"that was step number four of nine",
	"top",
	"shop",
	"drop",
	"pop",
}

var heldOrders = []string{
	"stop", "stop now", "stop", "please stop", "clank stop", "stop", "cancel that", "stop",
	"stop it", "stop",
}

// SpokenLine is an utterance in a [Recording].
type SpokenLine struct {
	Text       string
	Order      bool // it must be recognized as a stop word, and nothing else
	Start, End time.Duration
}

// Recording is the speech of one voice: all sentences and orders with pauses, and background noise.
type Recording struct {
	Voice   Voice
	Said    []SpokenLine
	Samples []int16 // at [voice.RateOpus]
}

// Loudness of the speech, and of the noise: 20 dB less.
const (
	speechRMS = 2500.0
	noiseRMS  = speechRMS / 10
)

// SpeechLine is an utterance of one voice, without noise.
type SpeechLine struct {
	Text    string
	Order   bool
	Samples []int16 // at [voice.RateOpus]
}

// TestText is a text to speak: sentences, and an order after every second one.
type TestText struct {
	Sentences, Orders []string
}

// SynthesizeLines synthesizes a text with a voice, with the same loudness throughout.
func SynthesizeLines(ctx context.Context, v Voice, t TestText) ([]SpeechLine, error) {
	var lines []SpeechLine
	for i, s := range t.Sentences {
		lines = append(lines, SpeechLine{Text: s})
		if i%2 == 1 {
			lines = append(lines, SpeechLine{Text: t.Orders[i/2%len(t.Orders)], Order: true})
		}
	}
	said := map[string][]int16{}
	for i, l := range lines {
		samples, known := said[l.Text]
		if !known {
			var err error
			if samples, err = v.Say(ctx, l.Text); err != nil {
				return nil, err
			}
			said[l.Text] = samples
		}
		lines[i].Samples = slices.Clone(samples)
	}
	normalizeLevels(lines)
	return lines, nil
}

// Record makes a recording of a text. It is the same for the same seed.
func Record(ctx context.Context, v Voice, text TestText, seed uint64) (Recording, error) {
	lines, err := SynthesizeLines(ctx, v, text)
	if err != nil {
		return Recording{}, err
	}
	t := Recording{Voice: v}
	random := rand.New(rand.NewPCG(seed, 1))
	for _, l := range lines {
		t.pause(random)
		start := sampleTime(len(t.Samples))
		t.Samples = append(t.Samples, l.Samples...)
		t.Said = append(t.Said, SpokenLine{Text: l.Text, Order: l.Order, Start: start, End: sampleTime(len(t.Samples))})
	}
	t.pause(random)
	t.pause(random)
	for i, s := range t.Samples {
		t.Samples[i] = clipSample(float64(s) + random.NormFloat64()*noiseRMS)
	}
	return t, nil
}

func (t *Recording) pause(random *rand.Rand) {
	t.Samples = append(t.Samples, make([]int16, int(RandomPause(random).Seconds()*voice.RateOpus))...)
}

// RandomPause returns the length of a pause between two sentences.
func RandomPause(random *rand.Rand) time.Duration {
	return time.Duration(500+random.IntN(600)) * time.Millisecond
}

func sampleTime(samples int) time.Duration {
	return time.Duration(samples) * time.Second / voice.RateOpus
}

// Speech returns the total length of the speech.
func (t Recording) Speech() time.Duration {
	var d time.Duration
	for _, s := range t.Said {
		d += s.End - s.Start
	}
	return d
}

// normalizeLevels scales lines together to the loudness of speech.
func normalizeLevels(lines []SpeechLine) {
	sum, n := 0.0, 0
	for _, l := range lines {
		for _, s := range l.Samples {
			if s > 100 || s < -100 {
				sum += float64(s) * float64(s)
				n++
			}
		}
	}
	gain := speechRMS / math.Sqrt(sum/float64(max(n, 1)))
	for _, l := range lines {
		for i, s := range l.Samples {
			l.Samples[i] = clipSample(float64(s) * gain)
		}
	}
}

func clipSample(v float64) int16 {
	return int16(max(math.MinInt16, min(math.MaxInt16, v)))
}

// Programs are the speech synthesizers. Each is a Debian package of the same name.
var Programs = []string{"flite", "espeak-ng"}

// Voice is a synthetic voice.
type Voice struct {
	Program string
	Name    string
	Speed   float64 // 1 is normal
}

// String names the voice.
func (v Voice) String() string {
	return v.Program + " " + v.Name + " " + strconv.FormatFloat(v.Speed, 'g', 3, 64)
}

// Voices returns the ten voices, some at two speeds, with which the spotter was tuned.
func Voices() []Voice {
	return []Voice{
		{"flite", "slt", 1},
		{"flite", "slt", 0.85},
		{"flite", "rms", 1},
		{"flite", "rms", 1.3},
		{"flite", "kal16", 1.15},
		{"flite", "kal", 1},
		{"flite", "awb", 1.15},
		{"espeak-ng", "en-us", 0.9},
		{"espeak-ng", "en-gb", 1.05},
		{"espeak-ng", "en-us+f3", 1},
		{"espeak-ng", "en-gb-scotland", 1},
		{"espeak-ng", "en-gb-x-rp", 1.1},
	}
}

// HeldOutVoices returns other voices, which were not used for tuning: accents, speakers and speeds.
func HeldOutVoices() []Voice {
	return []Voice{
		{"flite", "awb", 0.9},
		{"flite", "kal16", 0.85},
		{"flite", "slt", 1.3},
		{"espeak-ng", "en-029", 1},
		{"espeak-ng", "en-us-nyc", 1},
		{"espeak-ng", "en-gb-x-gbclan+f2", 1},
	}
}

const defaultWordsPerMinute = 165 // a minute

// Say synthesizes text, at [voice.RateOpus], without leading and trailing silence.
func (v Voice) Say(ctx context.Context, text string) ([]int16, error) {
	dir, err := os.MkdirTemp("", "clank")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	said, wav := filepath.Join(dir, "said.txt"), filepath.Join(dir, "said.wav")
	if err := os.WriteFile(said, []byte(text+"\n"), 0o600); err != nil {
		return nil, err
	}
	args := []string{"-voice", v.Name, "--setf", fmt.Sprintf("duration_stretch=%g", 1/v.Speed), "-f", said, "-o", wav}
	if v.Program == "espeak-ng" {
		args = []string{"-v", v.Name, "-s", strconv.Itoa(int(v.Speed * defaultWordsPerMinute)), "-f", said, "-w", wav}
	}
	if out, err := exec.CommandContext(ctx, v.Program, args...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s says %q: %w: %s", v, text, err, bytes.TrimSpace(out))
	}
	f, err := os.Open(wav)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	r, err := voice.NewWAVReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s says %q: %w", v, text, err)
	}
	samples, err := r.Read(r.Rate * 60)
	if err != nil {
		return nil, fmt.Errorf("%s says %q: %w", v, text, err)
	}
	return Resample(trimSilence(samples), r.Rate, voice.RateOpus)
}

// Resample converts samples between rates.
func Resample(samples []int16, from, to int) ([]int16, error) {
	if from == to {
		return samples, nil
	}
	r, err := voice.NewResampler(from, to)
	if err != nil {
		return nil, err
	}
	return append(r.Write(samples), r.Flush()...), nil
}

// trimSilence removes silence at both ends.
func trimSilence(samples []int16) []int16 {
	const still = 150
	loud := func(s int16) bool { return s > still || s < -still }
	first, last := 0, len(samples)
	for first < last && !loud(samples[first]) {
		first++
	}
	for last > first && !loud(samples[last-1]) {
		last--
	}
	return samples[first:last]
}
