package browseagent

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

// Runtime is the name of this backend in [sessions.Task].
const Runtime = "local_browser_agent"

// Settings are read before each task. Zero fields have the default named beside them.
type Settings struct {
	StepTimeout      time.Duration // for each model call and each action: 30 s
	MaxSteps         int           // model calls per task without its own limit: 30
	SnapshotChars    int           // limit of a page state or page text: 20000
	HistorySnapshots int           // page states and pictures kept in full: 3
	HistoryChars     int           // limit of the conversation: 160000
	Instructions     string        // added to the system prompt
	HandOver         []string      // runtimes to which the model may hand a task over: none
}

// Fixed limits.
const (
	openTimeout = 5 * time.Minute // for opening the page, including starting the browser; each has shorter limits
	maxTokens   = 4096            // limit of one model answer
)

func (s Settings) withDefaults() Settings {
	s.StepTimeout = cmp.Or(max(0, s.StepTimeout), 30*time.Second)
	s.MaxSteps = cmp.Or(max(0, s.MaxSteps), 30)
	s.SnapshotChars = cmp.Or(max(0, s.SnapshotChars), 20000)
	s.HistorySnapshots = cmp.Or(max(0, s.HistorySnapshots), 3)
	s.HistoryChars = cmp.Or(max(0, s.HistoryChars), 160000)
	return s
}

// Agent is the backend. Set its exported fields before first use and do not change them; its methods are safe for
// concurrent use.
type Agent struct {
	Browser sessions.Browser
	// Model returns the model of that name, or the default for "".
	Model    func(ctx context.Context, name string) (llm.Model, error)
	Settings func() Settings     // called at the start of each task; nil means all defaults
	Places   map[string]string   // names that people use for URLs, for the model
	Logins   Logins              // nil means none
	Approver sessions.Approver   // asks for approval; nil approves everything but logins
	TakeOver agent.TakeOverAsker // nil: models cannot ask people to take control
	AskWords agent.PersonAsker   // nil: models cannot ask questions
	Steps    agent.StepGate      // waits for a slot before each step on a page; nil does not wait
	Logger   *slog.Logger        // nil means none
	Now      func() time.Time    // nil means time.Now

	cache agent.SessionCache[*sessionState]
}

var _ sessions.Backend = (*Agent)(nil)

// sessionState is the state of a session that the agent keeps between tasks.
type sessionState struct {
	history history
	view    pageView
	album   agent.Album
}

// Run implements [sessions.Backend].
func (a *Agent) Run(ctx context.Context, s sessions.Session, t sessions.Task) iter.Seq2[sessions.Step, error] {
	return func(yield func(sessions.Step, error) bool) {
		defer a.Browser.Rest(s.ID)
		load := func() (*sessionState, error) { return loadState(s) }
		a.cache.Run(ctx, s.ID, yield, load, func(ctx context.Context, h *agent.CachedSession[*sessionState],
			unread error,
		) error {
			h.State.adoptPage(s)
			r := &run{
				agent: a, state: h.State, opening: &h.PageMu, session: s, task: t, yield: yield,
				log: a.logger().With("session", s.ID, "task", t.ID),
			}
			err := r.work(ctx, unread)
			if limit, spent := agent.BudgetSpent(err); spent {
				text := agent.PartialAnswer(r.lastText, h.State.view.url, h.State.view.title, r.lastRead)
				return r.answer(ctx, agent.Outcome{Text: text, Limit: limit})
			}
			return err
		})
	}
}

// loadState restores the state of a session from its stored memory. unread is why the memory could not be read.
func loadState(s sessions.Session) (h *sessionState, unread error) {
	h = &sessionState{view: pageView{url: s.URL, title: s.Title}}
	h.history, unread = parseHistory(s.Memory)
	return h, unread
}

// adoptPage takes over the page where another runtime has left it.
func (h *sessionState) adoptPage(s sessions.Session) {
	if s.URL != "" && s.URL != h.view.url {
		h.view.reset()
		h.view.url, h.view.title = s.URL, s.Title
	}
}

// Close implements [sessions.Backend]. It cancels a running task of the session.
func (a *Agent) Close(ctx context.Context, sessionID string) error {
	return a.cache.Close(ctx, sessionID, a.Browser.Close)
}

// Park implements [sessions.Backend].
func (a *Agent) Park(ctx context.Context, sessionID string, must bool) (parked bool, err error) {
	return a.cache.Park(ctx, sessionID, must, a.Browser)
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
