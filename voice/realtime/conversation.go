package realtime

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"clank/llm"
	"clank/voice"

	"github.com/coder/websocket"
)

// conversation is the state of the conversation across all of its connections. It belongs to Run's goroutine.
type conversation struct {
	session    *Session
	conn       *websocket.Conn // nil while there is none
	failed     error           // of a write, which ends the connection
	runContext context.Context //nolint:containedctx // of Run, for what outlives a connection
	history    history
	ids        int

	active         string    // the response that is under way
	requested      bool      // for one that has not begun
	requestPending bool      // a response will be requested when none is running
	cancelNext     bool      // the requested response is no longer wanted
	interruptedID  string    // the response that was interrupted last
	cancelledID    string    // the one that was cancelled, whose tools are not to run
	audible        bool      // something of the response under way can be heard
	last           time.Time // when something came, or was asked for

	spoken []speechSpan // what people say on this connection, the latest last
	turns
	answers []*answerSound // that may not have been heard to their end
	calls   map[string]*toolCall
	order   []string // of their ids
	running sync.WaitGroup

	offered map[string]pictures // that the server may still refuse, by the ids of their items
	unseen  []pictures          // for the next connection
	named   []string            // the names that the model was told last
}

// newID returns an id for one of our items.
func (t *conversation) newID() string {
	t.ids++
	return ownIDs + strconv.Itoa(t.ids)
}

const ownIDs = "clank_" // begin the ids of our items

// addItem adds an item to the conversation, now or with the next connection.
func (t *conversation) addItem(ctx context.Context, i item) {
	i.ID = t.newID()
	t.history.add(i)
	t.sendItem(ctx, i)
}

// sendItem sends an item if there is a connection. An error about it contains its id.
func (t *conversation) sendItem(ctx context.Context, i item) {
	t.send(ctx, createEvent{"conversation.item.create", i.ID, i})
}

// requestResponse asks for a response, or will when the one under way is done.
func (t *conversation) requestResponse(ctx context.Context) {
	if t.active != "" || t.requested || t.conn == nil {
		t.requestPending = true
		return
	}
	t.requestPending, t.requested, t.last = false, true, time.Now()
	t.send(ctx, plainEvent{"response.create"})
}

// requestPendingResponse requests the pending response, if any.
func (t *conversation) requestPendingResponse(ctx context.Context) {
	if t.requestPending {
		t.requestResponse(ctx)
	}
}

// handleEvent handles one event. An error ends the connection.
func (t *conversation) handleEvent(ctx context.Context, e event) error {
	t.last = time.Now()
	switch e.Type {
	case "input_audio_buffer.speech_started":
		t.handleSpeech(e)
		t.interrupt(ctx, false)
		t.nameSpeakers(ctx, e.ItemID)
	case "input_audio_buffer.speech_stopped":
		t.handleSpeech(e)
	case "conversation.item.added", "conversation.item.done", "response.output_item.added", "response.output_item.done":
		if e.Item != nil {
			if e.Item.isSpeech() {
				t.commitUtterance(e.Item.ID)
			}
			if delete(t.offered, e.Item.ID); !strings.HasPrefix(e.Item.ID, ownIDs) {
				t.history.add(*e.Item)
			}
		}
	case "input_audio_buffer.committed":
		t.commitUtterance(e.ItemID)
	case "conversation.item.input_audio_transcription.completed":
		t.history.setText(e.ItemID, "user", e.Transcript)
		if t.session.Meter != nil {
			t.session.Meter.CountTranscription(t.speakersOf(e.ItemID), e.Usage.length())
		}
		if e.Transcript != "" {
			t.session.on.Heard(t.speakersOf(e.ItemID), e.Transcript)
		}
	case "conversation.item.input_audio_transcription.failed":
		t.reportTrouble(e.Error)
	case "response.created":
		t.handleResponseStart(ctx, e.Response)
	case "response.output_audio.delta":
		return t.handleSound(e)
	case "response.output_audio.done":
		return t.endAnswers(e.ItemID)
	case "response.output_audio_transcript.delta", "response.output_text.delta":
		t.handleAnswerText(e, t.history.textOf(e.ItemID)+e.Delta)
	case "response.output_audio_transcript.done", "response.output_text.done":
		text := cmp.Or(e.Transcript, e.Text)
		if t.handleAnswerText(e, text) && text != "" {
			t.session.on.Answered(text)
		}
	case "response.function_call_arguments.done":
		t.handleToolCall(ctx, e.ResponseID, item{
			ID: e.ItemID, Type: "function_call", Name: e.Name, CallID: e.CallID,
			Arguments: &e.Arguments,
		})
	case "response.done":
		t.handleResponseEnd(ctx, e.Response)
	case "error":
		return t.handleError(e.Error)
	}
	return nil
}

// handleAnswerText records text of the model and reports whether it still counts.
func (t *conversation) handleAnswerText(e event, text string) bool {
	if t.interruptedID != "" && e.ResponseID == t.interruptedID {
		return false
	}
	t.history.setText(e.ItemID, "assistant", text)
	return true
}

func (t *conversation) handleResponseStart(ctx context.Context, r *response) {
	t.requestPending = t.requestPending && t.requested // for input that came after the request
	t.requested = false
	if r == nil {
		return
	}
	t.active, t.audible = r.ID, false
	t.begin(r.ID)
	if t.cancelNext {
		t.cancelNext, t.interruptedID, t.cancelledID = false, r.ID, r.ID
		t.send(ctx, plainEvent{"response.cancel"})
	}
}

// handleSound handles a piece of the answer.
func (t *conversation) handleSound(e event) error {
	if t.interruptedID != "" && e.ResponseID == t.interruptedID {
		return nil // of an answer that was interrupted
	}
	t.audible = true
	if n := len(t.answers); n >= maxAnswers && t.answers[n-1].id != e.ItemID {
		return nil // no answer has so many pieces
	}
	pcm, err := base64.StdEncoding.DecodeString(e.Delta)
	if err != nil {
		t.session.logger().Debug("a piece of sound cannot be read", "error", err)
		return nil
	}
	var a *answerSound
	if n := len(t.answers); n > 0 && t.answers[n-1].id == e.ItemID {
		a = t.answers[n-1]
	} else {
		t.answers = slices.DeleteFunc(t.answers, func(a *answerSound) bool { return a.playedLength() >= a.length() })
		if a, err = newAnswerSound(e.ItemID); err != nil {
			return err
		}
		t.answers = append(t.answers, a)
		a.playing = t.session.on.Speak(t.askersOf(e.ResponseID), a.packetSeq)
	}
	if a.length() >= cmp.Or(max(0, t.session.MaxAnswer), 10*time.Minute) {
		return nil
	}
	return a.add(voice.ParsePCM(pcm))
}

// maxAnswers is how many pieces of answers wait to be heard.
const maxAnswers = 32

// endAnswers ends the sound of one item, or of all if id is empty.
func (t *conversation) endAnswers(id string) error {
	var err error
	for _, a := range t.answers {
		if id == "" || a.id == id {
			err = errors.Join(err, a.end())
		}
	}
	return err
}

// interrupt ends the current answer and tells the server how much of it was heard. If the server detected speech, it
// cancels its response itself.
func (t *conversation) interrupt(ctx context.Context, cancel bool) {
	answers := slices.DeleteFunc(t.answers, func(a *answerSound) bool {
		return a.playedLength() >= a.length() && t.active == ""
	})
	t.answers = nil
	if !cancel && (len(answers) > 0 || t.active != "") {
		t.session.on.StopPlayback(ErrInterrupted)
	}
	for _, a := range answers {
		if err := a.end(); err != nil {
			t.session.logger().Debug("the end of an answer cannot be encoded", "error", err)
		}
		heard, length := a.playedLength(), a.length()
		if heard >= length || a.disconnected {
			continue
		}
		t.history.truncate(a.id, float64(heard)/float64(length))
		t.send(ctx, truncateEvent{
			Type: "conversation.item.truncate", EventID: truncateEventID, ItemID: a.id,
			AudioEndMS: heard.Milliseconds(),
		})
	}
	if t.active != "" {
		already := t.interruptedID == t.active
		t.interruptedID = t.active
		if cancel && !already {
			t.send(ctx, plainEvent{"response.cancel"})
		}
	} else if t.requested && cancel {
		t.cancelNext = true
	}
}

func (t *conversation) handleResponseEnd(ctx context.Context, r *response) {
	t.active, t.requested = "", false
	if err := t.endAnswers(""); err != nil {
		t.session.logger().Debug("the end of an answer cannot be encoded", "error", err)
	}
	if r == nil || r.Status != "completed" {
		t.reopen()
	}
	if r != nil {
		if r.Usage != nil {
			t.recordUsage(r.Usage.used())
		} else if r.Status != "failed" {
			t.recordUsage(Usage{})
		}
		if r.Status == "failed" {
			t.reportTrouble(r.StatusDetails.Error)
		}
		for _, i := range r.Output {
			if i.Type == "function_call" && r.Status == "completed" {
				t.handleToolCall(ctx, r.ID, i)
			}
		}
	}
	t.requestPendingResponse(ctx)
}

// handleError handles an error event. It returns errors after which the conversation cannot continue.
func (t *conversation) handleError(f *failure) error {
	if f == nil {
		f = &failure{}
	}
	err := &serverError{*f}
	switch {
	case f.EventID == truncateEventID, f.Code == "response_cancel_not_active":
		t.session.logger().Debug("the server had nothing to interrupt", "error", err)
	case len(t.offered[f.EventID].images) > 0:
		t.describeRefused(f.EventID, err)
	case f.Code == "conversation_already_has_active_response":
		t.requested, t.requestPending = false, true
		t.reopen() // that response may have begun with what this one was for
	case f.EventID == configureEventID, f.Code == "session_expired":
		return err
	default:
		if kind, _ := kindOf(*f); kind == llm.ErrAuth {
			return err
		}
		t.reportTrouble(f)
	}
	return nil
}

func (t *conversation) reportTrouble(f *failure) {
	if f == nil {
		f = &failure{}
	}
	t.session.on.Trouble(t.session.explain(&serverError{*f}))
}

// recordUsage reports what a response used, if known.
func (t *conversation) recordUsage(u Usage) {
	if t.session.Meter != nil {
		t.session.Meter.CountResponse(t.askers, u)
	}
}

// handleDisconnect handles the loss of the connection.
func (t *conversation) handleDisconnect(err error) {
	if t.active != "" {
		t.recordUsage(Usage{})
	}
	if t.needsNewResponse() {
		t.requestPending = true
	}
	if t.active != "" {
		t.reopen()
	}
	t.session.logger().Debug("the connection broke", "error", err, "owed", t.requestPending)
	t.conn, t.failed, t.active, t.requested, t.cancelNext, t.interruptedID = nil, nil, "", false, false, ""
	if err := t.endAnswers(""); err != nil {
		t.session.logger().Debug("the end of an answer cannot be encoded", "error", err)
	}
	t.offered, t.named = nil, nil
	for _, a := range t.answers { // the next server does not know them
		a.disconnected = true
	}
}

// needsNewResponse reports whether a response is under way of which nothing was heard and nothing will come by itself.
func (t *conversation) needsNewResponse() bool {
	if t.active == "" {
		return t.requested && !t.cancelNext
	}
	for _, c := range t.calls {
		if c.response == t.active && !c.answered {
			return false
		}
	}
	return !t.audible && t.interruptedID != t.active
}

// waitForEnd waits until all that runs has ended.
func (t *conversation) waitForEnd() {
	_ = t.endAnswers("")
	t.running.Wait()
}
