package voice_test

import (
	"slices"
	"testing"

	"clank/voice"
)

func TestASlowReaderLosesTheOldestPacketsOnly(t *testing.T) {
	q := voice.NewEventQueue()
	q.Push(voice.Event{Kind: voice.Joined})
	for i := range 260 {
		q.Push(voice.Event{Kind: voice.PacketReceived, Packet: voice.Packet{Sequence: uint16(i)}})
	}
	q.Push(voice.Event{Kind: voice.Left})
	done := make(chan struct{})
	go q.Run(done)
	if e := <-q.Events; e.Kind != voice.Joined {
		t.Errorf("first came %v", e)
	}
	for i := range 250 {
		if e := <-q.Events; e.Kind != voice.PacketReceived || e.Packet.Sequence != uint16(i+10) {
			t.Fatalf("packet %d is %+v", i, e)
		}
	}
	if e := <-q.Events; e.Kind != voice.Left {
		t.Errorf("last came %v", e)
	}
	close(done)
	if _, ok := <-q.Events; ok {
		t.Error("the channel is not closed")
	}
}

func TestAnEndedQueueIsReadToItsEnd(t *testing.T) {
	q := voice.NewEventQueue()
	q.Push(voice.Event{Kind: voice.Joined})
	q.End()
	q.Push(voice.Event{Kind: voice.Left})
	go q.Run(nil)
	var got []voice.EventKind
	for e := range q.Events {
		got = append(got, e.Kind)
	}
	if !slices.Equal(got, []voice.EventKind{voice.Joined}) {
		t.Errorf("got %v", got)
	}
}

func TestAQueueWakesItsReaderAndDropsTheOldest(t *testing.T) {
	var q voice.Queue[int]
	for i := range 5 {
		q.Put(i, 3)
	}
	q.Put(5, 0)
	<-q.Wake()
	if got := q.Drain(); !slices.Equal(got, []int{2, 3, 4, 5}) || q.Len() != 0 {
		t.Errorf("got %v, and %d are left", got, q.Len())
	}
	select {
	case <-q.Wake():
		t.Error("woken for nothing")
	default:
	}
}
