package speech_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"clank/voice"
	"clank/voice/speech"
)

func espeakForTest(t *testing.T, o speech.ESpeakOptions) *speech.ESpeak {
	t.Helper()
	s, err := speech.NewESpeak(o)
	if errors.Is(err, speech.ErrESpeakMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// script returns a program that stands in for espeak-ng.
func script(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "espeak-ng")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// all returns how long the packets sound, how loud the loudest sample is, and the error at the end.
func all(t *testing.T, ctx context.Context, s *speech.ESpeak, text string) (length time.Duration, peak float64, err error) {
	t.Helper()
	d, err := voice.NewOpusDecoder(voice.RateSpeech)
	if err != nil {
		t.Fatal(err)
	}
	for p, err := range s.Speak(ctx, text) {
		if err != nil {
			return length, peak, err
		}
		shape, err := voice.InspectOpus(p)
		if err != nil || shape.Duration() != voice.FrameTime {
			t.Fatalf("packet of %v: %v", shape.Duration(), err)
		}
		samples, err := d.Decode(p)
		if err != nil {
			t.Fatal(err)
		}
		loud, _ := voice.Level(samples)
		peak = max(peak, loud)
		length += voice.FrameTime
	}
	return length, peak, nil
}

func TestTextIsSaid(t *testing.T) {
	s := espeakForTest(t, speech.ESpeakOptions{})
	short, peak, err := all(t, t.Context(), s, "Yes.")
	if err != nil {
		t.Fatal(err)
	}
	if short < 200*time.Millisecond || short > 2*time.Second || peak == 0 {
		t.Errorf("%v of sound with a peak of %v, want a short word that can be heard", short, peak)
	}
	long, _, err := all(t, t.Context(), s, "The ferry leaves at twenty to ten, and again at noon.")
	if err != nil || long < 2*short {
		t.Errorf("a sentence took %v, a word %v (%v)", long, short, err)
	}
	if length, _, err := all(t, t.Context(), s, " \n"); length != 0 || err != nil {
		t.Errorf("nothing to say: %v, %v; want nothing", length, err)
	}
	if length, _, err := all(t, t.Context(), s, "--version"); err != nil || length == 0 {
		t.Errorf("text that looks like an option: %v, %v; want it said", length, err)
	}
}

func TestBadESpeakOptionsAreRefused(t *testing.T) {
	for _, o := range []speech.ESpeakOptions{{Voice: "-w"}, {Voice: "../en"}, {Voice: "en us"}, {Speed: 5}, {Speed: 900}} {
		if _, err := speech.NewESpeak(o); err == nil || errors.Is(err, speech.ErrESpeakMissing) {
			t.Errorf("New(%+v) = %v, want it refused", o, err)
		}
	}
	_, err := speech.NewESpeak(speech.ESpeakOptions{Program: "no-such-program"})
	if !errors.Is(err, speech.ErrESpeakMissing) || !strings.Contains(err.Error(), "install the package espeak-ng") {
		t.Errorf("err = %v, want it to name the package", err)
	}
}

func TestWhatESpeakCannotSayIsTold(t *testing.T) {
	for want, o := range map[string]speech.ESpeakOptions{
		"espeak-ng": {Voice: "zz-nobody"},
		"too long":  {Program: script(t, "exec sleep 60"), Timeout: 50 * time.Millisecond},
		"":          {Program: script(t, "exec cat")}, // copies the text; no WAV
	} {
		if _, _, err := all(t, t.Context(), espeakForTest(t, o), "Hello."); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: err = %v, want %q", o, err, want)
		}
	}
}

func TestCancelledESpeakEndsWithItsCause(t *testing.T) {
	s := espeakForTest(t, speech.ESpeakOptions{Program: script(t, "exec sleep 60")})
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped by ada")
	go cancel(stopped)
	if _, _, err := all(t, ctx, s, "Hello."); !errors.Is(err, stopped) {
		t.Errorf("err = %v, want the cause", err)
	}
}

func TestWhoStopsListeningEndsTheProgram(t *testing.T) {
	s := espeakForTest(t, speech.ESpeakOptions{})
	n := 0
	for _, err := range s.Speak(t.Context(), strings.Repeat("A long text that nobody wants to hear. ", 100)) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		if n == 3 {
			break
		}
	}
	if n != 3 {
		t.Errorf("%d packets, want 3", n)
	}
}

func TestTextCannotSteerTheProgram(t *testing.T) {
	s := espeakForTest(t, speech.ESpeakOptions{})
	want, _, err := all(t, t.Context(), s, "nine hundred lamps are in the shop")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"nine hundred \x01900S lamps are in the shop", "nine hundred lamps \x000A are in the shop", "nine hundred \x010A lamps are in the shop",
	} {
		got, peak, err := all(t, t.Context(), s, text)
		if err != nil || got < want || peak < 0.01 {
			t.Errorf("%q sounds for %v, peak %.3f (%v), want at least the %v of its words", text, got, peak, err, want)
		}
	}
}
