package sessions

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"clank/internal/i18n"
	"clank/llm"
)

// OriginKind is the front end that a task came through.
type OriginKind string

// The front ends.
const (
	FromDiscord   OriginKind = "discord"
	FromDashboard OriginKind = "dashboard"
	FromTerminal  OriginKind = "terminal"
)

// Origin says who asked for a task, and where. Guild is empty in a direct message, on the dashboard and in a
// terminal.
type Origin struct {
	Kind     OriginKind `json:"kind"`
	Guild    string     `json:"guild,omitempty"`
	Channel  string     `json:"channel,omitempty"`
	User     string     `json:"user,omitempty"`      // id
	UserName string     `json:"user_name,omitempty"` // display name
	Private  bool       `json:"private,omitempty"`   // only User may see its steps and pictures

	// The following fields serve access checks at the time of asking and are not stored.
	Roles  []string `json:"-"` // of User in Guild
	Parent string   `json:"-"` // the parent channel if Channel is a thread
	// Locale is the language in which to answer User.
	Locale i18n.Locale `json:"-"`
	Sees   []string    `json:"-"` // in direct messages: the allowed servers and channels that User can see
	// Moderator says that User may manage other people's messages in Channel. The operator of the dashboard may do so
	// everywhere.
	Moderator bool `json:"-"`
	// ModeratesChannel reports the same for another channel of Guild; nil means for none. It must not block.
	ModeratesChannel func(channel string) bool `json:"-"`
}

// Moderates reports whether User is a moderator of a channel.
func (o Origin) Moderates(guild, channel string) bool {
	switch {
	case o.Kind != FromDiscord:
		return o.Moderator
	case o.Guild == "" || o.Guild != guild:
		return false
	case o.Channel == channel:
		return o.Moderator
	}
	return o.ModeratesChannel != nil && o.ModeratesChannel(channel)
}

// Task is a request to do something in a browser.
type Task struct {
	ID        string `json:"id"`         // set by the Manager when empty
	SessionID string `json:"session_id"` // the session to continue; empty starts a new one
	Prompt    string `json:"prompt"`
	Origin    Origin `json:"origin"`
	Runtime   string `json:"runtime"`             // name of a [Backend]; empty = the session's, else the default
	Model     string `json:"model,omitempty"`     // "provider:model"; empty = the setting
	MaxSteps  int    `json:"max_steps,omitempty"` // 0 = the setting
	// MaxUSD limits what the task's model calls may cost, below the limits in the settings; 0 = no further limit.
	MaxUSD float64 `json:"max_usd,omitempty"`
	Headed bool    `json:"headed,omitempty"` // show the browser's window
	// browser profile; empty = the session's, else chosen by [Policy]. Stored with the session
	Profile string `json:"profile,omitempty"`
	// Files are attachments of the task. The Manager copies them to the session's files; see [Manager.Files].
	Files []File `json:"files,omitempty"`
	// Allow lists the classes of actions ("buy", "submit") that the person approved in advance. They are not stored.
	Allow []string `json:"allow,omitempty"`
	// Typed says that a person typed Prompt for this task: in a command, a form or a terminal. Only the front end
	// that received it from them sets it. Requests by a model, a program, a script or by voice are not typed. It is
	// neither stored nor sent with a Task.
	Typed bool `json:"-"`
	// Quoted is text that Prompt refers to, possibly written by somebody else; models get it marked as untrusted. It
	// is neither stored nor sent with a Task. The built-in model that follows Prompt literally does not see it.
	Quoted string `json:"-"`
	// Inbox holds messages that people send to the running task, see [Manager.SendNote]. The Manager sets it for the
	// Backend; it is not stored and not part of any [TaskRecord].
	Inbox *Inbox `json:"-"`
}

// StepKind is the kind of a step.
type StepKind string

// The kinds of step.
const (
	StepThink  StepKind = "think"  // the model was called; Usage is set; Text is what it said besides its tool calls
	StepAct    StepKind = "act"    // a tool was used; Tool and Input are set
	StepNotice StepKind = "notice" // news for the person: a retry, a reopened page
	StepAnswer StepKind = "answer" // the last step: Text is the answer, Images are its pictures
)

// Phase says whether a step is about to happen or has happened. A think or act step is yielded twice with the same N;
// notices and answers are yielded once, as Done.
type Phase string

// The phases of a step.
const (
	PhaseBegun Phase = "begun"
	PhaseDone  Phase = "done"
)

// Step is one step of a task.
type Step struct {
	N     int             `json:"n"` // from 1; the Backend numbers them
	Kind  StepKind        `json:"kind"`
	Phase Phase           `json:"phase"`
	Tool  string          `json:"tool,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`
	Label string          `json:"label"`          // one line for people: `click "Sign in"`
	Text  string          `json:"text,omitempty"` // result, remark or answer
	// the tool failed, and the model was told; or the answer says that the task could not be done
	Failed bool            `json:"failed,omitempty"`
	URL    string          `json:"url,omitempty"` // of the page after the step
	Title  string          `json:"title,omitempty"`
	View   *llm.Image      `json:"view,omitempty"`   // screenshot after the step, for viewers
	Images []llm.Image     `json:"images,omitempty"` // pictures of an answer
	Usage  llm.Usage       `json:"usage,omitzero"`
	Memory json.RawMessage `json:"-"` // if set, replaces [Session.Memory] when the step is stored
	// Secrets are the texts that the step types into password fields. The Manager removes them from the step and from
	// everything that it stores or publishes.
	Secrets []string  `json:"-"`
	Limit   string    `json:"limit,omitempty"`  // on an answer: the limit that ended the task ("step limit of 10"), if any
	Closed  bool      `json:"closed,omitempty"` // on an answer: the model closed the session
	At      time.Time `json:"at"`               // when the step reached this phase; set by the Manager
}

// Backend is an agent loop that operates a session's browser.
//
// Run works on task t in session s and yields each step as it happens. The sequence ends with an answer, or with an
// error as its last element. When ctx ends (the error is then [context.Cause]) or the consumer stops ranging, Run
// stops at once: it does nothing more on the page and never yields a Done act. A Backend keeps what it needs to
// continue a session (conversation, page) until Close; a stopped or failed task leaves the session usable. Before
// each model call it drains t.Inbox, yields a notice for each note ([Note.String]) and passes the notes to the model.
// An act that the model chose before [Inbox.TookOver] became true is not done. If the last error is a
// [HandOverError], the Manager continues with another runtime.
//
// Close releases what is held for the session with that id. Closing an unknown session is no error. A later Run of
// the same session starts from s.Memory and s.URL.
//
// Park closes the session's page and keeps its state, in memory, until it is opened again. If part of the state would
// be lost, Park does nothing and returns false unless must is set.
type Backend interface {
	Run(ctx context.Context, s Session, t Task) iter.Seq2[Step, error]
	Close(ctx context.Context, sessionID string) error
	Park(ctx context.Context, sessionID string, must bool) (parked bool, err error)
}

// SessionState is the state of a session.
type SessionState string

// The states of a session.
const (
	SessionIdle    SessionState = "idle"    // open, nothing runs
	SessionRunning SessionState = "running" // a task runs
	SessionParked  SessionState = "parked"  // its tab was closed to save memory; the next task reopens URL
	SessionClosed  SessionState = "closed"  // the model or a person closed it; it cannot be continued
)

// Session is a browser page and a conversation that outlive a task.
type Session struct {
	ID      string          `json:"id"`
	Origin  Origin          `json:"origin"` // Origin.User owns it
	Runtime string          `json:"runtime"`
	Profile string          `json:"profile,omitempty"` // browser profile; empty = a temporary one
	State   SessionState    `json:"state"`
	Title   string          `json:"title"`            // of the page, as last seen
	URL     string          `json:"url"`              // of the page, as last seen
	Memory  json.RawMessage `json:"memory,omitempty"` // stored by the Backend of Runtime, see [Step.Memory]
	// Others are the memories of the other runtimes that have worked in the session, by runtime name. The map must
	// not be modified once set.
	Others   map[string]json.RawMessage `json:"-"`
	Shared   bool                       `json:"shared,omitempty"` // somebody watches it, so it is not parked
	Steps    int                        `json:"steps"`            // acts done, over all tasks
	Usage    llm.Usage                  `json:"usage"`
	Created  time.Time                  `json:"created"`
	LastUsed time.Time                  `json:"last_used"`
}

// TaskState is the state of a task.
type TaskState string

// The states of a task. The last five are final.
const (
	TaskQueued      TaskState = "queued"
	TaskRunning     TaskState = "running"
	TaskDone        TaskState = "done"        // answered
	TaskLimited     TaskState = "limited"     // a step, time or budget limit ended it; there may be a partial answer
	TaskStopped     TaskState = "stopped"     // cancelled, see Reason
	TaskFailed      TaskState = "failed"      // see Reason
	TaskInterrupted TaskState = "interrupted" // the program ended while the task ran
)

// stepLimit is how [TaskRecord.Reason] begins if a step limit ended the task.
const stepLimit = "step limit of %d"

// StepLimit returns the [Step.Limit] of a task with a limit of n steps.
func StepLimit(n int) string { return fmt.Sprintf(stepLimit, n) }

// HitStepLimit reports whether a step limit ended the task.
func (r TaskRecord) HitStepLimit() bool {
	return r.State == TaskLimited && strings.HasPrefix(r.Reason, strings.TrimSuffix(stepLimit, "%d"))
}

// Continuation is a task that is to go on later, as it is stored.
type Continuation struct {
	Session  string  `json:"session"`
	Prompt   string  `json:"prompt"`
	Origin   Origin  `json:"origin"`
	Runtime  string  `json:"runtime,omitempty"`
	Model    string  `json:"model,omitempty"`
	Profile  string  `json:"profile,omitempty"`
	MaxSteps int     `json:"max_steps,omitempty"`
	MaxUSD   float64 `json:"max_usd,omitempty"`
	Headed   bool    `json:"headed,omitempty"`
}

// Continue returns what is left of r. Its prompt asks any model to go on with what the session is about.
func (r TaskRecord) Continue() Continuation {
	c := Continuation{
		Session: r.SessionID, Prompt: "go on", Origin: r.Origin, Runtime: r.Runtime, Model: r.Model, Profile: r.Profile,
		MaxSteps: r.MaxSteps, Headed: r.Headed,
	}
	if r.Steps == 0 { // its session may not have stored the prompt yet
		c.Prompt = r.Prompt
	}
	if r.MaxUSD > 0 {
		c.MaxUSD = max(r.MaxUSD-r.Usage.USD, 1e-9) // 0 would not limit
	}
	return c
}

// Task returns the task to run. o is its person with their current rights.
func (c Continuation) Task(o Origin) Task {
	return Task{
		SessionID: c.Session, Prompt: c.Prompt, Origin: o, Runtime: c.Runtime, Model: c.Model, Profile: c.Profile,
		MaxSteps: c.MaxSteps, MaxUSD: c.MaxUSD, Headed: c.Headed,
	}
}

// Final reports whether s is a final state.
func (s TaskState) Final() bool { return s != TaskQueued && s != TaskRunning }

// TaskRecord is a task and its outcome so far.
type TaskRecord struct {
	Task
	State  TaskState   `json:"state"`
	Answer string      `json:"answer,omitempty"`
	Images []llm.Image `json:"images,omitempty"` // pictures of the answer
	// Downloads are the files downloaded from its pages, complete and stored. They are set when the task is final.
	Downloads []File    `json:"downloads,omitempty"`
	Closed    bool      `json:"closed,omitempty"` // the session was closed with it
	Reason    string    `json:"reason,omitempty"` // why it was stopped, limited or failed, in words for people
	Steps     int       `json:"steps"`            // acts done
	Usage     llm.Usage `json:"usage"`
	Asked     time.Time `json:"asked"`
	Started   time.Time `json:"started,omitzero"`
	Ended     time.Time `json:"ended,omitzero"`
	Late      []string  `json:"late,omitempty"`     // messages that arrived too late for the task; not stored
	HeldBy    string    `json:"held_by,omitempty"`  // the person who controls its page while it waits; not stored
	Position  int       `json:"position,omitempty"` // in the queue, from 1; 0 = not queued or about to start
	Shortage  string    `json:"shortage,omitempty"` // the machine resource that it waits for, see [Machine]; not stored
}

// Event reports a change to subscribers. Record is always set (without the pictures of the answer until it is final);
// Step is set if a step began or ended.
type Event struct {
	Record TaskRecord `json:"record"`
	Step   *Step      `json:"step,omitempty"`
}

// MayUse reports whether a person asking from o may continue the session. Its owner may. On the dashboard or in a
// terminal, an asker without a name is the operator of the machine and may use every session started there, except
// those that another operator keeps private.
func (s Session) MayUse(o Origin) bool {
	if o.Kind == FromDiscord || s.Origin.Kind == FromDiscord {
		return o.Kind == s.Origin.Kind && o.User != "" && o.User == s.Origin.User
	}
	return o.User == "" && !s.Origin.Private || o.User == s.Origin.User
}

// owner returns the display name of the session's owner.
func (s Session) owner() string { return s.Origin.RequesterName() }

// RequesterName returns the display name of the person who asked.
func (o Origin) RequesterName() string {
	switch {
	case o.UserName != "":
		return o.UserName
	case o.User != "":
		return "user " + o.User
	}
	return "the operator"
}

// Reasons for refusing a task or a session. Errors that wrap one of them have their own text: a sentence for people
// that also says what to do.
var (
	ErrBadTask       = errors.New("the task cannot be done as it was asked")
	ErrDisabled      = errors.New("browsing is switched off in the settings")
	ErrNotFound      = errors.New("not found")
	ErrForbidden     = errors.New("not allowed here")
	ErrNotOwner      = errors.New("it belongs to somebody else")
	ErrSessionClosed = errors.New("the session is closed")
	ErrQueueFull     = errors.New("the line is full")
	ErrBudgetSpent   = errors.New("the hour's tasks are used up")
	ErrShuttingDown  = errors.New("the program is shutting down")
)

// StoreError says, in words for people, why nothing can be stored and what to do.
type StoreError struct {
	Text string
	Err  error
}

func (e *StoreError) Error() string { return e.Text + ": " + e.Err.Error() }
func (e *StoreError) Unwrap() error { return e.Err }

// refusal wraps one of the sentinels with a text for people.
type refusal struct {
	is   error
	text string
}

func refuse(is error, format string, args ...any) error {
	return &refusal{is: is, text: fmt.Sprintf(format, args...)}
}

func (r *refusal) Error() string { return r.text }
func (r *refusal) Unwrap() error { return r.is }

// subscriberBuffer is how many events a subscriber may lag behind.
const subscriberBuffer = 256

// Subscribe returns a channel of all later changes to tasks, and a function that ends the subscription. The channel
// is bounded: if a subscriber falls too far behind, it is closed; the subscriber should then subscribe again and read
// the current state. What an event points to is shared and must not be modified.
func (m *Manager) Subscribe() (<-chan Event, func()) {
	ch := make(chan Event, subscriberBuffer)
	m.subMu.Lock()
	defer m.subMu.Unlock()
	if m.subs == nil {
		m.subs = make(map[chan Event]struct{})
	}
	m.subs[ch] = struct{}{}
	return ch, func() {
		m.subMu.Lock()
		defer m.subMu.Unlock()
		m.unsubscribe(ch)
	}
}

// unsubscribe closes ch if it is still subscribed. The lock subMu is held.
func (m *Manager) unsubscribe(ch chan Event) {
	if _, ok := m.subs[ch]; ok {
		delete(m.subs, ch)
		close(ch)
	}
}

// publish sends an event about j to its watcher and to all subscribers.
func (m *Manager) publish(j *queuedTask, step *Step) {
	ev := Event{Record: j.rec, Step: step}
	if !ev.Record.State.Final() {
		ev.Record.Images = nil
	}
	m.subMu.Lock()
	for ch := range m.subs {
		select {
		case ch <- ev:
		default:
			m.unsubscribe(ch)
		}
	}
	m.subMu.Unlock()
	if j.watch != nil {
		j.watch(ev)
	}
}

// idLetters are the characters of ids: none that look alike, and no vowels, so that ids spell no words.
const idLetters = "bcdfghjkmnpqrstvwxz23456789"

const (
	sessionIDLen = 6
	taskIDLen    = 10
)

// newID returns an unused id of n letters. taken returns [ErrNotFound] for an unused one.
func newID(ctx context.Context, n int, taken func(context.Context, string) error) (string, error) {
	for range 20 {
		id := RandomID(n)
		switch err := taken(ctx, id); {
		case errors.Is(err, ErrNotFound):
			return id, nil
		case err != nil:
			return "", fmt.Errorf("choose an id: %w", err)
		}
	}
	return "", errors.New("choose an id: twenty in a row were taken")
}

// RandomID returns n random letters and digits.
func RandomID(n int) string {
	id := make([]byte, 0, n)
	var b [1]byte
	for len(id) < n {
		rand.Read(b[:]) // never fails
		// Bytes beyond the last whole multiple would favour the first letters.
		if int(b[0]) < 256-256%len(idLetters) {
			id = append(id, idLetters[int(b[0])%len(idLetters)])
		}
	}
	return string(id)
}
