package realtime

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"

	"clank/llm"
	"clank/voice/audio"
)

// talk is how the conversation stands, over all of its connections. It belongs to Run's goroutine.
type talk struct {
	s       *Session
	conn    *websocket.Conn                                   // nil while there is none
	failed  error                                             // of a write, which ends the connection
	under   func() (context.Context, context.CancelCauseFunc) // makes contexts that outlive a connection
	history history
	ids     int

	active string    // the response that is under way
	asked  bool      // for one that has not begun
	owed   bool      // one is to be asked for when none is under way
	quash  bool      // the one that was asked for is not wanted any more
	cut    string    // the response that was interrupted last
	dead   string    // the one that was cancelled, whose tools are not to run
	voiced bool      // something of the response under way can be heard
	last   time.Time // when something came, or was asked for

	spoken  []spoken  // what people say on this connection, the latest last
	answers []*answer // that may not have been heard to their end
	calls   map[string]*call
	order   []string // of their ids
	running sync.WaitGroup
}

// id makes an id for an item of ours.
func (t *talk) id() string {
	t.ids++
	return "clank_" + strconv.Itoa(t.ids)
}

// create adds an item to the conversation, now or with the next connection.
func (t *talk) create(ctx context.Context, i item) {
	i.ID = t.id()
	t.history.add(i)
	t.send(ctx, createEvent{"conversation.item.create", i})
}

// ask asks for a response, or will when the one under way is done.
func (t *talk) ask(ctx context.Context) {
	if t.active != "" || t.asked || t.conn == nil {
		t.owed = true
		return
	}
	t.owed, t.asked, t.last = false, true, time.Now()
	t.send(ctx, plainEvent{"response.create"})
}

// settle asks for what is owed.
func (t *talk) settle(ctx context.Context) {
	if t.owed {
		t.ask(ctx)
	}
}

// handle takes one event. An error ends the connection.
func (t *talk) handle(ctx context.Context, e event) error {
	t.last = time.Now()
	switch e.Type {
	case "input_audio_buffer.speech_started":
		t.speaks(e)
		t.interrupt(ctx, false)
	case "input_audio_buffer.speech_stopped":
		t.speaks(e)
	case "conversation.item.added", "conversation.item.done", "response.output_item.added", "response.output_item.done":
		if e.Item != nil {
			t.history.add(*e.Item)
		}
	case "conversation.item.input_audio_transcription.completed":
		t.history.words(e.ItemID, "user", e.Transcript)
		if t.s.Transcribed != nil {
			t.s.Transcribed(e.Usage.length())
		}
		if t.s.Heard != nil && e.Transcript != "" {
			t.s.Heard(t.by(e.ItemID), e.Transcript)
		}
	case "conversation.item.input_audio_transcription.failed":
		t.trouble(e.Error)
	case "response.created":
		t.begun(ctx, e.Response)
	case "response.output_audio.delta":
		return t.sound(e)
	case "response.output_audio.done":
		return t.ended(e.ItemID)
	case "response.output_audio_transcript.delta", "response.output_text.delta":
		t.says(e, t.history.said(e.ItemID)+e.Delta)
	case "response.output_audio_transcript.done", "response.output_text.done":
		text := cmp.Or(e.Transcript, e.Text)
		if t.says(e, text) {
			tell(t.s.Said, text)
		}
	case "response.function_call_arguments.done":
		t.called(ctx, e.ResponseID, item{ID: e.ItemID, Type: "function_call", Name: e.Name, CallID: e.CallID, Arguments: &e.Arguments})
	case "response.done":
		t.done(ctx, e.Response)
	case "error":
		return t.wrong(e.Error)
	}
	return nil
}

func tell(f func(string), text string) {
	if f != nil && text != "" {
		f(text)
	}
}

// says notes what the model says, and reports whether it still counts.
func (t *talk) says(e event, text string) bool {
	if t.cut != "" && e.ResponseID == t.cut {
		return false
	}
	t.history.words(e.ItemID, "assistant", text)
	return true
}

func (t *talk) begun(ctx context.Context, r *response) {
	t.asked, t.owed = false, false
	if r == nil {
		return
	}
	t.active, t.voiced = r.ID, false
	if t.quash {
		t.quash, t.cut, t.dead = false, r.ID, r.ID
		t.send(ctx, plainEvent{"response.cancel"})
	}
}

// sound takes a piece of the answer.
func (t *talk) sound(e event) error {
	if t.cut != "" && e.ResponseID == t.cut {
		return nil // what comes after an interruption
	}
	t.voiced = true
	if n := len(t.answers); n >= maxAnswers && t.answers[n-1].id != e.ItemID {
		return nil // nobody answers in so many pieces
	}
	pcm, err := base64.StdEncoding.DecodeString(e.Delta)
	if err != nil {
		t.s.logger().Debug("a piece of sound cannot be read", "error", err)
		return nil
	}
	var a *answer
	if n := len(t.answers); n > 0 && t.answers[n-1].id == e.ItemID {
		a = t.answers[n-1]
	} else {
		t.answers = slices.DeleteFunc(t.answers, func(a *answer) bool { return a.heard() >= a.length() })
		if a, err = newAnswer(e.ItemID); err != nil {
			return err
		}
		t.answers = append(t.answers, a)
		if t.s.Speak != nil {
			a.playing = t.s.Speak(a.sound)
		}
	}
	if a.length() >= positive(t.s.Longest, 10*time.Minute) {
		return nil
	}
	return a.add(audio.PCM(pcm))
}

// maxAnswers is how many pieces of answers wait to be heard.
const maxAnswers = 32

// ended says that nothing more comes of one item's sound, or of any if id is empty.
func (t *talk) ended(id string) error {
	var err error
	for _, a := range t.answers {
		if id == "" || a.id == id {
			err = errors.Join(err, a.end())
		}
	}
	return err
}

// interrupt ends what is being answered and tells the server how much of it was heard. Where the server has heard somebody
// begin to speak, it cancels its response itself.
func (t *talk) interrupt(ctx context.Context, cancel bool) {
	answers := slices.DeleteFunc(t.answers, func(a *answer) bool { return a.heard() >= a.length() && t.active == "" })
	t.answers = nil
	if !cancel && t.s.Hush != nil && (len(answers) > 0 || t.active != "") {
		t.s.Hush(ErrInterrupted)
	}
	for _, a := range answers {
		if err := a.end(); err != nil {
			t.s.logger().Debug("the end of an answer cannot be encoded", "error", err)
		}
		heard, length := a.heard(), a.length()
		if heard >= length || a.gone {
			continue
		}
		t.history.cut(a.id, float64(heard)/float64(length))
		t.send(ctx, truncateEvent{Type: "conversation.item.truncate", EventID: truncated, ItemID: a.id, AudioEndMS: heard.Milliseconds()})
	}
	if t.active != "" {
		already := t.cut == t.active
		t.cut = t.active
		if cancel && !already {
			t.send(ctx, plainEvent{"response.cancel"})
		}
	} else if t.asked && cancel {
		t.quash = true
	}
}

// done ends a response.
func (t *talk) done(ctx context.Context, r *response) {
	t.active, t.asked = "", false
	if err := t.ended(""); err != nil {
		t.s.logger().Debug("the end of an answer cannot be encoded", "error", err)
	}
	if r != nil {
		if r.Usage != nil {
			t.used(r.Usage.used())
		} else if r.Status != "failed" {
			t.used(Usage{})
		}
		if r.Status == "failed" {
			t.trouble(r.StatusDetails.Error)
		}
		for _, i := range r.Output {
			if i.Type == "function_call" && r.Status == "completed" {
				t.called(ctx, r.ID, i)
			}
		}
	}
	t.settle(ctx)
}

// wrong takes an error event. What says that the conversation cannot go on is returned.
func (t *talk) wrong(f *failure) error {
	if f == nil {
		f = &failure{}
	}
	err := &toldError{*f}
	switch {
	case f.EventID == truncated, f.Code == "response_cancel_not_active":
		t.s.logger().Debug("the server had nothing to interrupt", "error", err)
	case f.Code == "conversation_already_has_active_response":
		t.asked, t.owed = false, true
	case f.EventID == configured, f.Code == "session_expired":
		return err
	default:
		if kind, _ := kindOf(*f); kind == llm.ErrAuth {
			return err
		}
		t.trouble(f)
	}
	return nil
}

func (t *talk) trouble(f *failure) {
	if f == nil {
		f = &failure{}
	}
	if t.s.Trouble != nil {
		t.s.Trouble(t.s.explain(&toldError{*f}))
	}
}

// used tells what a response used; nothing where that is not known.
func (t *talk) used(u Usage) {
	if t.s.Used != nil {
		t.s.Used(u)
	}
}

// broken takes note that there is no connection any more.
func (t *talk) broken(err error) {
	if t.active != "" {
		t.used(Usage{})
	}
	if t.lacks() {
		t.owed = true
	}
	t.s.logger().Debug("the connection broke", "error", err, "owed", t.owed)
	t.conn, t.failed, t.active, t.asked, t.quash, t.cut = nil, nil, "", false, false, ""
	if err := t.ended(""); err != nil {
		t.s.logger().Debug("the end of an answer cannot be encoded", "error", err)
	}
	for _, a := range t.answers { // the next server does not know them
		a.gone = true
	}
}

// lacks reports whether a response is under way of which nothing was heard and nothing will come by itself.
func (t *talk) lacks() bool {
	if t.active == "" {
		return t.asked && !t.quash
	}
	for _, c := range t.calls {
		if c.response == t.active && !c.answered {
			return false
		}
	}
	return !t.voiced && t.cut != t.active
}

// end waits until all that runs has ended.
func (t *talk) end() {
	_ = t.ended("")
	t.running.Wait()
}
