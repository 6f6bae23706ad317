package spot

import (
	"testing"
	"testing/synctest"
	"time"

	"clank/voice"
)

func TestPlacesGoToTheBestClaims(t *testing.T) {
	at := func(s int64) time.Time { return time.Unix(s, 0) }
	for _, c := range []struct {
		name     string
		has      voice.Claim
		rests    time.Duration // how long the holder has said nothing; 0: speaks
		wants    voice.Claim
		wantGets bool
	}{
		{"nobody has a claim", voice.Claim{}, 0, voice.Claim{}, false},
		{"nobody has a claim, and the other rests", voice.Claim{}, patience, voice.Claim{}, true},
		{"the other has just ended", voice.Claim{}, patience / 2, voice.Claim{}, false},
		{"what they asked for is done", voice.Claim{Called: at(9)}, 0, voice.Claim{Works: true}, true},
		{"what the other asked for is done", voice.Claim{Works: true}, 2 * patience, voice.Claim{Called: at(9)}, false},
		{"they called last", voice.Claim{Called: at(1)}, 0, voice.Claim{Called: at(2)}, true},
		{"the other called last", voice.Claim{Called: at(2)}, 0, voice.Claim{Called: at(1)}, false},
		{"both", voice.Claim{Works: true, Called: at(1)}, 0, voice.Claim{Works: true, Called: at(2)}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := places{most: 1, held: map[*listening]*place{}}
				holder, other, e := &listening{}, &listening{}, &engine{}
				if ok, _ := p.take(holder, c.has); !ok {
					t.Fatal("a free place is not given")
				}
				if ok, _ := p.take(other, voice.Claim{Works: true, Called: at(99)}); ok {
					t.Error("a place is taken whose process is only being started")
				}
				p.started(holder, e)
				if c.rests > 0 {
					p.speaks(holder, c.has, true)
					<-time.After(c.rests)
				}
				got, instead := p.take(other, c.wants)
				if got != c.wantGets || got && instead != e {
					t.Errorf("got it: %v, instead of %p; want %v, %p", got, instead, c.wantGets, e)
				}
				if had := p.leave(holder); had == got {
					t.Errorf("the holder still had a place: %v", had)
				}
			})
		})
	}
}

func TestOfManyTheLeastClaimLosesItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := places{most: 3, held: map[*listening]*place{}}
		names := map[*listening]string{}
		add := func(name string, c voice.Claim) {
			l := &listening{}
			names[l] = name
			if ok, _ := p.take(l, c); !ok {
				t.Fatal(name, "has got no place")
			}
			p.started(l, &engine{})
			<-time.After(time.Second)
		}
		add("asked", voice.Claim{Works: true})
		add("noisy", voice.Claim{})
		add("called", voice.Claim{Called: time.Unix(1, 0)})
		add("called later", voice.Claim{Called: time.Unix(2, 0)})
		add("asked later", voice.Claim{Works: true, Called: time.Unix(3, 0)})
		got := map[string]bool{}
		for l := range p.held {
			got[names[l]] = true
		}
		if len(got) != 3 || !got["asked"] || !got["asked later"] || !got["called later"] {
			t.Errorf("those are listened to: %v", got)
		}
	})
}
