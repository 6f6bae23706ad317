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

// Runtime is the name under which this backend is known in [sessions.Task].
const Runtime = "local_browser_agent"

// Settings are asked for before each task. A zero field has the default named beside it.
type Settings struct {
	StepTimeout      time.Duration // for each model call and each action: 30 s
	MaxSteps         int           // model calls in one task that does not say: 30
	SnapshotChars    int           // upper bound of one page state or page text: 20000
	HistorySnapshots int           // page states and pictures kept in full: 3
	HistoryChars     int           // upper bound of the conversation: 160000
	Instructions     string        // added to the system prompt
	HandOver         []string      // runtimes that the model may leave the rest of a task to: none
}

// What no setting changes.
const (
	openTimeout = time.Minute // for starting the browser
	maxTokens   = 4096        // upper bound of one answer of the model
)

func (s Settings) withDefaults() Settings {
	s.StepTimeout = cmp.Or(max(0, s.StepTimeout), 30*time.Second)
	s.MaxSteps = cmp.Or(max(0, s.MaxSteps), 30)
	s.SnapshotChars = cmp.Or(max(0, s.SnapshotChars), 20000)
	s.HistorySnapshots = cmp.Or(max(0, s.HistorySnapshots), 3)
	s.HistoryChars = cmp.Or(max(0, s.HistoryChars), 160000)
	return s
}

// Agent is the backend. Its exported fields are set before its first use and not changed after; its methods are safe
// for concurrent use.
type Agent struct {
	Browser sessions.Browser
	// Model returns the model of that name, or the default for "".
	Model    func(ctx context.Context, name string) (llm.Model, error)
	Settings func() Settings     // asked at the start of each task; nil means all defaults
	Places   map[string]string   // names people use for URLs, told to the model
	Logins   Logins              // nil means none
	Approver sessions.Approver   // asked before what people want to decide; nil asks nobody
	TakeOver agent.TakeOverAsker // nil: models cannot ask for a person's hands
	AskWords agent.PersonAsker   // nil: models cannot ask a person anything
	Logger   *slog.Logger        // nil means none
	Now      func() time.Time    // nil means time.Now

	cache agent.SessionCache[*sessionState]
}

var _ sessions.Backend = (*Agent)(nil)

// sessionState is what the agent keeps of a session between its tasks.
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
		a.cache.Run(ctx, s.ID, yield, load, func(ctx context.Context, h *agent.CachedSession[*sessionState], unread error) error {
			h.State.noteOtherRuntime(s)
			r := &run{
				agent: a, state: h.State, opening: &h.PageMu, session: s, task: t, yield: yield,
				log: a.logger().With("session", s.ID, "task", t.ID),
			}
			err := r.work(ctx, unread)
			if limit, spent := agent.BudgetSpent(err); spent {
				text := agent.PartialAnswer(r.remark, h.State.view.url, h.State.view.title, r.lastRead)
				return r.answer(ctx, agent.Outcome{Text: text, Limit: limit})
			}
			return err
		})
	}
}

// loadState returns the state of a session that was not in memory, read from its stored memory. unread is why that
// could not be used.
func loadState(s sessions.Session) (h *sessionState, unread error) {
	h = &sessionState{view: pageView{url: s.URL, title: s.Title}}
	h.history, unread = parseHistory(s.Memory)
	return h, unread
}

// noteOtherRuntime takes in that another runtime has worked the page meanwhile.
func (h *sessionState) noteOtherRuntime(s sessions.Session) {
	if s.URL != "" && s.URL != h.view.url {
		h.view.reset()
		h.view.url, h.view.title = s.URL, s.Title
	}
}

// Close implements [sessions.Backend]. A task that still runs in the session ends.
func (a *Agent) Close(ctx context.Context, sessionID string) error {
	return a.cache.Close(ctx, sessionID, a.Browser.Close)
}

// Park implements [sessions.Parker].
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
