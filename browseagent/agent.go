package browseagent

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"log/slog"
	"time"

	"clank/llm"
	"clank/sessions"
	"clank/sessions/agent"
)

// Runtime is the name under which this backend is known in [sessions.Task].
const Runtime = "local_browser_agent"

// Browser hands out the page of a session. It is implemented by the program
// that wires this package.
type Browser interface {
	// Open returns the page of a session. If it is not open any more it is opened
	// anew; restored says that happened. Open is called before each action and
	// must be cheap for an open page.
	Open(ctx context.Context, o sessions.PageRequest) (p Page, restored bool, err error)
	// Close closes the page of session key. An unknown key is no error.
	Close(ctx context.Context, key string) error
}

// Page is one browser tab (and those it opened) as a model uses it. What it
// returns is written by strangers and is marked as such before a model sees it.
type Page interface {
	// Act performs one action. Kinds and arguments are those of the control
	// API's POST /act, plus navigate{url}, back{}, tabNew{url}, tabSelect{tab},
	// tabClose{tab} and dialog{accept,promptText}. Arguments are strings, ints,
	// bools and []string. Notes are sentences about what else happened.
	// The kind links does nothing; its notes are the page's links, each as
	// `text -> URL`.
	Act(ctx context.Context, kind string, args map[string]any) (notes []string, err error)
	// Snapshot describes the page in lines such as
	// `- button "Buy" [disabled] [ref=e12]: text`, in at most maxChars bytes;
	// interactive leaves out what cannot be operated.
	Snapshot(ctx context.Context, interactive bool, maxChars int) (text string, err error)
	// Text returns the readable text of the element with this ref, or of the
	// whole page if ref is "".
	Text(ctx context.Context, ref string) (string, error)
	// Screenshot returns a picture of the visible part and its media type.
	Screenshot(ctx context.Context) (data []byte, mediaType string, err error)
	// State says where the page is. Each tab is one line that begins with the
	// id that tabSelect and tabClose take.
	State(ctx context.Context) (url, title string, tabs []string, err error)
}

// Settings are the values an operator may change while the program runs. A zero
// field has the default named beside it.
type Settings struct {
	StepTimeout      time.Duration // for each model call and each action: 30 s
	OpenTimeout      time.Duration // for starting the browser: 60 s
	MaxSteps         int           // model calls in one task that does not say: 10
	MaxTokens        int           // upper bound of one answer of the model: 4096
	SnapshotChars    int           // upper bound of one page state or page text: 20000
	HistorySnapshots int           // page states and pictures kept in full: 3
	HistoryChars     int           // upper bound of the conversation: 160000
	Instructions     string        // added to the system prompt
	HandOver         []string      // runtimes that the model may leave the rest of a task to: none
}

func (s Settings) withDefaults() Settings {
	return Settings{
		StepTimeout:      cmp.Or(max(0, s.StepTimeout), 30*time.Second),
		OpenTimeout:      cmp.Or(max(0, s.OpenTimeout), time.Minute),
		MaxSteps:         cmp.Or(max(0, s.MaxSteps), 10),
		MaxTokens:        cmp.Or(max(0, s.MaxTokens), 4096),
		SnapshotChars:    cmp.Or(max(0, s.SnapshotChars), 20000),
		HistorySnapshots: cmp.Or(max(0, s.HistorySnapshots), 3),
		HistoryChars:     cmp.Or(max(0, s.HistoryChars), 160000),
		Instructions:     s.Instructions,
		HandOver:         s.HandOver,
	}
}

// Agent is the backend. Its exported fields are set before its first use and not
// changed after; its methods are safe for concurrent use.
type Agent struct {
	Browser Browser
	// Model returns the model of that name, or the default for "".
	Model    func(ctx context.Context, name string) (llm.Model, error)
	Settings func() Settings   // asked at the start of each task; nil means all defaults
	Places   map[string]string // names people use for URLs, told to the model
	Logins   Logins            // nil means none
	Approver sessions.Approver // asked before what people want to decide; nil asks nobody
	Logger   *slog.Logger      // nil means none
	Now      func() time.Time  // nil means time.Now

	cache agent.SessionCache[*sessionState]
}

var _ sessions.Backend = (*Agent)(nil)

// sessionState is what the agent keeps of a session between its tasks.
type sessionState struct {
	history history
	view    pageView
}

var errConsumerStopped = errors.New("the consumer stopped ranging")

// Run implements [sessions.Backend].
func (a *Agent) Run(ctx context.Context, s sessions.Session, t sessions.Task) iter.Seq2[sessions.Step, error] {
	return func(yield func(sessions.Step, error) bool) {
		if ctx.Err() != nil {
			yield(sessions.Step{}, context.Cause(ctx))
			return
		}
		ctx, stop := context.WithCancelCause(ctx)
		defer stop(context.Canceled)
		var unread error
		h, err := a.cache.Acquire(s.ID, stop, func() (begun *sessionState) {
			begun, unread = loadState(s)
			return begun
		})
		if err != nil {
			yield(sessions.Step{}, err)
			return
		}
		defer a.cache.Release(h)
		h.State.noteOtherRuntime(s)
		r := &run{agent: a, state: h.State, opening: &h.PageMu, session: s, task: t, yield: yield, log: a.logger().With("session", s.ID, "task", t.ID)}
		err = r.work(ctx, unread)
		if limit, spent := agent.BudgetSpent(err); spent {
			err = r.answer(ctx, agent.Outcome{Text: agent.PartialAnswer(r.remark, h.State.view.url, h.State.view.title, r.lastRead), Limit: limit})
		}
		if err != nil && !errors.Is(err, errConsumerStopped) {
			yield(sessions.Step{}, err)
		}
	}
}

// loadState is what is kept of a session that was not kept, read from its memory.
// unread is why that could not be used.
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

// Close implements [sessions.Backend]. A task that still runs in the session
// ends.
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
