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

// OriginKind says through which door a task came.
type OriginKind string

// The doors.
const (
	FromDiscord   OriginKind = "discord"
	FromDashboard OriginKind = "dashboard"
	FromTerminal  OriginKind = "terminal"
)

// Origin tells who asked for a task, and where. Guild is empty in a direct message, on the dashboard and in a terminal.
type Origin struct {
	Kind     OriginKind `json:"kind"`
	Guild    string     `json:"guild,omitempty"`
	Channel  string     `json:"channel,omitempty"`
	User     string     `json:"user,omitempty"`      // id
	UserName string     `json:"user_name,omitempty"` // as people read it
	Private  bool       `json:"private,omitempty"`   // only User may see its steps and pictures

	// What decides who somebody is at the moment of asking. It is not kept.
	Roles  []string `json:"-"` // that User has on Guild
	Parent string   `json:"-"` // the channel that the thread Channel is part of
	// Locale is the language of what is said to whoever asked.
	Locale i18n.Locale `json:"-"`
	Sees   []string    `json:"-"` // in direct messages: which of the served servers and channels User is a member of and sees
	// Moderator says that User may manage other people's messages in Channel, as the operator of the dashboard may
	// everywhere.
	Moderator bool `json:"-"`
	// ModeratesChannel says the same of another channel of Guild; nil is of none. It must not block.
	ModeratesChannel func(channel string) bool `json:"-"`
}

// Moderates reports whether User has a moderator's say in a channel.
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

// Task is one thing somebody asked for.
type Task struct {
	ID        string `json:"id"`         // set by the Manager when empty
	SessionID string `json:"session_id"` // the session to go on with; empty starts a new one
	Prompt    string `json:"prompt"`
	Origin    Origin `json:"origin"`
	Runtime   string `json:"runtime"`             // name of a [Backend]; empty = the session's, else the default
	Model     string `json:"model,omitempty"`     // "provider:model"; empty = the setting
	MaxSteps  int    `json:"max_steps,omitempty"` // 0 = the setting
	// MaxUSD is what its models may cost, below what the settings allow; 0 = that. It is not stored.
	MaxUSD  float64 `json:"max_usd,omitempty"`
	Headed  bool    `json:"headed,omitempty"`  // show the browser's window
	Profile string  `json:"profile,omitempty"` // browser profile wanted; empty = the session's, else what [Manager.SelectProfile] says. Kept with the session
	// Files came with the task. The Manager copies them to those of the session; see [Manager.Files].
	Files []File `json:"files,omitempty"`
	// Allow are classes of actions ("buy", "submit") that the person has allowed with the task. They are not stored.
	Allow []string `json:"allow,omitempty"`
	// Typed says that a person typed Prompt for this task: in a command, a form or a terminal. Only the front end
	// that took it from them sets it. What a model, a program, a script or a voice asks for is not typed. It is
	// neither stored nor sent with a Task.
	Typed bool `json:"-"`
	// Quoted is what somebody has said that Prompt is about, who need not be who asks: models get it marked as data.
	// It is neither stored nor sent with a Task, and a model that does what Prompt says word for word does not see it.
	Quoted string `json:"-"`
	// Inbox is what people say to the task while it runs, see [Manager.SendNote]. The
	// Manager gives one to the Backend; it is not stored and no [Record] has it.
	Inbox *Inbox `json:"-"`
}

// StepKind says what a step is.
type StepKind string

// The kinds of step.
const (
	StepThink  StepKind = "think"  // the model was asked; Usage is set; Text is what it said beside its calls
	StepAct    StepKind = "act"    // a tool was used; Tool and Input are set
	StepNotice StepKind = "notice" // something the person should know: a retry, a reopened page
	StepAnswer StepKind = "answer" // the last one: Text is the answer, Images what it shows
)

// Phase says whether a step is about to happen or has happened. A think or act
// step is yielded twice with the same N; notices and answers once, as Done.
type Phase string

// The phases of a step.
const (
	PhaseBegun Phase = "begun"
	PhaseDone  Phase = "done"
)

// Step is one thing done about a task.
type Step struct {
	N      int             `json:"n"` // from 1; the Backend numbers them
	Kind   StepKind        `json:"kind"`
	Phase  Phase           `json:"phase"`
	Tool   string          `json:"tool,omitempty"`
	Input  json.RawMessage `json:"input,omitempty"`
	Label  string          `json:"label"`            // one line for people: `click "Sign in"`
	Text   string          `json:"text,omitempty"`   // result, remark or answer
	Failed bool            `json:"failed,omitempty"` // the tool failed, and the model was told; or an answer that says why it could not be done
	URL    string          `json:"url,omitempty"`    // where the page is after the step
	Title  string          `json:"title,omitempty"`
	View   *llm.Image      `json:"view,omitempty"`   // how the page looks after the step, for people watching
	Images []llm.Image     `json:"images,omitempty"` // what an answer shows
	Usage  llm.Usage       `json:"usage,omitzero"`
	Memory json.RawMessage `json:"-"` // replaces [Session.Memory] where it is set, with this step
	// Secrets are what goes into password fields with this step, as the field shows. The Manager takes them out of all
	// that it keeps and tells, and of this.
	Secrets []string  `json:"-"`
	Limit   string    `json:"limit,omitempty"`  // on an answer: the limit that ended the work ("step limit of 10"), if one did
	Closed  bool      `json:"closed,omitempty"` // on an answer: the session was closed by the model
	At      time.Time `json:"at"`               // when this phase was reached; set by the Manager
}

// Backend is a mind that works a session's browser.
//
// Run works task t in session s and yields each step as it happens. The sequence ends after an answer, or with an
// error as its last element. It stops at once, and acts no more, when ctx ends (the error is then [context.Cause]) or
// when its consumer stops ranging; it never yields a Done act after that. A Backend keeps what it needs to continue a
// session (conversation, page) until Close; a stopped or failed task leaves the session usable. Before each question
// to its model it takes what was put into t.Inbox, yields a notice for each note ([Note.String]) and tells the model.
// An act that its model decided on before [Inbox.TookOver] is not done.
// If its last error is a [HandOverError], another runtime goes on.
//
// Close releases what is held for the session with that id. Closing an unknown session is no error. A later Run of
// the same session starts anew from s.Memory and s.URL.
type Backend interface {
	Run(ctx context.Context, s Session, t Task) iter.Seq2[Step, error]
	Close(ctx context.Context, sessionID string) error
}

// Parker is a [Backend], or a [Browser], that can put the page of a session away without losing what it holds.
type Parker interface {
	// Park closes the page and keeps what it holds, as long as the program runs, for when it is opened again. Where
	// something would be lost it does nothing and returns false, unless it must.
	Park(ctx context.Context, sessionID string, must bool) (parked bool, err error)
}

// SessionState tells what a session does now.
type SessionState string

// The states of a session.
const (
	SessionIdle    SessionState = "idle"    // open, nothing runs
	SessionRunning SessionState = "running" // a task works it
	SessionParked  SessionState = "parked"  // its tab was closed after a while; the next task reopens URL
	SessionClosed  SessionState = "closed"  // the model or a person closed it; it cannot be continued
)

// Session is a browser and a memory that outlive a task.
type Session struct {
	ID      string          `json:"id"`
	Origin  Origin          `json:"origin"` // Origin.User owns it
	Runtime string          `json:"runtime"`
	Profile string          `json:"profile,omitempty"` // browser profile; empty = none that lasts
	State   SessionState    `json:"state"`
	Title   string          `json:"title"`            // of the page, as last seen
	URL     string          `json:"url"`              // of the page, as last seen
	Memory  json.RawMessage `json:"memory,omitempty"` // what the Backend of Runtime wants to find again, see [Step.Memory]
	// Others are the memories of the other runtimes that have worked the session,
	// by their names. The map is not changed once it is there.
	Others   map[string]json.RawMessage `json:"-"`
	Shared   bool                       `json:"shared,omitempty"` // somebody watches it: not reaped
	Steps    int                        `json:"steps"`            // acts that were done, over all tasks
	Usage    llm.Usage                  `json:"usage"`
	Created  time.Time                  `json:"created"`
	LastUsed time.Time                  `json:"last_used"`
}

// TaskState tells how far a task has come.
type TaskState string

// The states of a task. The last five are final.
const (
	TaskQueued      TaskState = "queued"
	TaskRunning     TaskState = "running"
	TaskDone        TaskState = "done"        // answered
	TaskLimited     TaskState = "limited"     // a step, time or budget limit ended it; there may be an answer so far
	TaskStopped     TaskState = "stopped"     // cancelled, see Reason
	TaskFailed      TaskState = "failed"      // see Reason
	TaskInterrupted TaskState = "interrupted" // the program ended while it ran
)

// stepLimit is how the reason of a task begins that a limit of steps has ended.
const stepLimit = "step limit of %d"

// StepLimit returns the [Step.Limit] of a task that may have n steps.
func StepLimit(n int) string { return fmt.Sprintf(stepLimit, n) }

// HitStepLimit reports whether a limit of steps has ended the task.
func (r TaskRecord) HitStepLimit() bool {
	return r.State == TaskLimited && strings.HasPrefix(r.Reason, strings.TrimSuffix(stepLimit, "%d"))
}

// Final reports whether a task in state s will not change any more.
func (s TaskState) Final() bool { return s != TaskQueued && s != TaskRunning }

// TaskRecord is a task and what has become of it.
type TaskRecord struct {
	Task
	State  TaskState   `json:"state"`
	Answer string      `json:"answer,omitempty"`
	Images []llm.Image `json:"images,omitempty"` // what the answer shows
	// Downloads are the files that its pages offered, complete and kept. They are known when it is final.
	Downloads []File    `json:"downloads,omitempty"`
	Closed    bool      `json:"closed,omitempty"` // the session ended with it
	Reason    string    `json:"reason,omitempty"` // why it was stopped, limited or failed, for people
	Steps     int       `json:"steps"`            // acts that were done
	Usage     llm.Usage `json:"usage"`
	Asked     time.Time `json:"asked"`
	Started   time.Time `json:"started,omitzero"`
	Ended     time.Time `json:"ended,omitzero"`
	Late      []string  `json:"late,omitempty"`     // what was said to it and came too late to be heard; not kept
	HeldBy    string    `json:"held_by,omitempty"`  // who works its page just now, so that it waits; not kept
	Position  int       `json:"position,omitempty"` // place in line, from 1; 0 = not in line, or its turn has come
	Shortage  string    `json:"shortage,omitempty"` // of what the machine has too little for it, see [Machine]; not kept
}

// Event tells those who watch what has happened. Record is always set (without
// the pictures of the answer until it is final); Step when a step was reached.
type Event struct {
	Record TaskRecord `json:"record"`
	Step   *Step      `json:"step,omitempty"`
}

// MayUse reports whether somebody who asks from o may go on with the session:
// its owner may. Whoever asks from the dashboard or a terminal without a name is
// the operator of the machine, who owns every session that was started there but those that others of its operators
// keep private.
func (s Session) MayUse(o Origin) bool {
	if o.Kind == FromDiscord || s.Origin.Kind == FromDiscord {
		return o.Kind == s.Origin.Kind && o.User != "" && o.User == s.Origin.User
	}
	return o.User == "" && !s.Origin.Private || o.User == s.Origin.User
}

// owner returns what people call the session's owner.
func (s Session) owner() string { return s.Origin.RequesterName() }

// RequesterName returns what people call the person who asked from o.
func (o Origin) RequesterName() string {
	switch {
	case o.UserName != "":
		return o.UserName
	case o.User != "":
		return "user " + o.User
	}
	return "the operator"
}

// Why a task or a session was refused. Errors that wrap one of these have a text
// of their own, a sentence for people that also tells the way out.
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

// StoreError says in words for people why nothing can be kept, and what to do.
type StoreError struct {
	Text string
	Err  error
}

func (e *StoreError) Error() string { return e.Text + ": " + e.Err.Error() }
func (e *StoreError) Unwrap() error { return e.Err }

// refusal is one of the sentinels in the words of its case.
type refusal struct {
	is   error
	text string
}

func refuse(is error, format string, args ...any) error {
	return &refusal{is: is, text: fmt.Sprintf(format, args...)}
}

func (r *refusal) Error() string { return r.text }
func (r *refusal) Unwrap() error { return r.is }

// subscriberBuffer is how many events a subscriber may be behind.
const subscriberBuffer = 256

// Subscribe returns a channel with all that happens to all tasks from now on, and a function that ends it. The
// channel is bounded: a subscriber that falls too far behind finds it closed, and should subscribe and read the state
// anew. What an event points to is shared and not to be changed.
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

// unsubscribe closes ch unless it is closed. The lock subMu is held.
func (m *Manager) unsubscribe(ch chan Event) {
	if _, ok := m.subs[ch]; ok {
		delete(m.subs, ch)
		close(ch)
	}
}

// publish tells everybody that something has happened to j.
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

// idLetters are the letters and digits of ids: none that look alike, and no vowels, so that no id is a word.
const idLetters = "bcdfghjkmnpqrstvwxz23456789"

const (
	sessionIDLen = 6
	taskIDLen    = 10
)

// newID returns an id of n letters for which taken does not find anything.
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
