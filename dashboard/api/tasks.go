package api

import (
	"time"

	"clank/sessions"
	"clank/sessions/approval"
)

// TaskRequest asks for a task.
type TaskRequest struct {
	Prompt    string              `json:"prompt"`
	SessionID string              `json:"session_id,omitempty"` // to go on with; empty = a new one
	Runtime   string              `json:"runtime,omitempty"`
	Profile   string              `json:"profile,omitempty"`
	Model     string              `json:"model,omitempty"`
	MaxSteps  int                 `json:"max_steps,omitempty"`
	MaxUSD    float64             `json:"max_usd,omitempty"` // what its models may cost; 0 = what the settings say
	Headed    bool                `json:"headed,omitempty"`
	Origin    sessions.OriginKind `json:"origin,omitempty"`  // dashboard (the default) or terminal
	Typed     bool                `json:"typed,omitempty"`   // a person typed the prompt, see [sessions.Task]
	Allow     []string            `json:"allow,omitempty"`   // classes of actions that need no question, see [sessions.Task]
	Files     []string            `json:"files,omitempty"`   // ids of files that were sent, see [Client.SendFile]
	Place     string              `json:"place,omitempty"`   // "server/channel": where a member asks on Discord
	Private   bool                `json:"private,omitempty"` // nobody else may know what it is about; a session stays as it began
	Asks      bool                `json:"asks,omitempty"`    // whoever follows the task answers its questions
	Until     time.Time           `json:"until,omitzero"`    // when whoever asks gives up: the task is not begun later
}

// TalkRequest says something to the assistant.
type TalkRequest struct {
	Text    string     `json:"text"`
	Lines   []TalkLine `json:"lines,omitempty"`   // of the conversation before it
	Place   string     `json:"place,omitempty"`   // "server/channel": where a member asks on Discord
	Private bool       `json:"private,omitempty"` // so are the tasks that it starts
}

// TalkLine is something that was said before.
type TalkLine struct {
	FromAssistant bool   `json:"from_assistant,omitempty"`
	Text          string `json:"text"`
}

// TalkText is a piece of what the assistant writes. Complete says that it uses tools now, and begins anew after that.
type TalkText struct {
	Text     string `json:"text,omitempty"`
	Complete bool   `json:"complete,omitempty"`
}

// TalkAnswer is what the assistant says at last. Choices are what a question in it can be answered with, if that is few.
type TalkAnswer struct {
	Text    string   `json:"text"`
	Choices []string `json:"choices,omitempty"`
}

// TaskStarted says that a task is in line or running.
type TaskStarted struct {
	TaskID    string             `json:"task_id"`
	SessionID string             `json:"session_id"`
	State     sessions.TaskState `json:"state"`
	Position  int                `json:"position,omitempty"`
}

// TasksStopped says which tasks a stop reached.
type TasksStopped struct {
	Stopped []string `json:"stopped"`
}

// TaskView is a task with its steps. Pictures are named by their media type and
// have no data; they have routes of their own.
type TaskView struct {
	Task  sessions.TaskRecord `json:"task"`
	Steps []sessions.Step     `json:"steps"`

	// Questions of the task wait for an answer. Only the stream of a task has them.
	Questions []approval.Question `json:"questions,omitempty"`
}

// PageLog is what the page of a task said and asked for while the task ran. The names of secrets have no values.
type PageLog struct {
	Open     bool          `json:"open"` // the page is still open; of one that is closed nothing is known
	Console  []ConsoleLine `json:"console"`
	Requests []PageRequest `json:"requests"`
}

// ConsoleLine is a message of a page's console, or an error that the page did not catch.
type ConsoleLine struct {
	At   string `json:"at"`
	Type string `json:"type"`
	Text string `json:"text"`
	From string `json:"from,omitempty"` // the script and line
}

// PageRequest is one exchange of a page with a server.
type PageRequest struct {
	At      string `json:"at"`
	Method  string `json:"method"`
	URL     string `json:"url"`
	Type    string `json:"type"`
	Status  int    `json:"status,omitempty"`
	Failure string `json:"failure,omitempty"`
}

// ScriptSaved says that a task was saved as a script. Notes say what of it is not in there.
type ScriptSaved struct {
	Name  string   `json:"name"`
	Notes []string `json:"notes,omitempty"`
}

// ReplayEnd says how a replay came out.
type ReplayEnd struct {
	Matches bool   `json:"matches"` // all went as recorded
	Text    string `json:"text"`
}

// SessionView is a session, without what its Backend remembers, and the first
// thing that was asked in it, as far as that is recent.
type SessionView struct {
	sessions.Session

	Prompt string `json:"prompt,omitempty"`
}

// Film says whether a task was filmed, and when its steps begin there.
type Film struct {
	Filmed   bool      `json:"filmed"`
	Chapters []Chapter `json:"chapters"`
}

// Chapter is a part of a film. Step is the number of a step, or larger than any for what was left out.
type Chapter struct {
	Step  uint64  `json:"step"`
	At    float64 `json:"at"` // in seconds
	Title string  `json:"title"`
}

// FilmRequest says whether the tasks of a session are filmed. Possible says that people may choose.
type FilmRequest struct {
	On       bool `json:"on"`
	Possible bool `json:"possible,omitempty"`
}

// NoteRequest is what is said to a task that runs or waits.
type NoteRequest struct {
	Text   string              `json:"text"`
	Origin sessions.OriginKind `json:"origin,omitempty"` // dashboard or terminal
}

// NoteAccepted tells which task will hear it.
type NoteAccepted struct {
	TaskID string `json:"task_id"`
}

// Channels of the tasks that come in here, see [sessions.Origin].
const (
	PageChannel     = "dashboard"
	TerminalChannel = "terminal"
)

// PrivateText stands for what was asked and answered privately. Others see that it runs, for whom, and what it costs;
// what it is about stays between clank and the person.
const PrivateText = "(private)"

// StepEvent is a step of a task, as the event "step" tells it.
type StepEvent struct {
	TaskID string        `json:"task_id"`
	Step   sessions.Step `json:"step"`
}

// PageSnapshot is where the page stands: its sessions, and the tasks that wait or run.
type PageSnapshot struct {
	Sessions []SessionView `json:"sessions"`
	Tasks    []TaskView    `json:"tasks"`

	// Questions wait for an answer, whatever door their tasks came through.
	Questions []approval.Question `json:"questions"`
}

// AnswerRequest answers a question.
type AnswerRequest struct {
	Allow      bool `json:"allow"`
	ForSession bool `json:"for_session,omitempty"`
	// Text is the answer to a question that is answered in words.
	Text string `json:"text,omitempty"`
	// Reason is why it is a no without anybody's answer: who follows the question cannot wait any longer.
	Reason string `json:"reason,omitempty"`
}
