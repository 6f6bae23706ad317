package webrtc

import (
	"testing"

	"clank/voice"
)

func TestASlowReaderLosesTheOldestPacketsOnly(t *testing.T) {
	q := newEventQueue()
	q.push(voice.Event{Kind: voice.Joined})
	for i := range maxQueuedPackets + 10 {
		q.push(voice.Event{Kind: voice.PacketReceived, Packet: voice.Packet{Sequence: uint16(i)}})
	}
	q.push(voice.Event{Kind: voice.Left})
	done := make(chan struct{})
	go q.pump(done)
	if e := <-q.events; e.Kind != voice.Joined {
		t.Errorf("first came %v", e)
	}
	for i := range maxQueuedPackets {
		if e := <-q.events; e.Kind != voice.PacketReceived || e.Packet.Sequence != uint16(i+10) {
			t.Fatalf("packet %d is %+v", i, e)
		}
	}
	if e := <-q.events; e.Kind != voice.Left {
		t.Errorf("last came %v", e)
	}
	close(done)
	if _, ok := <-q.events; ok {
		t.Error("the channel is not closed")
	}
}
