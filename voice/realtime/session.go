package realtime

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"clank/llm"
	"clank/sessions"
	"clank/voice"
	"clank/voice/speech/playout"
)

// Defaults of a [Session].
const (
	DefaultBaseURL = "https://api.openai.com/v1"
	DefaultModel   = "gpt-realtime-2.1"
)

// PlaybackPosition reports how much of a sound was played.
type PlaybackPosition interface {
	Played() time.Duration // that went out until now
}

// Usage is what one response used. It has no cost, since audio tokens have their own prices.
type Usage struct {
	llm.Usage
	AudioInput  int // audio tokens among the input
	AudioCached int // of these, read from a cache
	AudioOutput int // audio tokens among the output
}

// Listener receives what a [Session] does and answers its questions. Its methods are called from Run's goroutine and
// must not block, except Asker. The people of a response or a tool are the ids of everyone who could be heard in what
// it answers; "" among them stands for an unknown person.
type Listener interface { //nolint:interfacebloat // one place for all of it
	// Speak plays sound: an answer to some people begins to be heard.
	Speak(to []string, sound playout.SoundFunc) PlaybackPosition
	// StopPlayback stops playback because someone has begun to speak.
	StopPlayback(cause error)
	// Heard receives what someone said. by are the ids, in order, of everyone who could be heard meanwhile: one of them
	// said it, and if there are several it is not known who.
	Heard(by []string, text string)
	Answered(text string)                     // a complete answer
	Trouble(err *llm.Error)                   // something failed; the session continues
	Show(markdown string, images []llm.Image) // something to see, for the people in the call; for tools to call
	Name(id string) string                    // how somebody is called; "" if that is not known

	// Asker returns on whose behalf a tool is used that some people asked for. Its error tells the model why that is not
	// possible. It may block.
	Asker(ctx context.Context, by []string) (sessions.Origin, error)
}

// Meter counts what a [Session] uses, for the people who asked for it. Its methods are called from Run's goroutine.
type Meter interface {
	// CountResponse counts a response; Usage is zero if the server did not report it or the connection broke.
	CountResponse(by []string, u Usage)
	// CountTranscription counts speech that was put into words; zero if the server did not say how much.
	CountTranscription(by []string, length time.Duration)
}

// Session is one conversation. Set the fields, then Run. Hear, AddMessage, Interrupt and Cancel are safe for concurrent
// use at any time.
type Session struct {
	BaseURL      string // [DefaultBaseURL] when empty; https and wss are the same
	Key          string // may be empty for a local server
	Model        string // [DefaultModel] when empty
	Voice        string // the vendor's default when empty
	Instructions string

	// Tools run under a context that ends with Cancel, with CallTimeout, and with Run. They run at the same time, each on
	// a goroutine of its own.
	Tools []sessions.Tool

	// TranscriptionModel is the model that writes down what people say, without which it is not known; empty for none.
	TranscriptionModel string
	Language           string // of what people say, ISO 639-1; empty if any

	// Blind means that the server does not accept pictures in tool results. It is set automatically after a refusal.
	Blind bool
	// Describe returns in words what a picture shows that the server does not accept, on behalf of the person who asked
	// for it. It may block. If it is nil, the model is told that it cannot see the picture.
	Describe func(ctx context.Context, o sessions.Origin, p llm.Image) string

	MaxOutputTokens int // tokens of a response; the vendor's limit when zero

	Meter Meter // nil counts nothing

	// Dial, Idle and CallTimeout bound waiting: for a connection and its answer, for the next event of a response, for a
	// tool.
	Dial, Idle, CallTimeout time.Duration // 10 s, 30 s and 10 min when zero
	MaxOutage               time.Duration // without a connection, and Run ends; a minute when zero
	MaxAnswer               time.Duration // of one answer; the rest is dropped; 10 min when zero
	// before a first new try; 250 ms when zero, doubled with each up to 32 times that
	MinWait time.Duration

	HTTPClient *http.Client
	Logger     *slog.Logger

	on  Listener
	mix mixer

	commands voice.Queue[func(context.Context, *conversation)]

	mu    sync.Mutex
	tools map[string]runningTool // by the ids of their calls
	blind atomic.Bool            // as Blind, or found out
}

// runningTool is a tool that runs.
type runningTool struct {
	by     []string // the people who asked for it
	cancel context.CancelCauseFunc
}

// ErrInterrupted is passed to StopPlayback when someone begins to speak.
var ErrInterrupted = errors.New("somebody has begun to speak")

// Hear receives what someone says, at [voice.RateRealtime]. Speech of several people at the same time is mixed. Up to
// five seconds may arrive at once or wait for a connection; older sound is dropped. It never blocks.
func (s *Session) Hear(sound voice.Sound) { s.mix.add(sound.From, sound.Samples) }

// AddMessage adds a line of text as if someone had said it, and requests an answer.
func (s *Session) AddMessage(text string) {
	s.enqueue(func(ctx context.Context, t *conversation) {
		t.addItem(ctx, textItem(text))
		t.requestResponse(ctx)
	})
}

// Interrupt ends the current answer and tells the model how much of it was heard. Playback must have stopped by then.
// Tools continue.
func (s *Session) Interrupt() {
	s.enqueue(func(ctx context.Context, t *conversation) { t.interrupt(ctx, true) })
}

// Cancel ends the current answer, and the tools that person asked for, or all tools if person is empty. The model is
// told that they were cancelled, and no response is requested.
func (s *Session) Cancel(cause error, person string) {
	theirs := func(by []string) bool { return person == "" || slices.Contains(by, person) }
	s.enqueue(func(ctx context.Context, t *conversation) {
		if theirs(t.answered()) {
			t.cancelledID = t.active
			t.interrupt(ctx, true)
		}
		t.cancelCalls(theirs)
	})
	s.mu.Lock() // Run may be busy connecting
	defer s.mu.Unlock()
	for _, tool := range s.tools {
		if theirs(tool.by) {
			tool.cancel(cause)
		}
	}
}

// addTool notes that a tool runs that some people asked for, until the returned function is called.
func (s *Session) addTool(id string, by []string, cancel context.CancelCauseFunc) (ended func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tools == nil {
		s.tools = map[string]runningTool{}
	}
	s.tools[id] = runningTool{by, cancel}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.tools, id)
		cancel(nil)
	}
}

// enqueue has f done by Run.
func (s *Session) enqueue(f func(context.Context, *conversation)) { s.commands.Put(f, 0) }

// Run holds the conversation until ctx ends, which is no error. Any other end is a [*llm.Error]: the server refuses
// permanently, or could not be reached for MaxOutage. When it returns, everything that it started has ended.
func (s *Session) Run(ctx context.Context, on Listener) error {
	s.on = on
	s.blind.Store(s.Blind)
	ctx, stop := context.WithCancelCause(ctx)
	t := &conversation{session: s, calls: map[string]*toolCall{}, runContext: ctx}
	defer t.waitForEnd()
	defer stop(context.Canceled)
	wait, lost := s.minWait(), time.Now()
	for {
		began := time.Now()
		up, err := t.runConnection(ctx)
		t.handleDisconnect(err) // also at the end: what has been used so far counts
		if ctx.Err() != nil {
			return nil
		}
		if up && time.Since(began) >= s.stableAfter() {
			wait, lost = s.minWait(), time.Now()
		}
		failure := s.explain(err)
		if isFinal(failure) || time.Since(lost) >= cmp.Or(max(0, s.MaxOutage), time.Minute) {
			if failure.Hint == retryHint {
				failure.Hint = "trying again did not help: check the network and the server"
			}
			return failure
		}
		s.logger().Info("the conversation's connection is made again", "error", failure, "wait", wait)
		if !up && wait == s.minWait() {
			s.on.Trouble(failure)
		}
		if !t.waitRetry(ctx, max(wait, failure.RetryAfter)) {
			return nil
		}
		wait = min(2*wait, 32*s.minWait())
	}
}

// stableAfter returns how long a connection must last for its end not to count as another failure in a row.
func (s *Session) stableAfter() time.Duration {
	return min(10*time.Second, cmp.Or(max(0, s.MaxOutage), time.Minute))
}

func (s *Session) minWait() time.Duration { return cmp.Or(max(0, s.MinWait), 250*time.Millisecond) }

func (s *Session) logger() *slog.Logger { return cmp.Or(s.Logger, slog.New(slog.DiscardHandler)) }
