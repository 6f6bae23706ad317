package vad_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"clank/internal/test/check"
	"clank/voice"
	"clank/voice/speech/vad"
)

// arrived returns what came of packets: the sequence numbers of those that were kept, and the length of all the
// sound.
func arrived(h *heard) (kept []uint16, sound time.Duration) {
	for _, u := range h.utterances {
		for _, p := range u.Packets {
			kept = append(kept, p.Sequence)
		}
	}
	for _, s := range h.sounds {
		sound += s.Gap + time.Duration(len(s.Samples))*time.Second/time.Duration(s.Rate)
	}
	return kept, sound
}

func TestPacketsAreBroughtIntoOrder(t *testing.T) {
	for _, c := range []struct {
		name string
		send func(p []voice.Packet) []voice.Packet
		kept int // of 50 and 5 of silence
	}{
		{"as they are", func(p []voice.Packet) []voice.Packet { return p }, 55},
		{"two the wrong way round", func(p []voice.Packet) []voice.Packet {
			p[20], p[21] = p[21], p[20]
			return p
		}, 55},
		{"one two too late", func(p []voice.Packet) []voice.Packet {
			p[20], p[21], p[22] = p[21], p[22], p[20]
			return p
		}, 55},
		{"each twice", func(p []voice.Packet) []voice.Packet {
			var out []voice.Packet
			for _, x := range p {
				out = append(out, x, x)
			}
			return out
		}, 55},
		{"one lost", func(p []voice.Packet) []voice.Packet { return append(p[:20:20], p[21:]...) }, 54},
		{"twelve lost", func(p []voice.Packet) []voice.Packet { return append(p[:20:20], p[32:]...) }, 43},
		{"one far too late", func(p []voice.Packet) []voice.Packet {
			late := p[20]
			return append(append(append(p[:20:20], p[21:40]...), late), p[40:]...)
		}, 54},
		{"one from nowhere", func(p []voice.Packet) []voice.Packet {
			odd := p[20]
			odd.Sequence += 20000
			return append(append(p[:20:20], odd), p[20:]...)
		}, 55},
	} {
		t.Run(c.name, func(t *testing.T) {
			listen(t, nil, func(ada *talker, h *heard) {
				ada.seq, ada.ts = 65520, 4294960000
				var packets []voice.Packet
				for _, o := range speech(t, 0.2, 50) {
					packets = append(packets, ada.packet(o))
				}
				for range 5 {
					packets = append(packets, ada.packet([]byte{0xF8, 0xFF, 0xFE}))
				}
				for _, p := range c.send(packets) {
					p.At = time.Now()
					ada.ear.Write(p)
					<-time.After(20 * time.Millisecond)
				}
				<-time.After(time.Second)
				synctest.Wait()
				kept, sound := arrived(h)
				check.Equal(t, "len(kept)", len(kept), c.kept)
				for i := 1; i < len(kept); i++ {
					if int16(kept[i]-kept[i-1]) < 1 {
						t.Errorf("%d comes after %d", kept[i], kept[i-1])
					}
				}
				check.Equal(t, "length of the sound", sound, 55*20*time.Millisecond)
			})
		})
	}
}

func TestAHoleIsWaitedForNoLongerThanATenthOfASecond(t *testing.T) {
	listen(t, nil, func(ada *talker, h *heard) {
		opus := speech(t, 0.2, 50)
		ada.say(opus[:10]...)
		ada.packet(opus[10]) // lost
		ada.ear.Write(ada.packet(opus[11]))
		sent := time.Now()
		<-time.After(time.Second)
		synctest.Wait()
		if n := len(h.sounds); n != 12 {
			h.t.Fatalf("%d sounds, want 12", n)
		}
		if waited := h.soundAt[11].Sub(sent); waited < 50*time.Millisecond || waited > 100*time.Millisecond {
			t.Errorf("it was given up after %v", waited)
		}
		_, rms := voice.Level(h.sounds[10].Samples)
		if rms < 0.001 {
			t.Errorf("what was lost sounds at %.4f", rms)
		}
	})
}

func TestAHoleWithMuchBehindItIsNotWaitedFor(t *testing.T) {
	listen(t, nil, func(ada *talker, h *heard) {
		opus := speech(t, 0.2, 50)
		ada.say(opus[:10]...)
		ada.packet(opus[10]) // lost
		sent := time.Now()
		for _, o := range opus[11:31] { // all at once
			ada.ear.Write(ada.packet(o))
		}
		<-time.After(time.Second)
		synctest.Wait()
		if n := len(h.sounds); n != 31 {
			h.t.Fatalf("%d sounds, want 31", n)
		}
		if waited := h.soundAt[30].Sub(sent); waited > 0 {
			t.Errorf("it was waited for %v", waited)
		}
	})
}

func TestAStreamThatBeginsAnewIsHeardAtOnce(t *testing.T) {
	for name, jump := range map[string]uint16{"far away": 30000, "a little before": 65535 - 40} {
		t.Run(name, func(t *testing.T) {
			listen(t, nil, func(ada *talker, h *heard) {
				ada.seq = 500
				ada.say(speech(t, 0.2, 50)...)
				ada.seq += jump
				ada.ts += 123456789
				ada.say(speech(t, 0.2, 50)...)
				synctest.Wait()
				_, sound := arrived(h)
				if sound < 1990*time.Millisecond || sound > 2200*time.Millisecond {
					t.Errorf("the sound is %v long, want 2s", sound)
				}
			})
		})
	}
}

func TestATimestampThatLiesMakesNoLongGap(t *testing.T) {
	listen(t, nil, func(ada *talker, h *heard) {
		ada.say(speech(t, 0.2, 50)[:10]...)
		ada.ts += 48000 * 3600
		ada.say(speech(t, 0.2, 50)[10:20]...)
		ada.ts -= 48000 * 7200
		ada.say(speech(t, 0.2, 50)[20:30]...)
		synctest.Wait()
		check.Equal(t, "sounds arrived", len(h.sounds), 30)
		for _, s := range h.sounds {
			if s.Gap > 2*time.Second || s.Gap < 0 {
				t.Errorf("a gap of %v", s.Gap)
			}
		}
	})
}

func TestHalfAPauseIsToldOnceAndSoIsThatTheyGoOn(t *testing.T) {
	for name, rest := range map[string]func(a *talker, long time.Duration){
		"nothing comes":   func(a *talker, long time.Duration) { a.pause(long) },
		"silence is sent": func(a *talker, long time.Duration) { a.say(speech(t, 0.0005, 50)[:long/voice.FrameTime]...) },
	} {
		t.Run(name, func(t *testing.T) {
			listen(t, nil, func(ada *talker, h *heard) {
				ada.say(speech(t, 0.2, 50)...)
				ended := time.Now()
				rest(ada, 600*time.Millisecond)
				synctest.Wait()
				if len(h.paused) != 1 || len(h.utterances) != 0 {
					t.Fatalf("after 600 ms: %d pauses, %d utterances; want one pause", len(h.paused), len(h.utterances))
				}
				if took := h.pausedAt[0].Sub(ended); took < 250*time.Millisecond || took > 400*time.Millisecond {
					t.Errorf("the pause was told %v after the end", took)
				}
				told := len(h.speaking)
				ada.say(speech(t, 0.2, 3)...)
				synctest.Wait()
				if len(h.speaking) == told || h.speaking[len(h.speaking)-1].Ended {
					t.Error("it was not told that they go on")
				}
				ada.say(speech(t, 0.2, 50)...)
				rest(ada, time.Second)
				synctest.Wait()
				if len(h.paused) != 2 || len(h.utterances) != 1 {
					t.Fatalf("at the end: %d pauses, %d utterances", len(h.paused), len(h.utterances))
				}
				u, whole := h.paused[1], h.utterances[0]
				if !u.Began.Equal(whole.Began) || !u.Loud || u.Ended.After(whole.Ended) || len(u.Packets) > len(whole.Packets) {
					t.Errorf("the pause has %d packets from %v, the utterance %d from %v", len(u.Packets), u.Began, len(whole.Packets),
						whole.Began)
				}
			})
		})
	}
}

func TestNoPauseOfWhoIsLeftOutIsTold(t *testing.T) {
	var out atomic.Bool
	set := func(e *vad.Detector) { e.Ignore = func(string) bool { return out.Load() } }
	listen(t, set, func(ada *talker, h *heard) {
		ada.say(speech(t, 0.2, 50)...)
		synctest.Wait()
		out.Store(true)
		ada.pause(time.Second)
		synctest.Wait()
		check.Equal(t, "len(h.paused)", len(h.paused), 0)
	})
}
