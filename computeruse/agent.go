package computeruse

import (
	"cmp"
	"context"
	"iter"
	"log/slog"
	"time"

	"clank/llm"
	"clank/sessions"
	"clank/sessions/agent"
)

// The names under which this backend is known in [sessions.Task]: an [Agent] for each vendor whose models are
// available.
const (
	RuntimeOpenAI    = "openai_computer_use"
	RuntimeAnthropic = "anthropic_computer_use"
	RuntimeGemini    = "gemini_computer_use"
)

// Settings are the values an operator may change while the program runs. A zero field has the default named beside it.
type Settings struct {
	StepTimeout  time.Duration // for each action, beside what it waits: 30 s
	MaxSteps     int           // batches of actions in one task that does not say: 25
	Instructions string        // added to the system prompt
	HandOver     []string      // runtimes to which the model may hand a task over; none: the tool is not there
}

// What no setting changes.
const (
	modelTimeout = 2 * time.Minute // for each answer of the model
	openTimeout  = time.Minute     // for starting the browser
	maxTokens    = 4096            // upper bound of one answer of the model
	maxTextChars = 20000           // upper bound of one text that a tool reads
)

func (s Settings) withDefaults() Settings {
	s.StepTimeout = cmp.Or(max(0, s.StepTimeout), 30*time.Second)
	s.MaxSteps = cmp.Or(max(0, s.MaxSteps), 25)
	return s
}

// Agent is the backend. Its exported fields are set before its first use and not changed after; its methods are safe
// for concurrent use.
type Agent struct {
	Browser sessions.Browser
	// Model returns the mind of that name ("provider:model"), or the default for "".
	Model    func(ctx context.Context, name string) (Model, error)
	Settings func() Settings   // asked at the start of each task; nil means all defaults
	Places   map[string]string // names people use for URLs, told to the model
	Approver sessions.Approver // asked before what people want to decide; nil asks nobody, and what a person must look at is not done
	Logger   *slog.Logger      // nil means none
	Now      func() time.Time  // nil means time.Now

	cache agent.SessionCache[*sessionState]
}

var _ sessions.Backend = (*Agent)(nil)

// sessionState is what the agent keeps of a session between its tasks.
type sessionState struct {
	memory     storedConversation
	url, title string
	pointer    CSSPoint     // where it was last seen
	releases   []screenMove // what lets go of the keys and buttons that are held down
}

// Run implements [sessions.Backend].
func (a *Agent) Run(ctx context.Context, s sessions.Session, t sessions.Task) iter.Seq2[sessions.Step, error] {
	return func(yield func(sessions.Step, error) bool) {
		load := func() (*sessionState, error) { return loadState(s) }
		a.cache.Run(ctx, s.ID, yield, load, func(ctx context.Context, h *agent.CachedSession[*sessionState], unread error) error {
			if s.URL != "" { // another backend may have worked the page since
				h.State.url, h.State.title = s.URL, s.Title
			}
			r := &run{
				agent: a, state: h.State, opening: &h.PageMu, session: s, task: t, yield: yield,
				log: a.logger().With("session", s.ID, "task", t.ID),
			}
			return r.work(llm.WithAccount(ctx, agent.AccountOf(s, t)), unread)
		})
	}
}

// loadState returns the state of a session that was not in memory, read from its stored memory. unread is why that
// could not be used.
func loadState(s sessions.Session) (h *sessionState, unread error) {
	h = &sessionState{url: s.URL, title: s.Title}
	h.memory, unread = parseConversation(s.Memory)
	return h, unread
}

// Close implements [sessions.Backend]. A task that still runs in the session ends.
func (a *Agent) Close(ctx context.Context, sessionID string) error {
	return a.cache.Close(ctx, sessionID, a.Browser.Close)
}

func (a *Agent) settings() Settings {
	if a.Settings == nil {
		return Settings{}.withDefaults()
	}
	return a.Settings().withDefaults()
}

func (a *Agent) logger() *slog.Logger { return cmp.Or(a.Logger, slog.New(slog.DiscardHandler)) }

func (a *Agent) now() time.Time {
	if a.Now == nil {
		return time.Now()
	}
	return a.Now()
}
