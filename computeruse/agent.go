package computeruse

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"time"

	"clank/computeruse/picture"
	"clank/sessions"
)

// The names under which this backend is known in [sessions.Task]: an [Agent] for
// each vendor whose models are available.
const (
	RuntimeOpenAI    = "openai_computer_use"
	RuntimeAnthropic = "anthropic_computer_use"
	RuntimeGemini    = "gemini_computer_use"
)

// Settings are the values an operator may change while the program runs. A zero
// field has the default named beside it.
type Settings struct {
	StepTimeout  time.Duration // for each action, beside what it waits: 30 s
	ModelTimeout time.Duration // for each answer of the model: 2 min
	OpenTimeout  time.Duration // for starting the browser: 60 s
	MaxSteps     int           // batches of actions in one task that does not say: 25
	MaxTokens    int           // upper bound of one answer of the model: 4096
	TextChars    int           // upper bound of one text that a tool reads: 20000
	Instructions string        // added to the system prompt
	HandOver     []string      // runtimes to which the model may hand a task over; none: the tool is not there
}

func (s Settings) withDefaults() Settings {
	s.StepTimeout = orDefault(s.StepTimeout, 30*time.Second)
	s.ModelTimeout = orDefault(s.ModelTimeout, 2*time.Minute)
	s.OpenTimeout = orDefault(s.OpenTimeout, time.Minute)
	s.MaxSteps = orDefault(s.MaxSteps, 25)
	s.MaxTokens = orDefault(s.MaxTokens, 4096)
	s.TextChars = orDefault(s.TextChars, 20000)
	return s
}

func orDefault[T int | time.Duration](v, def T) T {
	if v <= 0 {
		return def
	}
	return v
}

// Agent is the backend. Its exported fields are set before its first use and not
// changed after; its methods are safe for concurrent use.
type Agent struct {
	Browser Browser
	// Mind returns the mind of that name ("provider:model"), or the default for "".
	Mind     func(ctx context.Context, name string) (Mind, error)
	Settings func() Settings   // asked at the start of each task; nil means all defaults
	Places   map[string]string // names people use for URLs, told to the model
	Consent  sessions.Consent  // asked before what people want to decide; nil asks nobody, and what a person must look at is not done
	Logger   *slog.Logger      // nil means none
	Now      func() time.Time  // nil means time.Now

	mu   sync.Mutex
	held map[string]*held
}

var _ sessions.Backend = (*Agent)(nil)

// held is what the agent keeps of a session between its tasks. Only the task
// that runs touches memory, url, title, mouse and down.
type held struct {
	memory     memory
	url, title string
	mouse      picture.Point // where it was last seen
	down       []move        // what lets go of the keys and buttons that are held down

	stop context.CancelCauseFunc // ends the running task; nil when none runs; guarded by Agent.mu

	// page serialises opening and closing, so that a page which is being opened
	// while the session is closed does not stay behind.
	page sync.Mutex
}

var (
	errClosed   = errors.New("the session was closed")
	errGone     = errors.New("the consumer stopped ranging")
	errLateOpen = errors.New("the browser did not open in time")
)

// Run implements [sessions.Backend].
func (a *Agent) Run(ctx context.Context, s sessions.Session, t sessions.Task) iter.Seq2[sessions.Step, error] {
	return func(yield func(sessions.Step, error) bool) {
		if ctx.Err() != nil {
			yield(sessions.Step{}, context.Cause(ctx))
			return
		}
		ctx, stop := context.WithCancelCause(ctx)
		defer stop(context.Canceled)
		h, unread, err := a.hold(s, stop)
		if err != nil {
			yield(sessions.Step{}, err)
			return
		}
		defer a.release(h)
		r := &run{agent: a, held: h, session: s, task: t, yield: yield, log: a.logger().With("session", s.ID, "task", t.ID)}
		if err := r.work(account(ctx, s, t), unread); err != nil && !errors.Is(err, errGone) {
			yield(sessions.Step{}, err)
		}
	}
}

// hold returns what is kept of session s, made from its memory if need be, and
// marks it as running. unread is why a memory could not be used.
func (a *Agent) hold(s sessions.Session, stop context.CancelCauseFunc) (h *held, unread, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	h = a.held[s.ID]
	if h == nil {
		h = &held{url: s.URL, title: s.Title}
		h.memory, unread = readMemory(s.Memory)
		if a.held == nil {
			a.held = make(map[string]*held)
		}
		a.held[s.ID] = h
	}
	if h.stop != nil {
		return nil, nil, fmt.Errorf("session %s is busy with another task: wait for it or stop it", s.ID)
	}
	h.stop = stop
	if s.URL != "" { // another backend may have worked the page since
		h.url, h.title = s.URL, s.Title
	}
	return h, unread, nil
}

func (a *Agent) release(h *held) {
	a.mu.Lock()
	defer a.mu.Unlock()
	h.stop = nil
}

// Close implements [sessions.Backend]. A task that still runs in the session
// ends.
func (a *Agent) Close(ctx context.Context, sessionID string) error {
	a.mu.Lock()
	h := a.held[sessionID]
	delete(a.held, sessionID)
	if h != nil && h.stop != nil {
		h.stop(errClosed)
	}
	a.mu.Unlock()
	if h != nil {
		h.page.Lock()
		defer h.page.Unlock()
	}
	if err := a.Browser.Close(ctx, sessionID); err != nil {
		return fmt.Errorf("close the browser of session %s: %w", sessionID, err)
	}
	return nil
}

func (a *Agent) settings() Settings {
	if a.Settings == nil {
		return Settings{}.withDefaults()
	}
	return a.Settings().withDefaults()
}

func (a *Agent) logger() *slog.Logger {
	if a.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return a.Logger
}

func (a *Agent) now() time.Time {
	if a.Now == nil {
		return time.Now()
	}
	return a.Now()
}
