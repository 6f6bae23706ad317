package vad_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"clank/voice"
	"clank/voice/speech/vad"
)

func TestHalfAPauseIsToldOnceAndSoIsThatTheyGoOn(t *testing.T) {
	for name, rest := range map[string]func(a *talker, long time.Duration){
		"nothing comes":   func(a *talker, long time.Duration) { a.pause(long) },
		"silence is sent": func(a *talker, long time.Duration) { a.say(speech(t, 0.0005, 50)[:long/voice.FrameTime]...) },
	} {
		t.Run(name, func(t *testing.T) {
			var paused []voice.Utterance
			var at []time.Time
			set := func(e *vad.Detector) {
				e.Paused = func(u voice.Utterance) { paused, at = append(paused, u), append(at, time.Now()) }
			}
			listen(t, set, func(e *vad.Detector, h *heard) {
				ada := &talker{id: "ada", ear: e}
				ada.say(speech(t, 0.2, 50)...)
				ended := time.Now()
				rest(ada, 600*time.Millisecond)
				synctest.Wait()
				if len(paused) != 1 || len(h.utterances) != 0 {
					t.Fatalf("after 600 ms: %d pauses, %d utterances; want one pause", len(paused), len(h.utterances))
				}
				if took := at[0].Sub(ended); took < 250*time.Millisecond || took > 400*time.Millisecond {
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
				if len(paused) != 2 || len(h.utterances) != 1 {
					t.Fatalf("at the end: %d pauses, %d utterances", len(paused), len(h.utterances))
				}
				u, whole := paused[1], h.utterances[0]
				if !u.Began.Equal(whole.Began) || !u.Loud || u.Ended.After(whole.Ended) || len(u.Packets) > len(whole.Packets) {
					t.Errorf("the pause has %d packets from %v, the utterance %d from %v", len(u.Packets), u.Began, len(whole.Packets), whole.Began)
				}
			})
		})
	}
}

func TestNoPauseOfWhoIsLeftOutIsTold(t *testing.T) {
	var out atomic.Bool
	told := 0
	set := func(e *vad.Detector) {
		e.Ignore = func(string) bool { return out.Load() }
		e.Paused = func(voice.Utterance) { told++ }
	}
	listen(t, set, func(e *vad.Detector, _ *heard) {
		ada := &talker{id: "ada", ear: e}
		ada.say(speech(t, 0.2, 50)...)
		synctest.Wait()
		out.Store(true)
		ada.pause(time.Second)
		synctest.Wait()
		if told != 0 {
			t.Errorf("told %d times", told)
		}
	})
}
