package watches

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"clank/sessions"
)

// Kind names what somebody waits for.
type Kind string

// The kinds of watch.
const (
	KindChanges  Kind = "changes"  // the text changes
	KindBelow    Kind = "below"    // a number on the page is less than Number
	KindAbove    Kind = "above"    // a number on the page is more than Number
	KindContains Kind = "contains" // Text is on the page
	KindLacks    Kind = "lacks"    // Text is not on the page
	KindJudged   Kind = "judged"   // What holds, as a model judges
)

// State tells whether a watch goes on.
type State string

// The states. Only an active watch is looked at.
const (
	StateActive State = "active"
	StateEnded  State = "ended" // by a person, by its time, or because the page could not be read any more; see Reason
)

// Watch is one page that is looked at for one person.
type Watch struct {
	ID     string          `json:"id"`
	Origin sessions.Origin `json:"origin"` // who wants to be told, and where
	URL    string          `json:"url"`
	What   string          `json:"what"` // what is waited for, in words
	Condition
	Every time.Duration `json:"every_ns"`
	Until time.Time     `json:"until"`

	State      State     `json:"state"`
	Reason     string    `json:"reason,omitempty"` // why it ended
	Created    time.Time `json:"created"`
	NextCheck  time.Time `json:"next"`             // when it is looked at again
	CheckedAt  time.Time `json:"checked,omitzero"` // when the page was last read
	NotifiedAt time.Time `json:"told,omitzero"`    // when its owner was last told of something

	Failures      int     `json:"failures,omitempty"` // in a row
	Problem       string  `json:"problem,omitempty"`  // of the last of them
	NeedsBrowser  bool    `json:"scripts,omitempty"`  // the page is empty without a browser
	Seen          Seen    `json:"seen"`
	PendingNotice *Notice `json:"pending,omitempty"` // what its owner is to be told and was not yet
	LastNotice    *Notice `json:"last,omitempty"`    // what its owner was told last
}

// Condition tells a program what is waited for.
type Condition struct {
	Kind     Kind    `json:"kind"`
	Number   float64 `json:"number,omitempty"`   // of Below and Above
	Currency string  `json:"currency,omitempty"` // of Below and Above: only amounts in it count; ISO 4217 or a symbol; empty = any
	Text     string  `json:"text,omitempty"`     // of Contains and Lacks
	Near     string  `json:"near,omitempty"`     // words of the page beside what matters; empty = the whole page counts
}

// Seen holds what a watch knows of its page.
type Seen struct {
	Title string   `json:"title,omitempty"`
	Lines []string `json:"lines,omitempty"` // with which the page is compared
	Noise []string `json:"noise,omitempty"` // shapes of lines that change by themselves
	Value string   `json:"value,omitempty"` // the number, as the page writes it
	Met   bool     `json:"met,omitempty"`   // the condition held at the last look
}

// Reading is a page as it was read once. All of it comes from strangers.
type Reading struct {
	URL   string
	Title string
	Text  string // Markdown
}

// Notice tells the owner of a watch its news.
type Notice struct {
	At    time.Time  `json:"at"`
	Kind  NoticeKind `json:"kind"`
	Text  string     `json:"text"`           // a sentence; may quote the page
	Diff  []string   `json:"diff,omitempty"` // lines of the page, "+ …" for new ones, "- …" for those that went
	Title string     `json:"title,omitempty"`
}

// NoticeKind names what a notice is about.
type NoticeKind string

// The kinds of news.
const (
	NoticeMet     NoticeKind = "happened" // what was waited for
	NoticeTrouble NoticeKind = "trouble"  // the page cannot be read for now
	NoticeEnded   NoticeKind = "over"     // the watch has ended
)

// Errors that callers tell apart.
var (
	// ErrNotFound says that there is no such watch.
	ErrNotFound = errors.New("there is no such watch")
	// ErrInvalid says that a watch cannot be as it was asked for.
	ErrInvalid = errors.New("the watch is not possible")
	// ErrTooMany says that somebody has as many watches as are allowed.
	ErrTooMany = errors.New("there are too many watches")
	// ErrForbidden says that somebody may not end a watch.
	ErrForbidden = errors.New("this is somebody else's watch")
	// ErrAlreadyEnded says that a watch has ended already.
	ErrAlreadyEnded = errors.New("the watch has ended")
	// ErrNeedsBrowser is of a page that is empty, or refused, without a browser.
	ErrNeedsBrowser = errors.New("the page needs a browser")
)

// Store remembers watches. Its methods are safe for concurrent use and obey
// their context. [sqlitetest.TestWatches] is the definition.
//
// [sqlitetest.TestWatches]: https://pkg.go.dev/clank/internal/test/sqlitetest#TestWatches
type Store interface {
	// AddWatch inserts w, whose ID is new. If its owner has perOwner active watches already, or all people together
	// have total, nothing is inserted and the error is [ErrTooMany].
	AddWatch(ctx context.Context, w Watch, perOwner, total int) error
	// Watch returns one watch, or [ErrNotFound].
	Watch(ctx context.Context, id string) (Watch, error)
	// Watches returns those that q asks for, newest first.
	Watches(ctx context.Context, q Query) ([]Watch, error)
	// UpdateWatch reads a watch, has it changed, and saves it, with nothing in between. What change returns is
	// returned, and nothing saved, if it is an error. Without such a watch it is [ErrNotFound].
	UpdateWatch(ctx context.Context, id string, change func(*Watch) error) (Watch, error)
	// PruneWatches deletes those that ended and were last looked at, or made, before that time. It returns how many.
	PruneWatches(ctx context.Context, before time.Time) (int, error)
}

// Query asks for watches. Fields that are zero do not restrict it.
type Query struct {
	Owner  *Owner
	Guild  string
	Active bool
	Limit  int // how many at most; 0 = 1,000
}

// DefaultQueryLimit is the Limit of a [Query] without one.
const DefaultQueryLimit = 1000

// Owner names who has a watch: a person at Discord, whatever the channel, or the
// operator of the machine, who has no User.
type Owner struct {
	Discord bool
	User    string
}

// OwnerOf returns who asks from o. The dashboard and terminals belong to the operator.
func OwnerOf(o sessions.Origin) Owner {
	return Owner{Discord: o.Kind == sessions.FromDiscord, User: o.User}
}

// MayEnd returns nil if who asks from there may end the watch: its owner, anyone who manages messages where it
// reports, and the operator from the dashboard or a terminal. Otherwise it returns [ErrForbidden].
func (w Watch) MayEnd(from sessions.Origin) error {
	operator := from.Kind != sessions.FromDiscord
	owner := OwnerOf(from) == OwnerOf(w.Origin) && from.User != ""
	if operator || owner || from.Moderates(w.Origin.Guild, w.Origin.Channel) {
		return nil
	}
	return fmt.Errorf("end the watch %s: %w; %s, or somebody who manages messages there, can end it", w.ID, ErrForbidden, cmp.Or(w.Origin.UserName, "its owner"))
}
