package realtime

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"
)

// maxSpeechSpans is how many utterances are remembered until they have been put into words, or answered.
const maxSpeechSpans = 64

// speechSpan is where in the stream an item was said, as far as the server has reported it.
type speechSpan struct {
	item       string
	begin, end time.Duration
	committed  bool // it is part of the conversation
}

// handleSpeech handles the server's events about the begin and end of speech.
func (t *conversation) handleSpeech(e event) {
	if e.ItemID == "" {
		return
	}
	s := t.speech(e.ItemID)
	if e.AudioStart != nil {
		s.begin = time.Duration(*e.AudioStart) * time.Millisecond
	}
	if e.AudioEnd != nil {
		s.end = time.Duration(*e.AudioEnd) * time.Millisecond
	}
}

// speech returns what is known about an item. One that the server has not reported may have been said at any time.
func (t *conversation) speech(item string) *speechSpan {
	for i := range t.spoken {
		if t.spoken[i].item == item {
			return &t.spoken[i]
		}
	}
	if len(t.spoken) == maxSpeechSpans {
		t.spoken = t.spoken[1:]
	}
	t.spoken = append(t.spoken, speechSpan{item: item, end: math.MaxInt64})
	return &t.spoken[len(t.spoken)-1]
}

// speakersOf returns the people who may have said an item: those who could be heard while it was said, or at any time
// if the server did not report when.
func (t *conversation) speakersOf(item string) []string {
	s := t.speech(item)
	return t.session.mix.speakersBetween(s.begin, s.end)
}

// nameSpeakers tells the model who begins to speak, when that changes: it hears everyone as one voice.
func (t *conversation) nameSpeakers(ctx context.Context, item string) {
	who := t.speakersOf(item)
	if len(who) == 0 || slices.Equal(who, t.named) {
		return
	}
	t.named = who
	var names []string
	for _, id := range who {
		names = append(names, cmp.Or(t.session.on.Name(id), "somebody"))
	}
	t.addItem(ctx, textItem("["+strings.Join(names, " and ")+" speaking]"))
}

// commitUtterance records that an item is part of the conversation and waits for an answer. It may be reported more
// than once.
func (t *conversation) commitUtterance(item string) {
	s := t.speech(item)
	if s.committed && item != "" {
		return
	}
	s.committed = true
	t.pending = union(t.pending, orUnknown(t.speakersOf(item)))
}

// turns records whose words a response answers, which the server does not report: those of the people who spoke since
// the previous response began, of those who asked for the tools whose results it continues, and of those whom a
// cancelled response may not have answered.
type turns struct {
	pending  []string // whose words the next response answers
	response string   // that began last
	askers   []string // of that
}

// begin notes that a response has begun.
func (t *turns) begin(response string) {
	t.response, t.askers, t.pending = response, orUnknown(t.pending), nil
}

// reopen notes that the response that began last is not the whole answer.
func (t *turns) reopen() { t.pending = union(t.pending, t.askers) }

// askersOf returns whose words a response answers; "" is the one that began last.
func (t *turns) askersOf(response string) []string {
	if response != "" && response != t.response {
		return orUnknown(nil)
	}
	return orUnknown(t.askers)
}

// answered returns whose words are being answered, or were last.
func (t *conversation) answered() []string {
	if t.active == "" && t.requested {
		return orUnknown(t.pending)
	}
	return t.askers
}

// orUnknown returns ids, or the id of an unknown person if there are none.
func orUnknown(ids []string) []string {
	if len(ids) == 0 {
		return []string{""}
	}
	return ids
}

// union returns the ids of several lists, each once.
func union(lists ...[]string) []string {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all)
}

// isSpeech reports whether the item is speech.
func (i item) isSpeech() bool {
	return i.Role == "user" && slices.ContainsFunc(i.Content, func(c content) bool { return c.Type == "input_audio" })
}
