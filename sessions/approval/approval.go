package approval

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Class is a kind of thing that people may want to decide themselves.
type Class string

// The classes.
const (
	ClassSubmit     Class = "submit"     // hand over a form with personal data
	ClassBuy        Class = "buy"        // buy, order, pay, donate
	ClassSend       Class = "send"       // send, post, publish, share
	ClassDelete     Class = "delete"     // delete, close an account, cancel a subscription
	ClassPermission Class = "permission" // let a page use the camera, the place, …
	ClassExecutable Class = "executable" // download a program
	ClassLeave      Class = "leave"      // go to a site that is not on the operator's list
	ClassHost       Class = "host"       // reach a host for the first time
	ClassLogin      Class = "login"      // sign in with a kept login
	ClassUnclear    Class = "unclear"    // use a control that may do something, in a language or by an icon that nobody could read
	ClassSafety     Class = "safety"     // what a model's vendor wants a person to look at
	ClassHandOver   Class = "handover"   // leave the rest of a task to another runtime
	ClassTakeOver   Class = "takeover"   // work the page oneself: people are asked to do something, whatever the rules
	ClassAnswer     Class = "answer"     // tell a model what it asks: people are asked that, whatever the rules
)

// Classes returns all classes that rules are for, most serious first: if an action has several, the question is about the first.
func Classes() []Class {
	return []Class{ClassBuy, ClassDelete, ClassSend, ClassExecutable, ClassLogin, ClassPermission, ClassSubmit, ClassUnclear, ClassSafety, ClassHandOver, ClassHost, ClassLeave}
}

// AllowedForSession reports whether c may be allowed for the rest of a session. What costs
// money or cannot be undone is asked each time.
func (c Class) AllowedForSession() bool {
	return slices.Contains([]Class{ClassHost, ClassLeave, ClassSubmit, ClassSend, ClassUnclear}, c)
}

// Rule says what becomes of a class.
type Rule string

// The rules. Whatever is none of them counts as Ask.
const (
	RuleAllow  Rule = "allow"
	RuleAsk    Rule = "ask"
	RuleRefuse Rule = "refuse"
)

// Question is what people are asked. ID, At and Until are set by the [Queue].
type Question struct {
	ID    string `json:"id"`
	Class Class  `json:"class"`

	Source   string `json:"door,omitempty"` // where the task came from: "discord", "dashboard", "terminal"
	Guild    string `json:"guild,omitempty"`
	Channel  string `json:"channel,omitempty"`
	User     string `json:"user,omitempty"` // id of the one who asked for the task
	UserName string `json:"user_name,omitempty"`
	Private  bool   `json:"private,omitempty"` // only User, and the operator, may see it
	Task     string `json:"task,omitempty"`
	Session  string `json:"session,omitempty"`
	Profile  string `json:"profile,omitempty"`

	Text   string `json:"text"`             // what is to be done, in our words alone
	Detail string `json:"detail,omitempty"` // what the page says of it: written by strangers, to be shown as such
	Origin string `json:"origin,omitempty"` // of the page, or the host that is meant
	Link   string `json:"link,omitempty"`   // where the page can be worked, of a question to take over
	// Choices are of a question whose answer is words: one of them, or others. Detail is the question, in the model's words.
	Choices []string  `json:"choices,omitempty"`
	At      time.Time `json:"at"`
	Until   time.Time `json:"until"` // silence counts as a no from then on
}

// Answer tells what came of a question.
type Answer struct {
	Allowed    bool   `json:"allowed"`
	ForSession bool   `json:"for_session,omitempty"` // the same class and origin are not asked again in this session
	By         string `json:"by,omitempty"`          // who answered, as people read it; empty = nobody
	Reason     string `json:"reason,omitempty"`      // why it is a no without anybody's answer
	Text       string `json:"text,omitempty"`        // what is said, of an answer in words
}

// String says the answer in a few words: "allowed by @ada".
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

// DeniedError is the error of a question whose answer is no. Its text is meant for people and models.
type DeniedError struct {
	Class  Class
	By     string // who said no; empty if nobody did
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
	ErrNoWords    = errors.New("this question is answered in words")
	ErrOnceOnly   = errors.New("this cannot be allowed for a whole session: allow it once, or refuse it")
)

// allowHint says how a class is allowed where nobody can be asked.
func allowHint(c Class) string {
	if c == ClassTakeOver || c == ClassAnswer {
		return "somebody has to have the dashboard open, or to have asked in Discord"
	}
	if c == ClassHandOver {
		return "to allow it, set agentStack.runtimeConfig.browser.handOff to allow, or use clank browse --allow handover"
	}
	return fmt.Sprintf("to allow it, set interaction.consent.%[1]s to allow, or use clank browse --allow %[1]s", c)
}
