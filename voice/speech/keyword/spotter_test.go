package keyword_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/internal/test/voiceloop"
	"clank/voice"
	"clank/voice/speech/keyword"
)

// patience is for what takes milliseconds on an idle machine.
const patience = 30 * time.Second

func open(t *testing.T, o keyword.Options) *keyword.Spotter {
	t.Helper()
	s, err := keyword.Open(o)
	if errors.Is(err, keyword.ErrMissing) {
		check.Installed(t, "pocketsphinx_continuous")
	}
	check.Must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// say returns what an English voice makes of text.
func say(t *testing.T, text string) []int16 {
	t.Helper()
	return sayAs(t, voiceloop.Voice{Program: "flite", Name: "rms", Speed: 1}, text)
}

// sayAs returns what a voice makes of text, with the faint noise of a quiet room around it.
func sayAs(t *testing.T, v voiceloop.Voice, text string) []int16 {
	t.Helper()
	check.Installed(t, v.Program)
	said, err := v.Say(t.Context(), text)
	check.Must(t, err)
	said, err = voiceloop.Resample(said, voice.RateOpus, voice.RateSpeech)
	check.Must(t, err)
	return append(append(sound([2]int{20, 60}), said...), sound([2]int{20, 60})...)
}

// write gives samples in pieces of 20 ms, as fast as they are taken.
func write(l voice.SpotterStream, samples []int16) {
	for len(samples) > 0 {
		n := min(len(samples), voice.RateSpeech/50)
		l.Write(voice.Sound{From: "ada", Rate: voice.RateSpeech, Samples: samples[:n], At: time.Now()})
		samples = samples[n:]
	}
}

// listen returns what is found.
func listen(t *testing.T, s *keyword.Spotter) (voice.SpotterStream, <-chan voice.SpottedPhrase) {
	t.Helper()
	found := make(chan voice.SpottedPhrase, 16)
	l, err := s.Listen(t.Context(), "ada", func(f voice.SpottedPhrase) { found <- f })
	check.Must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l, found
}

func next(t *testing.T, found <-chan voice.SpottedPhrase) voice.SpottedPhrase {
	t.Helper()
	select {
	case f := <-found:
		return f
	case <-time.After(patience):
		t.Fatal("nothing was heard")
		return voice.SpottedPhrase{}
	}
}

func TestAStopIsHeardAndTalkOfStopsIsNot(t *testing.T) {
	l, found := listen(t, open(t, keyword.Options{}))
	for _, text := range []string{"where is the next bus stop on this street", "top"} {
		write(l, say(t, text))
	}
	write(l, say(t, "stop"))
	got := next(t, found)
	if got.Phrase != "stop" || got.From != "ada" || got.At.IsZero() {
		t.Errorf("heard %+v, want the stop of ada", got)
	}
	if len(found) > 0 {
		t.Errorf("heard %v, too", <-found)
	}
}

func TestTheNameIsHeardAtTheBeginningAndTheWishToBeLeftOut(t *testing.T) {
	l, found := listen(t, open(t, keyword.Options{}))
	write(l, say(t, "clank privacy"))
	if got := next(t, found); got.Phrase != "clank privacy" {
		t.Errorf("heard %+v, want to be left out", got)
	}
	write(l, say(t, "clank look for a cheap hotel"))
	if got := next(t, found); got.Phrase != keyword.WakeWord {
		t.Errorf("heard %+v, want the name", got)
	}
}

func TestOtherNamesAreHeardFromTheNextProcessOn(t *testing.T) {
	var names atomic.Pointer[[]string]
	names.Store(new([]string))
	s := open(t, keyword.Options{Speech: func() ([]string, string) { return *names.Load(), "" }})
	l, found := listen(t, s)
	write(l, say(t, "friday look for a cheap hotel"))
	write(l, say(t, "stop"))
	if got := next(t, found); got.Phrase != "stop" {
		t.Errorf("heard %+v, want no name", got)
	}
	names.Store(&[]string{"Friday", "stop", "Xqwzt", "bank"})
	check.Must(t, l.Close())
	l, found = listen(t, s)
	for _, text := range []string{"friday look for a cheap hotel", "bank please look for a cheap hotel"} {
		write(l, say(t, text))
		if got := next(t, found); got.Phrase != keyword.WakeWord {
			t.Errorf("%s: heard %+v, want the name", text, got)
		}
	}
	write(l, say(t, "stop"))
	if got := next(t, found); got.Phrase != "stop" {
		t.Errorf("heard %+v, want stop", got)
	}
}

func TestStopIsHeardInTheLanguageOfTheCall(t *testing.T) {
	for language, c := range map[string]struct{ talk, stop, phrase string }{
		"de": {"Danke", "Schluss", "schluss"},
		"fr": {"Merci", "Ça suffit", "ca suffit"},
	} {
		l, found := listen(t, open(t, keyword.Options{Speech: func() ([]string, string) { return nil, language }}))
		v := voiceloop.Voice{Program: "espeak-ng", Name: language, Speed: 1}
		write(l, sayAs(t, v, c.talk))
		write(l, sayAs(t, v, c.stop))
		check.Equal(t, language+": heard", next(t, found).Phrase, c.phrase)
	}
}

// stand returns a program that stands in for pocketsphinx.
func stand(t *testing.T, body string) keyword.Options {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "pocketsphinx")
	check.Must(t, os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o700))
	check.Must(t, os.WriteFile(filepath.Join(dir, "mdef"), nil, 0o600))
	return keyword.Options{Program: path, Model: dir}
}

// counted returns such a program, and the file into which each of its processes writes its number.
func counted(t *testing.T, body string) (o keyword.Options, pids string) {
	t.Helper()
	pids = filepath.Join(t.TempDir(), "pids")
	return stand(t, `echo $$ >> `+pids+`; `+body), pids
}

// hears prints a phrase for the first word that is said, and takes what follows.
const hears = `head -c 30000 >/dev/null; printf 'cancel that\ncancel that  0.220 0.600 0.880\n'; cat >/dev/null`

func word() []int16 { return sound([2]int{0, 60}, [2]int{3000, 40}, [2]int{0, 40}) }

func TestAWordThatIsNotFollowedByAnySoundEnds(t *testing.T) {
	l, found := listen(t, open(t, stand(t, hears)))
	write(l, sound([2]int{0, 60}, [2]int{3000, 40}, [2]int{0, 10})) // a sender that hears nothing sends nothing then
	if got := next(t, found); got.Phrase != "cancel that" {
		t.Errorf("heard %+v, want what is printed", got)
	}
}

func TestAWordAfterALongWaitStandsAlone(t *testing.T) {
	l, found := listen(t, open(t,
		stand(t, `head -c 20000 >/dev/null; printf 'cancel that\ncancel that  0.000 0.400 0.880\n'; cat >/dev/null`)))
	<-time.After(400 * time.Millisecond) // longer than what is taken for silence
	write(l, sound([2]int{3000, 40}, [2]int{0, 10}))
	if got := next(t, found); got.Phrase != "cancel that" {
		t.Errorf("heard %+v, want what is printed", got)
	}
}

// A network that stalls delivers everything later: the timestamps leave nothing out.
func TestAWordIsHeardWhoseSoundStalls(t *testing.T) {
	quiet := sound([2]int{20, 80})
	said := say(t, "stop")
	const frame = voice.RateSpeech / 100
	for at, cut := range map[string]int{
		"before it": len(quiet) + 55*frame, "in it": len(quiet) + len(said)/2,
		"at its end": len(quiet) + len(said) - 62*frame,
	} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			l, found := listen(t, open(t, keyword.Options{}))
			all := append(append([]int16(nil), quiet...), said...)
			write(l, all[:cut])
			<-time.After(400 * time.Millisecond) // longer than what is taken for silence
			write(l, all[cut:])
			check.Equal(t, "heard", next(t, found).Phrase, "stop")
		})
	}
}

func TestAWordIsNotAloneBecauseTheSoundStallsAfterIt(t *testing.T) {
	const frame, around = voice.RateSpeech / 100, 60
	word, rest := say(t, "stop"), say(t, "the music is far too loud in here")
	l, found := listen(t, open(t, keyword.Options{}))
	write(l, word[:len(word)-(around+5)*frame]) // to where its last sound has faded, for 50 to 80 ms
	<-time.After(400 * time.Millisecond)
	write(l, rest[(around-6)*frame:])
	write(l, say(t, "cancel that"))
	check.Equal(t, "the first that is heard", next(t, found).Phrase, "cancel that")
}

func TestANameIsHeardWhoseSenderFallsSilentInTheWord(t *testing.T) {
	l, found := listen(t, open(t, stand(t,
		`head -c 26000 >/dev/null; printf 'clank\nclank  0.250 0.500 0.880\n'; cat >/dev/null`)))
	write(l, sound([2]int{0, 60}, [2]int{3000, 30}))
	check.Equal(t, "heard", next(t, found).Phrase, keyword.WakeWord)
}

func TestAProcessThatEndsIsStartedAgainWithTheNextWords(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "once")
	l, found := listen(t, open(t, stand(t, `if ! [ -e `+mark+` ]; then touch `+mark+`; exit 1; fi; `+hears)))
	// it is not started over and over
	if got := untilFound(t, l, found, 300*time.Millisecond); got.Phrase != "cancel that" {
		t.Errorf("heard %+v, want what is printed", got)
	}
}

func TestAnIdleProcessEndsAndCloseLeavesNothing(t *testing.T) {
	o, pids := counted(t, `exec cat >/dev/null`)
	o.IdleTimeout = 50 * time.Millisecond
	s := open(t, o)
	l, _ := listen(t, s)
	write(l, word())
	first := started(t, pids, 1)
	gone(t, first)
	write(l, word())
	second := started(t, pids, 2)
	check.Must(t, l.Close())
	gone(t, second)
	l.Write(voice.Sound{From: "ada", Rate: voice.RateSpeech}) // too late, and harmless
	check.Must(t, s.Close())
	check.Fails(t, check.Err(s.Listen(t.Context(), "ada", func(voice.SpottedPhrase) {})), nil, "closed")
}

// started waits until n processes have run, and returns the folder of the last in /proc.
func started(t *testing.T, pids string, n int) (process string) {
	t.Helper()
	eventually(t, "a process starts", func() bool {
		b, _ := os.ReadFile(pids)
		all := strings.Fields(string(b))
		if len(all) != n || !strings.HasSuffix(string(b), "\n") {
			return false
		}
		process = "/proc/" + all[n-1]
		return true
	})
	return process
}

func gone(t *testing.T, process string) {
	t.Helper()
	eventually(t, process+" ends", func() bool { _, err := os.Stat(process); return errors.Is(err, os.ErrNotExist) })
}

func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !done(); <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it did not come to it that %s", what)
		}
	}
}

func TestNoMoreProcessesThanAllowed(t *testing.T) {
	o := stand(t, hears)
	o.MaxListeners = 1
	s := open(t, o)
	a, foundA := listen(t, s)
	b, foundB := listen(t, s)
	write(a, word())
	next(t, foundA)
	write(b, word())
	check.Must(t, a.Close())
	untilFound(t, b, foundB, 100*time.Millisecond)
}

func TestAPlaceIsGivenUpForABetterClaim(t *testing.T) {
	o, pids := counted(t, hears)
	o.MaxListeners = 1
	s := open(t, o)
	ada, foundAda := listen(t, s)
	bob, foundBob := listen(t, s)
	bob.SetPriority(voice.SpotterPriority{LastAddressed: time.Unix(1, 0)})
	write(bob, word())
	next(t, foundBob)
	noisy := started(t, pids, 1)
	crowded := func(l voice.SpotterStream) bool { return l.(interface{ Crowded() bool }).Crowded() }
	write(ada, word()) // without a claim
	eventually(t, "it is told that she has no place", func() bool { return crowded(ada) })
	ada.SetPriority(voice.SpotterPriority{Working: true})
	untilFound(t, ada, foundAda, 100*time.Millisecond)
	if crowded(ada) {
		t.Error("she has a place, and it is told that she has none")
	}
	gone(t, noisy)
	started(t, pids, 2)
	for range 3 { // he goes on, and is told nothing
		write(bob, word())
	}
	check.Must(t, bob.Close())
	started(t, pids, 2)
	if len(foundBob) > 0 {
		t.Errorf("heard %+v of somebody who had lost his place", <-foundBob)
	}
}

// untilFound lets somebody speak, with pauses, until something is found.
func untilFound(t *testing.T, l voice.SpotterStream, found <-chan voice.SpottedPhrase,
	pause time.Duration,
) voice.SpottedPhrase {
	t.Helper()
	deadline := time.After(patience)
	for {
		write(l, word())
		select {
		case f := <-found:
			return f
		case <-time.After(pause):
		case <-deadline:
			t.Fatal("nothing was heard")
		}
	}
}

func TestListeningEndsWithItsContext(t *testing.T) {
	o, pids := counted(t, `exec cat >/dev/null`)
	s := open(t, o)
	ctx, cancel := context.WithCancel(t.Context())
	l, err := s.Listen(ctx, "ada", func(voice.SpottedPhrase) {})
	check.Must(t, err)
	write(l, word())
	process := started(t, pids, 1)
	cancel()
	gone(t, process)
}

func TestMissingProgramsNameTheirPackages(t *testing.T) {
	for _, o := range []keyword.Options{{Program: "no-such-program"}, {Program: "sh", Model: t.TempDir()}} {
		check.Fails(t, check.Err(keyword.Open(o)), keyword.ErrMissing, "pocketsphinx-en-us")
	}
}
