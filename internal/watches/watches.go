package watches

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"clank/sessions"
)

// Kind is the kind of condition of a watch.
type Kind string

// Kinds of conditions.
const (
	KindChanges  Kind = "changes"  // the text changes
	KindBelow    Kind = "below"    // a number on the page is less than Number
	KindAbove    Kind = "above"    // a number on the page is more than Number
	KindContains Kind = "contains" // Text is on the page
	KindLacks    Kind = "lacks"    // Text is not on the page
	KindJudged   Kind = "judged"   // What holds according to a model
)

// State tells whether a watch is active.
type State string

// States of a watch. Only an active one is checked.
const (
	StateActive State = "active"
	StateEnded  State = "ended" // by a person, at its end time, or because the page could no longer be read; see Reason
)

// Watch is a page that is checked for one person.
type Watch struct {
	ID     string          `json:"id"`
	Origin sessions.Origin `json:"origin"` // the owner, and where to notify them
	URL    string          `json:"url"`
	What   string          `json:"what"` // the condition in words
	Condition
	Every time.Duration `json:"every_ns"`
	Until time.Time     `json:"until"`

	State      State     `json:"state"`
	Reason     string    `json:"reason,omitempty"` // why it ended
	Created    time.Time `json:"created"`
	NextCheck  time.Time `json:"next"`             // time of the next check
	CheckedAt  time.Time `json:"checked,omitzero"` // when the page was last read
	NotifiedAt time.Time `json:"told,omitzero"`    // time of the last notice

	Failures      int     `json:"failures,omitempty"` // consecutive failures
	Problem       string  `json:"problem,omitempty"`  // the last failure
	NeedsBrowser  bool    `json:"scripts,omitempty"`  // the page has no text without a browser
	Seen          Seen    `json:"seen"`
	PendingNotice *Notice `json:"pending,omitempty"` // not yet sent to the owner
	LastNotice    *Notice `json:"last,omitempty"`    // the last notice sent to the owner
}

// Condition is the machine-readable condition of a watch.
type Condition struct {
	Kind   Kind    `json:"kind"`
	Number float64 `json:"number,omitempty"` // for Below and Above
	// for Below and Above: only amounts in it count; ISO 4217 or a symbol; empty means any
	Currency string `json:"currency,omitempty"`
	Text     string `json:"text,omitempty"` // for Contains and Lacks
	Near     string `json:"near,omitempty"` // words of the page near the relevant part; empty means the whole page
}

// Seen is the state of the page at the last check.
type Seen struct {
	Title string   `json:"title,omitempty"`
	Lines []string `json:"lines,omitempty"` // to compare the page with
	Noise []string `json:"noise,omitempty"` // patterns of lines that change by themselves
	Value string   `json:"value,omitempty"` // the number, as written on the page
	Met   bool     `json:"met,omitempty"`   // the condition held
}

// Reading is the content of a page at one time. It is untrusted.
type Reading struct {
	URL   string
	Title string
	Text  string // Markdown
}

// Notice is a message to the owner of a watch.
type Notice struct {
	At    time.Time  `json:"at"`
	Kind  NoticeKind `json:"kind"`
	Text  string     `json:"text"`           // a sentence; may quote the page
	Diff  []string   `json:"diff,omitempty"` // changed lines, "+ …" for new ones, "- …" for removed ones
	Title string     `json:"title,omitempty"`
}

// NoticeKind is the subject of a notice.
type NoticeKind string

// Kinds of notices.
const (
	NoticeMet     NoticeKind = "happened" // the condition is met
	NoticeTrouble NoticeKind = "trouble"  // the page cannot be read at the moment
	NoticeEnded   NoticeKind = "over"     // the watch has ended
)

// Errors that callers distinguish.
var (
	// ErrNotFound means that there is no such watch.
	ErrNotFound = errors.New("there is no such watch")
	// ErrInvalid means that the requested watch is not valid.
	ErrInvalid = errors.New("the watch is not possible")
	// ErrTooMany means that the limit of watches is reached.
	ErrTooMany = errors.New("there are too many watches")
	// ErrForbidden means that a person may not end a watch.
	ErrForbidden = errors.New("this is somebody else's watch")
	// ErrAlreadyEnded means that a watch has already ended.
	ErrAlreadyEnded = errors.New("the watch has ended")
	// ErrNeedsBrowser means that a page is empty, or refused, without a browser.
	ErrNeedsBrowser = errors.New("the page needs a browser")
)

// Store stores watches. Its methods are safe for concurrent use and obey their context. [sqlitetest.TestWatches]
// defines its behavior.
//
// [sqlitetest.TestWatches]: https://pkg.go.dev/clank/internal/test/sqlitetest#TestWatches
type Store interface {
	// AddWatch inserts w, whose ID must be new. If its owner already has perOwner active watches, or all people
	// together have total, it inserts nothing and returns [ErrTooMany].
	AddWatch(ctx context.Context, w Watch, perOwner, total int) error
	// Watch returns one watch, or [ErrNotFound].
	Watch(ctx context.Context, id string) (Watch, error)
	// Watches returns the watches that q selects, newest first.
	Watches(ctx context.Context, q Query) ([]Watch, error)
	// UpdateWatch reads a watch, calls change, and saves the result, in one transaction. If change fails, its error
	// is returned and nothing is saved. If there is no such watch the error is [ErrNotFound].
	UpdateWatch(ctx context.Context, id string, change func(*Watch) error) (Watch, error)
	// PruneWatches deletes watches that ended and were last checked, or created, before a time. It returns their
	// number.
	PruneWatches(ctx context.Context, before time.Time) (int, error)
}

// Query selects watches. Zero fields do not restrict it.
type Query struct {
	Owner  *Owner
	Guild  string
	Active bool
	Limit  int // 0 means 1,000
}

// DefaultQueryLimit is the Limit of a [Query] that sets none.
const DefaultQueryLimit = 1000

// Owner is the owner of a watch: a person on Discord, in whatever channel, or the operator of the machine, who has no
// User.
type Owner struct {
	Discord bool
	User    string
}

// OwnerOf returns the owner for an origin. The dashboard and terminals belong to the operator.
func OwnerOf(o sessions.Origin) Owner {
	return Owner{Discord: o.Kind == sessions.FromDiscord, User: o.User}
}

// MayEnd returns nil if the person at from may end the watch: its owner, anyone who manages messages in its channel,
// and the operator from the dashboard or a terminal. Otherwise it returns [ErrForbidden].
func (w Watch) MayEnd(from sessions.Origin) error {
	operator := from.Kind != sessions.FromDiscord
	owner := OwnerOf(from) == OwnerOf(w.Origin) && from.User != ""
	if operator || owner || from.Moderates(w.Origin.Guild, w.Origin.Channel) {
		return nil
	}
	return fmt.Errorf("end the watch %s: %w; %s, or somebody who manages messages there, can end it", w.ID, ErrForbidden,
		cmp.Or(w.Origin.UserName, "its owner"))
}
