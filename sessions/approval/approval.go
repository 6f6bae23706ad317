package approval

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Class is a class of actions that may need a person's approval.
type Class string

// The classes.
const (
	ClassSubmit     Class = "submit"     // submit a form with personal data
	ClassBuy        Class = "buy"        // buy, order, pay, donate
	ClassSend       Class = "send"       // send, post, publish, share
	ClassDelete     Class = "delete"     // delete, close an account, cancel a subscription
	ClassPermission Class = "permission" // let a page use the camera, the location, …
	ClassExecutable Class = "executable" // download a program
	ClassLeave      Class = "leave"      // go to a site outside the operator's list
	ClassHost       Class = "host"       // reach a host for the first time
	ClassLogin      Class = "login"      // sign in with a stored login
	ClassUnclear    Class = "unclear"    // use a control whose effect could not be determined from its label or icon
	ClassSafety     Class = "safety"     // an action that a model's vendor wants a person to check
	ClassHandOver   Class = "handover"   // hand the rest of a task over to another runtime
	ClassTakeOver   Class = "takeover"   // take control of the page: always asked, whatever the rules
	ClassAnswer     Class = "answer"     // answer a question of the model: always asked, whatever the rules
)

// Classes returns all classes that rules exist for, most serious first: if an action has several, the question names
// the first.
func Classes() []Class {
	return []Class{
		ClassBuy, ClassDelete, ClassSend, ClassExecutable, ClassLogin, ClassPermission, ClassSubmit,
		ClassUnclear, ClassSafety, ClassHandOver, ClassHost, ClassLeave,
	}
}

// AllowedForSession reports whether c may be allowed for the rest of a session. Actions that cost money or cannot be
// undone are asked about each time.
func (c Class) AllowedForSession() bool {
	return slices.Contains([]Class{ClassHost, ClassLeave, ClassSubmit, ClassSend, ClassUnclear}, c)
}

// Rule says what to do with a class of actions.
type Rule string

// The rules. Any other value counts as RuleAsk.
const (
	RuleAllow  Rule = "allow"
	RuleAsk    Rule = "ask"
	RuleRefuse Rule = "refuse"
)

// Question is a question to a person. The [Queue] sets ID, At and Until.
type Question struct {
	ID    string `json:"id"`
	Class Class  `json:"class"`

	Source   string `json:"door,omitempty"` // where the task came from: "discord", "dashboard", "terminal"
	Guild    string `json:"guild,omitempty"`
	Channel  string `json:"channel,omitempty"`
	User     string `json:"user,omitempty"` // id of the person who asked for the task
	UserName string `json:"user_name,omitempty"`
	Private  bool   `json:"private,omitempty"` // only User and the operator may see it
	Task     string `json:"task,omitempty"`
	Session  string `json:"session,omitempty"`
	Profile  string `json:"profile,omitempty"`

	Text   string `json:"text"`             // what is to be done, in our own words only
	Detail string `json:"detail,omitempty"` // what the page says about it: untrusted, and to be shown as such
	Origin string `json:"origin,omitempty"` // of the page, or the host concerned
	Link   string `json:"link,omitempty"`   // for ClassTakeOver: where the page can be controlled
	// Choices are the suggested answers of a question that is answered in words; other answers are possible. Detail
	// is then the question in the model's words.
	Choices []string  `json:"choices,omitempty"`
	At      time.Time `json:"at"`
	Until   time.Time `json:"until"` // without an answer, the question is refused then
}

// Answer is the answer to a question.
type Answer struct {
	Allowed    bool   `json:"allowed"`
	ForSession bool   `json:"for_session,omitempty"` // do not ask again about this class and origin in this session
	By         string `json:"by,omitempty"`          // display name of the person who answered; empty = nobody
	ByID       string `json:"-"`                     // their id, by which the answer can be found; "" of the operator
	Reason     string `json:"reason,omitempty"`      // why it was refused if nobody answered
	Text       string `json:"text,omitempty"`        // the answer in words
}

// String returns the answer in a few words: "allowed by @ada".
func (a Answer) String() string {
	format, of := "refused by %s", a.By
	switch {
	case a.By != "" && a.Text != "":
		format = "answered by %s"
	case a.By != "" && a.ForSession:
		format = "allowed for this session by %s"
	case a.By != "" && a.Allowed:
		format = "allowed by %s"
	case a.By == "" && a.Allowed:
		format, of = "allowed: %v", a.Reason
	case a.By == "":
		format, of = "refused: %v", a.Reason
	}
	return fmt.Sprintf(format, of)
}

// DeniedError says that a question was refused. Its text is meant for people and models.
type DeniedError struct {
	Class  Class
	By     string // who refused it; empty if nobody did
	Reason string
}

func (d *DeniedError) Error() string {
	if d.By != "" {
		return fmt.Sprintf("not done: %s said no", d.By)
	}
	return "not done: " + d.Reason
}

// Errors of [Queue.Answer].
var (
	ErrNotPending = errors.New("the question has been answered, or its time is over")
	errNoWords    = errors.New("this question is answered in words")
	ErrOnceOnly   = errors.New("this cannot be allowed for a whole session: allow it once, or refuse it")
)

// allowHint says how to allow a class if nobody can be asked.
func allowHint(c Class) string {
	if c == ClassTakeOver || c == ClassAnswer {
		return "somebody has to have the dashboard open, or to have asked in Discord"
	}
	if c == ClassHandOver {
		return "to allow it, set agentStack.runtimeConfig.browser.handOff to allow, or use clank browse --allow handover"
	}
	return fmt.Sprintf("to allow it, set interaction.consent.%[1]s to allow, or use clank browse --allow %[1]s", c)
}
