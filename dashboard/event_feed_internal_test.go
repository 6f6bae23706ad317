package dashboard

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"clank/dashboard/api"
	"clank/internal/test/check"
	"clank/sessions"
)

// source is something to subscribe to, once for each channel in it.
type source struct {
	channels []chan sessions.Event
	ended    int
}

func (s *source) subscribe() (<-chan sessions.Event, func()) {
	ch := s.channels[0]
	s.channels = s.channels[1:]
	return ch, func() { s.ended++ }
}

func about(id string) sessions.Event {
	return sessions.Event{Record: sessions.TaskRecord{Task: sessions.Task{ID: id}, State: sessions.TaskRunning}}
}

func TestOnlyAReaderTooFarBehindIsDisconnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := make(chan sessions.Event)
		f := newEventFeed((&source{channels: []chan sessions.Event{events}}).subscribe)
		ctx, end := context.WithCancel(t.Context())
		go f.run(ctx)
		_, _, at, slow, leaveSlow := f.subscribeAfter("")
		_, _, _, quick, leave := f.subscribeAfter("")
		defer leave()
		defer leaveSlow()
		const sent = maxReaderBacklog + 1
		for range sent {
			events <- about("t")
			if fr, ok := <-quick; !ok || fr.task != "t" {
				t.Fatal("the quick reader was let go")
			}
		}
		got := 0
		for range slow {
			got++
		}
		check.Equal(t, "backlog", got, maxReaderBacklog)
		if missed, whole, _, _, leave := f.subscribeAfter(at); !whole || len(missed) != sent {
			t.Errorf("coming back it gets %d, whole %v", len(missed), whole)
			leave()
		}
		end()
		synctest.Wait()
		if _, ok := <-quick; ok {
			t.Error("the quick reader was not let go at the end")
		}
	})
}

func TestAFeedThatFellBehindMakesItsReadersReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := make(chan sessions.Event), make(chan sessions.Event)
		src := &source{channels: []chan sessions.Event{first, second}}
		f := newEventFeed(src.subscribe)
		ctx, end := context.WithCancel(t.Context())
		go f.run(ctx)
		first <- about("before")
		synctest.Wait()
		_, _, at, ch, _ := f.subscribeAfter("")
		close(first)
		if _, ok := <-ch; ok {
			t.Error("the reader was told something in place of being let go")
		}
		if _, whole, _, _, _ := f.subscribeAfter(at); whole {
			t.Error("what was lost counts as nothing")
		}
		_, _, _, ch, _ = f.subscribeAfter("")
		second <- about("after")
		if fr := <-ch; fr.task != "after" {
			t.Errorf("told of %q", fr.task)
		}
		end()
		synctest.Wait()
		check.Equal(t, "subscriptions were ended", src.ended, 2)
	})
}

func TestTheEventBacklogIsLimitedByCountAndSize(t *testing.T) {
	f := &eventFeed{}
	for range maxFeedEvents + 10 {
		f.remember(feedEvent{data: make([]byte, 10)})
	}
	if len(f.frames) != maxFeedEvents || f.size != maxFeedEvents*10 {
		t.Errorf("%d frames, %d bytes", len(f.frames), f.size)
	}
	for range 3 {
		f.remember(feedEvent{data: make([]byte, maxFeedBytes/2)})
	}
	if len(f.frames) != 2 || f.size != maxFeedBytes {
		t.Errorf("after large ones: %d frames, %d bytes", len(f.frames), f.size)
	}
	f.remember(feedEvent{data: make([]byte, maxFeedBytes+1)})
	check.Equal(t, "len(f.frames)", len(f.frames), 1)
}

func TestAStepWithInvalidJSONInputIsStillSent(t *testing.T) {
	f := &eventFeed{readers: map[chan feedEvent]struct{}{}}
	step := sessions.Step{N: 1, Kind: sessions.StepAct, Input: json.RawMessage("{oops"), Label: "click"}
	ev := about("t")
	ev.Step = &step
	f.publish(ev)
	var got api.StepEvent
	if err := json.Unmarshal(f.frames[0].data, &got); err != nil || got.Step.Label != "click" || got.Step.Input != nil {
		t.Errorf("told %s, %v", f.frames[0].data, err)
	}
	if string(step.Input) != "{oops" {
		t.Error("the event of everybody was changed")
	}
}

func FuzzAReaderIsNeverGivenTheWrongFrames(f *testing.F) {
	fd := &eventFeed{epoch: "abc"}
	for i := range 10 {
		fd.remember(feedEvent{id: fmt.Sprintf("abc-%d", i), data: []byte("x")})
		fd.next++
	}
	fd.frames = fd.frames[4:] // 4 to 9 are left
	for _, s := range []string{
		"", "abc-3", "abc-2", "abc-9", "abc-10", "abc--1", "abd-5", "abc-5x", "-",
		"abc-99999999999999999999",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, after string) {
		missed, whole := fd.since(after)
		var n int
		_, err := fmt.Sscanf(after, "abc-%d", &n)
		if !whole {
			if len(missed) > 0 {
				t.Errorf("after %q: frames though some are missing", after)
			}
			return
		}
		if err != nil || n < 3 || n > 9 || len(missed) != 9-n || len(missed) > 0 &&
			missed[0].id != fmt.Sprintf("abc-%d", n+1) {
			t.Errorf("after %q: %d frames", after, len(missed))
		}
	})
}

func TestOnlyTheNewestUnusedCodesWork(t *testing.T) {
	var s Server
	newCode := func() string { return strings.TrimPrefix(s.LoginURL(), s.URL()+"/login#") }
	first := newCode()
	var last string
	for range maxCodes {
		last = newCode()
	}
	if s.codes.use(first) || !s.codes.use(last) || s.codes.use(last) || s.codes.use("") {
		t.Error("a forgotten, used or empty code works, or a new one does not")
	}
}
