package voiceloop

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"clank/voice"
)

// Programs are what speaks. Each is a Debian package of its own name.
var Programs = []string{"flite", "espeak-ng"}

// Voice is somebody who speaks.
type Voice struct {
	Program string
	Name    string
	Speed   float64 // 1 is the usual
}

// String names the voice.
func (v Voice) String() string {
	return v.Program + " " + v.Name + " " + strconv.FormatFloat(v.Speed, 'g', 3, 64)
}

// Voices returns the ten voices, some of them at two speeds, with which the spotter was tuned.
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

// HeldOutVoices returns other voices, with which nothing was tuned: accents, speakers and speeds.
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

// Say returns what the voice makes of text, at [voice.RateOpus], without the silence around it.
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
	return voice.Resample(trimSilence(samples), r.Rate, voice.RateOpus)
}

// trimSilence cuts off what is still at both ends.
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
