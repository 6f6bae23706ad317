package vad_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"clank/internal/test/check"
	"clank/voice"
	"clank/voice/speech/vad"

	"github.com/google/go-cmp/cmp"
)

// encoded is speech-like noise at a loudness, in packets of 20 ms. Encoding is dear, so each is made once.
var encoded = struct {
	sync.Mutex
	made map[string][][]byte
}{made: map[string][][]byte{}}

func speech(tb testing.TB, loudness float64, n int) [][]byte {
	tb.Helper()
	encoded.Lock()
	defer encoded.Unlock()
	key := fmt.Sprint(loudness, n)
	if encoded.made[key] == nil {
		p, err := voice.NewOpusPacker(16000)
		check.Must(tb, err)
		r := rand.New(rand.NewPCG(1, 2))
		samples := make([]int16, n*320)
		low := 0.0
		for i := range samples {
			low = 0.7*low + 0.3*(r.Float64()*2-1)
			samples[i] = int16(32767 * 2.4 * loudness * low * (1 - math.Cos(2*math.Pi*5*float64(i)/16000)))
		}
		if encoded.made[key], err = p.Write(samples); err != nil {
			tb.Fatal(err)
		}
	}
	return encoded.made[key]
}

// talker sends packets as a client does.
type talker struct {
	id  string
	ear *vad.Detector
	seq uint16
	ts  uint32
}

func (a *talker) packet(opus []byte) voice.Packet {
	p := voice.Packet{From: a.id, Sequence: a.seq, Timestamp: a.ts, Opus: opus, At: time.Now()}
	a.seq, a.ts = a.seq+1, a.ts+960
	return p
}

// say sends packets in time.
func (a *talker) say(opus ...[]byte) {
	for _, o := range opus {
		a.ear.Write(a.packet(o))
		<-time.After(20 * time.Millisecond)
	}
}

// hush sends the silence with which a client ends.
func (a *talker) hush() { a.say(slices.Repeat([][]byte{voice.OpusSilence[:]}, 5)...) }

// pause sends nothing for a time.
func (a *talker) pause(d time.Duration) {
	a.ts += uint32(d * 48 / time.Millisecond)
	<-time.After(d)
}

type progress struct {
	Voiced time.Duration
	Ended  bool
}

// heard is what an ear has told.
type heard struct {
	t          *testing.T // of the bubble
	soundAt    []time.Time
	sounds     []voice.Sound
	speaking   []progress
	utterances []voice.Utterance
	paused     []voice.Utterance
	pausedAt   []time.Time
	spokeAt    []time.Time
}

func (h *heard) Sound(s voice.Sound) {
	h.sounds, h.soundAt = append(h.sounds, s), append(h.soundAt, time.Now())
}

func (h *heard) Speaking(_ string, voiced time.Duration, ended bool) {
	h.speaking, h.spokeAt = append(h.speaking, progress{voiced, ended}), append(h.spokeAt, time.Now())
}

func (h *heard) Ended(u voice.Utterance) { h.utterances = append(h.utterances, u) }

func (h *heard) Paused(u voice.Utterance) {
	h.paused, h.pausedAt = append(h.paused, u), append(h.pausedAt, time.Now())
}

// each is given every sound, and nothing else.
type each func(s voice.Sound)

func (f each) Sound(s voice.Sound)                { f(s) }
func (each) Ended(voice.Utterance)                {}
func (each) Paused(voice.Utterance)               {}
func (each) Speaking(string, time.Duration, bool) {}

func (h *heard) wantUtterances(n int) {
	h.t.Helper()
	if synctest.Wait(); len(h.utterances) != n {
		h.t.Fatalf("got %d utterances, want %d", len(h.utterances), n)
	}
}

// listen runs an ear in a bubble for the length of do, to which ada can talk.
func listen(t *testing.T, set func(*vad.Detector), do func(ada *talker, h *heard)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := &heard{t: t}
		e := &vad.Detector{}
		if set != nil {
			set(e)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- e.Run(ctx, h) }()
		defer func() {
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		}()
		do(&talker{id: "ada", ear: e}, h)
		synctest.Wait()
	})
}

func TestFivePacketsOfSilenceEndAnUtterance(t *testing.T) {
	listen(t, nil, func(ada *talker, h *heard) {
		ada.seq, ada.ts = 65500, math.MaxUint32-9600
		said := speech(t, 0.2, 50)
		began := time.Now()
		ada.say(said...)
		if synctest.Wait(); len(h.utterances) != 0 {
			h.t.Fatal("it is over before it has ended")
		}
		ada.hush()
		h.wantUtterances(1)
		u := h.utterances[0]
		if u.From != "ada" || !u.Loud || !u.Began.Equal(began) || u.Ended.Sub(u.Began) < time.Second {
			t.Errorf("got %s, loud %v, from %v for %v", u.From, u.Loud, u.Began.Sub(began), u.Ended.Sub(u.Began))
		}
		var got [][]byte
		for _, p := range u.Packets[:50] {
			got = append(got, p.Opus)
		}
		check.Diff(t, "opus", got, said)
		first, last := h.speaking[0], h.speaking[len(h.speaking)-1]
		if first.Ended || !last.Ended || last.Voiced < 500*time.Millisecond {
			t.Errorf("speaking: %+v … %+v", first, last)
		}
		if in := h.spokeAt[0].Sub(began); in > 100*time.Millisecond {
			t.Errorf("the begin was noticed after %v", in)
		}
	})
}

func TestAPauseEndsAnUtteranceWhetherPacketsComeOrNot(t *testing.T) {
	for name, rest := range map[string]func(a *talker){
		"nothing comes":   func(a *talker) { a.pause(time.Second) },
		"silence is sent": func(a *talker) { a.say(speech(t, 0.0005, 45)...) },
		"a gap and go on": func(a *talker) { a.pause(650 * time.Millisecond); a.say(speech(t, 0.0005, 10)...) },
		"they leave":      func(a *talker) { a.ear.Forget("ada") },
		"a new stream then": func(a *talker) {
			a.pause(1200 * time.Millisecond)
			a.seq += 30000
			a.say(speech(t, 0.0005, 5)...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			listen(t, nil, func(ada *talker, h *heard) {
				ada.say(speech(t, 0.2, 50)...)
				rest(ada)
				synctest.Wait()
				if len(h.utterances) != 1 || !h.utterances[0].Loud {
					t.Errorf("got %d utterances, want one that is loud", len(h.utterances))
				}
			})
		})
	}
}

func TestAShortPauseIsPartOfWhatIsSaid(t *testing.T) {
	listen(t, nil, func(ada *talker, h *heard) {
		ada.say(speech(t, 0.2, 50)...)
		ada.pause(400 * time.Millisecond)
		ada.say(speech(t, 0.2, 50)...)
		ada.hush()
		synctest.Wait()
		if len(h.utterances) != 1 || len(h.utterances[0].Packets) != 105 {
			h.t.Fatalf("got %d utterances", len(h.utterances))
		}
		check.Equal(t, "the gap", h.sounds[50].Gap, 400*time.Millisecond)
	})
}

func TestARoomIsNoSpeech(t *testing.T) {
	listen(t, nil, func(ada *talker, h *heard) {
		ada.say(speech(t, 0.002, 100)...)
		ada.hush()
		ada.pause(2 * time.Second)
		synctest.Wait()
		if len(h.utterances)+len(h.speaking) != 0 {
			t.Errorf("got %d utterances, %d times speaking", len(h.utterances), len(h.speaking))
		}
		check.Equal(t, "len(h.sounds)", len(h.sounds), 105)
	})
}

func TestASteadyNoiseIsNoSpeechAfterAWhile(t *testing.T) {
	noise := func() [][]byte {
		p, err := voice.NewOpusPacker(16000)
		check.Must(t, err)
		samples := make([]int16, 320*300)
		for i := range samples {
			samples[i] = int16(600 * (rand.Float64()*2 - 1))
		}
		out, err := p.Write(samples)
		check.Must(t, err)
		return out
	}()
	listen(t, nil, func(ada *talker, h *heard) {
		ada.say(noise...)
		h.wantUtterances(1)
		ada.say(noise[:100]...)
		ada.say(speech(t, 0.2, 50)...)
		ada.say(noise[:100]...)
		synctest.Wait()
		if len(h.utterances) != 2 || !h.utterances[1].Loud {
			t.Errorf("got %d utterances, want 2: speech in front of the fan", len(h.utterances))
		}
	})
}

func TestAClickIsNotLoud(t *testing.T) {
	listen(t, nil, func(ada *talker, h *heard) {
		ada.say(speech(t, 0.2, 4)...)
		ada.hush()
		synctest.Wait()
		if len(h.utterances) != 1 || h.utterances[0].Loud {
			t.Errorf("got %+v, want one utterance of 80 ms that is not loud", h.utterances)
		}
	})
}

func TestAnUtteranceIsCutWhenItIsTooLong(t *testing.T) {
	listen(t, func(e *vad.Detector) { e.MaxUtterance = 8 * time.Second }, func(ada *talker, h *heard) {
		for range 10 {
			ada.say(speech(t, 0.2, 100)...)
		}
		ada.hush()
		h.wantUtterances(3)
		check.Equal(t, "len(h.utterances[0].Packets)", len(h.utterances[0].Packets), 400)
	})
}

func TestWhoIsLeftOutIsNotHeard(t *testing.T) {
	var out atomic.Bool
	listen(t, func(e *vad.Detector) {
		e.Ignore = func(id string) bool { return id == "ada" && out.Load() }
	}, func(ada *talker, h *heard) {
		bob := &talker{id: "bob", ear: ada.ear}
		ada.say(speech(t, 0.2, 50)...)
		synctest.Wait()
		n := len(h.sounds)
		out.Store(true) // in the middle of what she says
		ada.say(speech(t, 0.2, 50)...)
		ada.hush()
		ada.pause(2 * time.Second)
		bob.say(speech(t, 0.2, 50)...)
		bob.hush()
		synctest.Wait()
		if len(h.utterances) != 1 || h.utterances[0].From != "bob" {
			t.Errorf("got %d utterances, want Bob's", len(h.utterances))
		}
		check.Equal(t, "len(h.sounds) - n", len(h.sounds)-n, 55)
	})
}

func TestWhatWaitsOfWhoIsLeftOutIsNotDecoded(t *testing.T) {
	var out atomic.Bool
	ctx, cancel := context.WithCancel(t.Context())
	e := &vad.Detector{Ignore: func(id string) bool { return id == "ada" && out.Load() }}
	ada, bob := &talker{id: "ada", ear: e}, &talker{id: "bob", ear: e}
	opus := speech(t, 0.2, 50)
	e.Write(ada.packet(opus[0]))
	e.Write(bob.packet(opus[0]))
	out.Store(true) // before it was her turn
	check.Must(t, e.Run(ctx, each(func(s voice.Sound) {
		if s.From == "ada" {
			t.Error("she was heard")
		}
		cancel()
	})))
}

func TestPeopleAreHeardAtOnceAndNoMoreThanAllowed(t *testing.T) {
	listen(t, func(e *vad.Detector) { e.MaxPeople = 2 }, func(ada *talker, h *heard) {
		var all []*talker
		for _, id := range []string{"ada", "bob", "cy"} {
			all = append(all, &talker{id: id, ear: ada.ear})
		}
		for _, o := range speech(t, 0.2, 50) {
			for _, a := range all {
				ada.ear.Write(a.packet(o))
			}
			<-time.After(20 * time.Millisecond)
		}
		for _, a := range all {
			a.hush()
		}
		synctest.Wait()
		var got []string
		for _, u := range h.utterances {
			got = append(got, u.From)
		}
		slices.Sort(got)
		if diff := cmp.Diff([]string{"ada", "bob"}, got); diff != "" {
			h.t.Fatal(diff)
		}
		<-time.After(2 * time.Second) // now there is room
		all[2].say(speech(t, 0.2, 50)...)
		all[2].hush()
		synctest.Wait()
		check.Equal(t, "len(h.utterances)", len(h.utterances), 3)
	})
}

func TestGarbageIsPassedOver(t *testing.T) {
	listen(t, nil, func(ada *talker, h *heard) {
		for i, o := range speech(t, 0.2, 50) {
			ada.say(o)
			if i%10 == 0 {
				ada.ear.Write(voice.Packet{From: "ada", Sequence: 7, Opus: make([]byte, 5000)})
				ada.say([]byte{}, []byte{3, 0}, []byte{0xFF})
			}
		}
		ada.hush()
		ada.ear.Forget("nobody")
		h.wantUtterances(1)
	})
}

func TestAnEarThatFallsBehindLosesTheOldest(t *testing.T) {
	e := &vad.Detector{}
	ada := &talker{id: "ada", ear: e}
	opus := speech(t, 0.2, 50)
	for i := range 10000 {
		e.Write(ada.packet(opus[i%50]))
	}
	var got int
	ctx, cancel := context.WithCancel(t.Context())
	if err := e.Run(ctx, each(func(voice.Sound) {
		if got++; got == 2048 {
			cancel()
		}
	})); err != nil || got != 2048 {
		t.Errorf("got %d sounds, %v", got, err)
	}
}

func TestARateThatCannotBeIsRefused(t *testing.T) {
	check.Fails(t, (&vad.Detector{Rate: 44100}).Run(t.Context(), each(nil)), nil, "44100 Hz")
}
