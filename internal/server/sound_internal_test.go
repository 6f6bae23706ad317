package server

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestOnlyAudibleSoundIsEncoded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loud, silent := slices.Repeat([]int16{1000, -1000}, 960), make([]int16, 1920)
		heard, asked := true, 0
		pieces := func(yield func([]int16) bool) {
			for i := range 300 { // six seconds; the last two nobody may hear
				<-time.After(20 * time.Millisecond)
				heard = i < 200
				if !yield(loud) || !yield(silent) {
					return
				}
			}
		}
		packets := 0
		for packet, err := range soundPackets(pieces, func() bool { asked++; return heard }) {
			if err != nil || len(packet) == 0 {
				t.Fatal(err)
			}
			packets++
		}
		if packets < 200 || packets > 260 || asked > 7 {
			t.Errorf("%d packets after %d looks, want those of four seconds, with a look each second", packets, asked)
		}
	})
}
