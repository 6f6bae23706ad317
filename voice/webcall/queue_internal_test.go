package webcall

import (
	"testing"

	"clank/voice"
)

func TestASlowReaderLosesTheOldestPacketsOnly(t *testing.T) {
	q := newQueue()
	q.push(voice.Event{Kind: voice.Joined})
	for i := range maxPackets + 10 {
		q.push(voice.Event{Kind: voice.Heard, Packet: voice.Packet{Sequence: uint16(i)}})
	}
	q.push(voice.Event{Kind: voice.Left})
	done := make(chan struct{})
	go q.pump(done)
	if e := <-q.out; e.Kind != voice.Joined {
		t.Errorf("first came %v", e)
	}
	for i := range maxPackets {
		if e := <-q.out; e.Kind != voice.Heard || e.Packet.Sequence != uint16(i+10) {
			t.Fatalf("packet %d is %+v", i, e)
		}
	}
	if e := <-q.out; e.Kind != voice.Left {
		t.Errorf("last came %v", e)
	}
	close(done)
	if _, ok := <-q.out; ok {
		t.Error("the channel is not closed")
	}
}
