package conversation_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"clank/cancel"
	"clank/internal/test/check"
	"clank/sessions"
	"clank/voice"
	"clank/voice/conversation"
)

// party is a call in a test.
type party struct {
	*conversation.Conversation

	t       *testing.T
	line    *line
	ear     *scriptedEar
	mouth   *scriptedMouth
	chat    *chat
	brain   *replier
	words   *transcriber
	spot    *spotter
	privacy *voice.PrivacyList
	host    *host
	scopes  *cancel.Scopes
	ended   chan error
	cancel  context.CancelCauseFunc
}

func newParty(t *testing.T) *party {
	t.Helper()
	p := &party{
		t: t, line: newLine(), ear: &scriptedEar{}, mouth: &scriptedMouth{}, chat: &chat{}, brain: &replier{},
		words: &transcriber{}, spot: &spotter{},
		host: &host{}, scopes: &cancel.Scopes{}, ended: make(chan error, 1),
	}
	var err error
	if p.privacy, err = voice.OpenPrivacyList(t.Context(), unsaved{}); err != nil {
		t.Fatal(err)
	}
	p.Conversation = &conversation.Conversation{
		Line: p.line, Location: conversation.Location{
			Kind: sessions.FromDiscord, Guild: "g", Channel: "v", TextChannel: "t",
			SelfID: "me",
		},
		Assistant: p.brain, Chat: p.chat, Player: p.mouth, Transcriber: p.words, Spotter: p.spot, Scopes: p.scopes,
		Privacy:  p.privacy,
		Detector: p.ear, Host: p.host,
	}
	return p
}

// inParty runs a test with a call, on the clock of synctest, and ends the call.
func inParty(t *testing.T, do func(p *party)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		do(p)
		p.end()
	})
}

// begin begins the call with these people, and waits until the notice has been said.
func (p *party) begin(people ...string) {
	p.t.Helper()
	ctx, cancel := context.WithCancelCause(p.t.Context())
	p.cancel = cancel
	go func() { p.ended <- p.Run(ctx) }()
	p.join("me")
	p.join(people...)
	p.line.events <- voice.Event{Kind: voice.Connected}
	p.wait(10 * time.Second)
}

func (p *party) join(people ...string) {
	for _, id := range people {
		p.line.events <- voice.Event{Kind: voice.Joined, Person: voice.Person{ID: id, Name: strings.ToUpper(id[:1]) + id[1:]}}
	}
	synctest.Wait()
}

func (p *party) leave(id string) {
	p.line.events <- voice.Event{Kind: voice.Left, Person: voice.Person{ID: id}}
	synctest.Wait()
}

// end ends the call, and returns why it ended.
func (p *party) end() error {
	p.t.Helper()
	p.cancel(&cancel.Cause{Reason: cancel.ShuttingDown})
	err := <-p.ended
	synctest.Wait()
	if p.spot.open != 0 || !p.ear.closed {
		p.t.Errorf("after the end %d spotters listen, ear closed: %v", p.spot.open, p.ear.closed)
	}
	select {
	case <-p.line.closed:
	default:
		p.t.Error("the call was not left")
	}
	return err
}

func (*party) wait(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // of synctest's clock
	synctest.Wait()
}

// sound has somebody make a sound for so long.
func (p *party) sound(id string, span time.Duration) {
	samples := make([]int16, 320)
	for i := range samples {
		samples[i] = int16(4000 - 8000*(i%2))
	}
	for voiced := voice.FrameTime; voiced <= span; voiced += voice.FrameTime {
		p.line.events <- voice.Event{Kind: voice.PacketReceived, Packet: voice.Packet{From: id}}
		p.ear.tell.Sound(voice.Sound{From: id, Rate: voice.RateSpeech, Samples: samples, At: time.Now()})
		p.wait(voice.FrameTime)
		if voiced == 3*voice.FrameTime || voiced%(5*voice.FrameTime) == 0 {
			p.ear.tell.Speaking(id, voiced, false)
		}
	}
	if span > 0 {
		time.AfterFunc(600*time.Millisecond, func() { p.ear.tell.Speaking(id, span, true) })
	}
	synctest.Wait()
}

// says has somebody say something, and waits until the end of it was noticed.
func (p *party) says(id, text string) {
	began := time.Now()
	p.sound(id, max(500*time.Millisecond, time.Duration(len(strings.Fields(text)))*250*time.Millisecond))
	ended := time.Now()
	p.wait(500 * time.Millisecond)
	p.utter(id, text, began, ended)
	p.wait(200 * time.Millisecond)
}

// utter ends an utterance, without a sound.
func (p *party) utter(id, text string, began, ended time.Time) {
	p.ear.tell.Ended(voice.Utterance{
		From: id, Packets: []voice.Packet{{From: id, Opus: []byte(text)}}, Began: began, Ended: ended, Loud: true,
	})
}

// spots has the spotter find a phrase.
func (p *party) spots(id, phrase string) {
	p.spot.mu.Lock()
	found := p.spot.found[id]
	p.spot.mu.Unlock()
	if found == nil {
		p.t.Fatalf("nobody listens to %s", id)
	}
	found(voice.SpottedPhrase{From: id, Phrase: phrase, At: time.Now()})
	synctest.Wait()
}

// work starts work in a channel and returns its context.
func (p *party) work(channel, owner string) context.Context {
	ctx, h := p.scopes.Begin(p.t.Context(), cancel.Scope{Guild: "g", Channel: channel},
		cancel.Work{ID: channel + owner, Owner: owner})
	p.t.Cleanup(h.End)
	return ctx
}

// optOut leaves somebody out, or not any more, as the command does.
func (p *party) optOut(id string, out bool) {
	p.t.Helper()
	check.Must(p.t, p.privacy.Set(p.t.Context(), "g", id, out))
}

func (p *party) wantAsked(want ...string) {
	p.t.Helper()
	check.Diff(p.t, "asked", p.brain.asked(), want)
}

func (p *party) wantQuestions(want int) {
	p.t.Helper()
	if got := p.brain.asked(); len(got) != want {
		p.t.Errorf("asked %d times, want %d: %q", len(got), want, got)
	}
}

func (p *party) wantStopped(work context.Context) {
	p.t.Helper()
	if work.Err() == nil {
		p.t.Error("the work goes on")
	}
}

// wantActive fails unless so much runs, or waits, in the channel of the call.
func (p *party) wantActive(want int) {
	p.t.Helper()
	if got := p.scopes.Active(cancel.Scope{Guild: "g", Channel: "v"}); len(got) != want {
		p.t.Errorf("active = %v, want %d", got, want)
	}
}

func (p *party) wantEnd(got, want error) {
	p.t.Helper()
	check.Fails(p.t, got, want)
}

func (p *party) wantText(got, want string) {
	p.t.Helper()
	check.Equal(p.t, "text", got, want)
}

func (p *party) wantSuffix(got, want string) {
	p.t.Helper()
	if !strings.HasSuffix(got, want) {
		p.t.Errorf("got %q, want it to end with %q", got, want)
	}
}

func (p *party) wantIn(got string, want ...string) {
	p.t.Helper()
	check.Contains(p.t, got, want...)
}

func (p *party) wantCount(got, what string, want int) {
	p.t.Helper()
	if n := strings.Count(got, what); n != want {
		p.t.Errorf("%q is %d times in %q, want %d", what, n, got, want)
	}
}

var errBroken = errors.New("the line is broken")
