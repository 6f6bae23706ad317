package webrtc

import (
	"testing"

	"clank/voice"
)

func TestNobodyIsHeardWhoHasMuted(t *testing.T) {
	call := &PageCall{queue: newEventQueue()}
	p := &callPage{call: call, person: voice.Person{ID: "page-1"}}
	for _, c := range []struct {
		wish string
		want int
	}{{"", 1}, {`{"type":"mute","on":true}`, 1}, {`{"type":"mute","on":false}`, 2}} {
		p.handleMessage([]byte(c.wish))
		p.handlePacket(voice.Packet{Opus: []byte("x")})
		if got := call.queue.packets; got != c.want {
			t.Errorf("after %q, %d packets were heard, want %d", c.wish, got, c.want)
		}
	}
	if e, _ := call.queue.next(); e.Packet.From != "page-1" {
		t.Errorf("a packet is from %q", e.Packet.From)
	}
}
