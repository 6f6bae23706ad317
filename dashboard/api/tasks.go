package api

import (
	"time"

	"clank/sessions"
	"clank/sessions/approval"
)

// TaskRequest requests a task.
type TaskRequest struct {
	Prompt    string              `json:"prompt"`
	SessionID string              `json:"session_id,omitempty"` // the session to resume; empty starts a new one
	Runtime   string              `json:"runtime,omitempty"`
	Profile   string              `json:"profile,omitempty"`
	Model     string              `json:"model,omitempty"`
	MaxSteps  int                 `json:"max_steps,omitempty"`
	MaxUSD    float64             `json:"max_usd,omitempty"` // limit for the cost of models; 0 means the configured one
	Headed    bool                `json:"headed,omitempty"`
	Origin    sessions.OriginKind `json:"origin,omitempty"` // dashboard (the default) or terminal
	Typed     bool                `json:"typed,omitempty"`  // a person typed the prompt; see [sessions.Task]
	Allow     []string            `json:"allow,omitempty"`  // action classes allowed without asking; see [sessions.Task]
	Files     []string            `json:"files,omitempty"`  // ids of uploaded files; see [Client.SendFile]
	Place     string              `json:"place,omitempty"`  // "server/channel" on Discord in which a member asks
	// nobody else may read it; a session keeps the privacy it started with
	Private bool      `json:"private,omitempty"`
	Asks    bool      `json:"asks,omitempty"` // the client that follows the task answers its questions
	Until   time.Time `json:"until,omitzero"` // when the client gives up: the task must not start later
}

// TalkRequest sends a message to the assistant.
type TalkRequest struct {
	Text    string     `json:"text"`
	Lines   []TalkLine `json:"lines,omitempty"`   // the conversation so far
	Place   string     `json:"place,omitempty"`   // "server/channel" on Discord in which a member asks
	Private bool       `json:"private,omitempty"` // applies to the tasks that it starts as well
}

// TalkLine is an earlier line of the conversation.
type TalkLine struct {
	FromAssistant bool   `json:"from_assistant,omitempty"`
	Text          string `json:"text"`
}

// TalkText is a piece of the assistant's text. Complete means that the assistant now calls tools and starts a new
// text afterwards.
type TalkText struct {
	Text     string `json:"text,omitempty"`
	Complete bool   `json:"complete,omitempty"`
}

// TalkAnswer is the assistant's final answer. Choices are the possible answers to a question in it, if there are few.
type TalkAnswer struct {
	Text    string   `json:"text"`
	Choices []string `json:"choices,omitempty"`
}

// TaskStarted reports that a task is queued or running.
type TaskStarted struct {
	TaskID    string             `json:"task_id"`
	SessionID string             `json:"session_id"`
	State     sessions.TaskState `json:"state"`
	Position  int                `json:"position,omitempty"`
}

// TasksStopped lists the tasks that were stopped.
type TasksStopped struct {
	Stopped []string `json:"stopped"`
}

// TaskView is a task with its steps. Images have a media type but no data; their data has separate routes.
type TaskView struct {
	Task  sessions.TaskRecord `json:"task"`
	Steps []sessions.Step     `json:"steps"`

	// Questions are the task's unanswered questions. They are set only in the event stream of a task.
	Questions []approval.Question `json:"questions,omitempty"`
}

// PageLog holds the console messages and requests of a task's page while the task ran. The values of secrets are
// removed.
type PageLog struct {
	Open     bool          `json:"open"` // the page is still open; nothing is known about a closed one
	Console  []ConsoleLine `json:"console"`
	Requests []PageRequest `json:"requests"`
}

// ConsoleLine is a console message of a page, or an uncaught exception.
type ConsoleLine struct {
	At   string `json:"at"`
	Type string `json:"type"`
	Text string `json:"text"`
	From string `json:"from,omitempty"` // script and line
}

// PageRequest is a request of a page and its response.
type PageRequest struct {
	At      string `json:"at"`
	Method  string `json:"method"`
	URL     string `json:"url"`
	Type    string `json:"type"`
	Status  int    `json:"status,omitempty"`
	Failure string `json:"failure,omitempty"`
}

// ScriptSaved reports that a task was saved as a script. Notes lists what the script leaves out.
type ScriptSaved struct {
	Name  string   `json:"name"`
	Notes []string `json:"notes,omitempty"`
}

// ReplayEnd is the result of a replay.
type ReplayEnd struct {
	Matches bool   `json:"matches"` // every step had the recorded outcome
	Text    string `json:"text"`
}

// SessionView is a session, without the state of its Backend, and with its first prompt if that is recent enough.
type SessionView struct {
	sessions.Session

	Prompt string `json:"prompt,omitempty"`
}

// Film reports whether a task was filmed, and when its steps begin in the film.
type Film struct {
	Filmed   bool      `json:"filmed"`
	Chapters []Chapter `json:"chapters"`
}

// Chapter is a part of a film. Step is the number of a step, or larger than all of them for the part that was left
// out.
type Chapter struct {
	Step  uint64  `json:"step"`
	At    float64 `json:"at"` // in seconds
	Title string  `json:"title"`
}

// FilmRequest tells whether the tasks of a session are filmed. Possible means that people may change that.
type FilmRequest struct {
	On       bool `json:"on"`
	Possible bool `json:"possible,omitempty"`
}

// NoteRequest is a note to a running or waiting task.
type NoteRequest struct {
	Text   string              `json:"text"`
	Origin sessions.OriginKind `json:"origin,omitempty"` // dashboard or terminal
}

// NoteAccepted names the task that receives the note.
type NoteAccepted struct {
	TaskID string `json:"task_id"`
}

// Channels of the tasks that start here; see [sessions.Origin].
const (
	PageChannel     = "dashboard"
	TerminalChannel = "terminal"
)

// PrivateText replaces the prompt and answer of a private task. Others see that it runs, for whom, and what it costs.
const PrivateText = "(private)"

// StepEvent is the data of a "step" event.
type StepEvent struct {
	TaskID string        `json:"task_id"`
	Step   sessions.Step `json:"step"`
}

// PageSnapshot is the current state of the page: its sessions, and the queued and running tasks.
type PageSnapshot struct {
	Sessions []SessionView `json:"sessions"`
	Tasks    []TaskView    `json:"tasks"`

	// Questions are the unanswered questions of tasks of all origins.
	Questions []approval.Question `json:"questions"`
}

// AnswerRequest answers a question.
type AnswerRequest struct {
	Allow      bool `json:"allow"`
	ForSession bool `json:"for_session,omitempty"`
	// Text is the answer to a question that expects text.
	Text string `json:"text,omitempty"`
	// Reason is why the client that follows the question refuses without a person's answer: it cannot wait any
	// longer.
	Reason string `json:"reason,omitempty"`
}
