package realtime

import (
	"math"
	"time"
)

// mostSpoken is how many utterances are remembered until they have been put into words.
const mostSpoken = 64

// spoken is where in the stream an item was said, as far as the server has told.
type spoken struct {
	item       string
	begin, end time.Duration
}

// speaks takes what the server tells of where somebody's speech begins or ends.
func (t *talk) speaks(e event) {
	if e.ItemID == "" {
		return
	}
	s := t.spokenAs(e.ItemID)
	if s == nil {
		if len(t.spoken) == mostSpoken {
			t.spoken = t.spoken[1:]
		}
		t.spoken = append(t.spoken, spoken{item: e.ItemID, end: math.MaxInt64})
		s = &t.spoken[len(t.spoken)-1]
	}
	if e.AudioStart != nil {
		s.begin = time.Duration(*e.AudioStart) * time.Millisecond
	}
	if e.AudioEnd != nil {
		s.end = time.Duration(*e.AudioEnd) * time.Millisecond
	}
}

func (t *talk) spokenAs(item string) *spoken {
	for i := range t.spoken {
		if t.spoken[i].item == item {
			return &t.spoken[i]
		}
	}
	return nil
}

// by is who may have said an item: those who could be heard while it was said, or, where the server does not tell when that was, ever.
func (t *talk) by(item string) []string {
	s := t.spokenAs(item)
	if s == nil {
		s = &spoken{end: math.MaxInt64}
	}
	return t.s.mix.who(s.begin, s.end)
}
