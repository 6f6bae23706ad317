package realtime

import (
	"math"
	"time"
)

// maxSpeechSpans is how many utterances are remembered until they have been put into words.
const maxSpeechSpans = 64

// speechSpan is where in the stream an item was said, as far as the server has told.
type speechSpan struct {
	item       string
	begin, end time.Duration
}

// handleSpeech takes what the server tells of where somebody's speech begins or ends.
func (t *conversation) handleSpeech(e event) {
	if e.ItemID == "" {
		return
	}
	s := t.findSpeech(e.ItemID)
	if s == nil {
		if len(t.spoken) == maxSpeechSpans {
			t.spoken = t.spoken[1:]
		}
		t.spoken = append(t.spoken, speechSpan{item: e.ItemID, end: math.MaxInt64})
		s = &t.spoken[len(t.spoken)-1]
	}
	if e.AudioStart != nil {
		s.begin = time.Duration(*e.AudioStart) * time.Millisecond
	}
	if e.AudioEnd != nil {
		s.end = time.Duration(*e.AudioEnd) * time.Millisecond
	}
}

func (t *conversation) findSpeech(item string) *speechSpan {
	for i := range t.spoken {
		if t.spoken[i].item == item {
			return &t.spoken[i]
		}
	}
	return nil
}

// speakersOf returns who may have said an item: those who could be heard while it was said, or at any time if
// the server does not tell when that was.
func (t *conversation) speakersOf(item string) []string {
	s := t.findSpeech(item)
	if s == nil {
		s = &speechSpan{end: math.MaxInt64}
	}
	return t.session.mix.speakersBetween(s.begin, s.end)
}
