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

// PlaybackPosition tells what became of sound that was handed over to be played.
type PlaybackPosition interface {
	Played() time.Duration // that went out until now
}

// Usage counts what one response used. It has no cost, since tokens of sound have prices of their own.
type Usage struct {
	llm.Usage
	AudioInput  int // tokens of sound among those that went in
	AudioCached int // of these, read from a cache
	AudioOutput int // tokens of sound among those that came out
}

// Listener receives what a [Session] does, and answers its questions. Its methods are called from Run's goroutine and
// must not block, except Asker. Who asked for a response or a tool, or is answered, are all those by id who could be
// heard in what the response answers; "" among them stands for somebody of whom that is not known.
type Listener interface { //nolint:interfacebloat // one place for all of it
	// Speak plays sound: an answer to some people begins to be heard.
	Speak(to []string, sound playout.SoundFunc) PlaybackPosition
	// StopPlayback stops what is played: somebody has begun to speak.
	StopPlayback(cause error)
	// Heard takes what somebody said. by are those who could be heard meanwhile, in the order of their ids: one of them
	// said it, and where they are several it is not known who.
	Heard(by []string, text string)
	Answered(text string)                     // what was answered, whole
	Trouble(err *llm.Error)                   // something failed; the session continues
	Show(markdown string, images []llm.Image) // something to see, for those in the call; for tools to call
	Name(id string) string                    // how somebody is called; "" if that is not known

	// Asker returns on whose behalf a tool is used that some people asked for. The error tells the model why on
	// nobody's. It may block.
	Asker(ctx context.Context, by []string) (sessions.Origin, error)
}

// Meter counts what a [Session] uses, for the people who asked for it. Its methods are called from Run's goroutine.
type Meter interface {
	// CountResponse counts a response; a zero Usage where the server, or a broken connection, did not tell.
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

	// Blind says that the server takes no pictures of tools' results. What refuses one is known to be so from then on.
	Blind bool
	// Describe returns in words what a picture shows that the server does not take, on behalf of who asked for it. It
	// may block. nil: the model is told that it cannot see it.
	Describe func(ctx context.Context, o sessions.Origin, p llm.Image) string

	MaxOutputTokens int // tokens of a response; the vendor's limit when zero

	Meter Meter // nil counts nothing

	// Dial, Idle and CallTimeout bound waiting: for a connection and its answer, for the next event of a response, for a
	// tool.
	Dial, Idle, CallTimeout time.Duration // 10 s, 30 s and 10 min when zero
	MaxOutage               time.Duration // without a connection, and Run ends; a minute when zero
	MaxAnswer               time.Duration // of one answer; what comes after it is dropped; 10 min when zero
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
	by     []string // who asked for it
	cancel context.CancelCauseFunc
}

// ErrInterrupted is the cause that StopPlayback is given when somebody begins to speak.
var ErrInterrupted = errors.New("somebody has begun to speak")

// Hear takes what somebody says, at [voice.RateRealtime]. What several people say at the same time is mixed. Up to five
// seconds may come at once, or wait for a connection; what is older is dropped. It never blocks.
func (s *Session) Hear(sound voice.Sound) { s.mix.add(sound.From, sound.Samples) }

// AddMessage adds a line of text as if somebody had said it, and asks for an answer.
func (s *Session) AddMessage(text string) {
	s.enqueue(func(ctx context.Context, t *conversation) {
		t.addItem(ctx, textItem(text))
		t.requestResponse(ctx)
	})
}

// Interrupt ends the answer that is under way; the model learns how much of it was heard. What plays must have been
// silenced by then. Tools go on.
func (s *Session) Interrupt() {
	s.enqueue(func(ctx context.Context, t *conversation) { t.interrupt(ctx, true) })
}

// Cancel ends the answer that is under way and the tools that run, if person asked for them, or whoever did if that is
// empty; the model is told that they were cancelled, and is not asked what to say about it.
func (s *Session) Cancel(cause error, person string) {
	theirs := func(by []string) bool { return person == "" || slices.Contains(by, person) }
	s.enqueue(func(ctx context.Context, t *conversation) {
		if theirs(t.answered()) {
			t.cancelledID = t.active
			t.interrupt(ctx, true)
		}
		t.cancelCalls(theirs)
	})
	s.mu.Lock() // Run may be busy with making a connection
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

// Run talks until ctx ends, which is no error. Any other end is a [*llm.Error]: the server refuses for good, or could
// not be reached for MaxOutage. When it returns, nothing of it runs any more.
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
		t.handleDisconnect(err) // also at the end: what is under way was used
		if ctx.Err() != nil {
			return nil
		}
		if up && time.Since(began) >= s.stableAfter() {
			wait, lost = s.minWait(), time.Now()
		}
		failure := s.explain(err)
		if isFinal(failure) || time.Since(lost) >= cmp.Or(max(0, s.MaxOutage), time.Minute) {
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

// stableAfter returns how long a connection has to live for its end not to be one more failure of those before.
func (s *Session) stableAfter() time.Duration {
	return min(10*time.Second, cmp.Or(max(0, s.MaxOutage), time.Minute))
}

func (s *Session) minWait() time.Duration { return cmp.Or(max(0, s.MinWait), 250*time.Millisecond) }

func (s *Session) logger() *slog.Logger { return cmp.Or(s.Logger, slog.New(slog.DiscardHandler)) }
