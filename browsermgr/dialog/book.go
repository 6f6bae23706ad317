// Package dialog keeps the book on the JavaScript dialogs of a page: which are open, which were closed and by whom, and how
// the next one is to be answered. It speaks no protocol: who keeps the book opens and answers them.
package dialog

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"clank/browsermgr/fault"
)

// Who closed a dialog.
const (
	ByAgent  = "agent"  // it was answered on request
	ByArmed  = "armed"  // its answer was given beforehand
	ByRemote = "remote" // a person answered it, or its page went away
)

// Limits of how long an answer given beforehand waits for its dialog; 0 means ArmedLongest.
const (
	ArmedShortest = 500 * time.Millisecond
	ArmedLongest  = 120 * time.Second
)

// maxRecent is how many closed dialogs are remembered.
const maxRecent = 20

// ErrNone says that no dialog is open that could be answered.
var ErrNone = errors.New("no dialog is open")

// Dialog is a JavaScript dialog of a page: alert, confirm, prompt or beforeunload.
type Dialog struct {
	ID           string    `json:"id"` // d1, d2, … per tab
	Type         string    `json:"type"`
	Message      string    `json:"message"`
	DefaultValue string    `json:"defaultValue,omitempty"` // of a prompt
	URL          string    `json:"url,omitempty"`          // of the frame that opened it
	OpenedAt     time.Time `json:"openedAt"`
	ClosedAt     time.Time `json:"closedAt,omitzero"`
	ClosedBy     string    `json:"closedBy,omitempty"` // agent, armed or remote
}

// List is what a tab knows of its dialogs. Both lists are oldest first.
type List struct {
	Pending []Dialog `json:"pending"`
	Recent  []Dialog `json:"recent"` // closed ones, at most 20
}

// Answer is how a dialog is answered.
type Answer struct {
	// ID names the dialog; "" means the only one.
	ID     string
	Accept bool
	// PromptText is what a prompt returns when it is accepted.
	PromptText string
}

// Book is the book of one tab. From is what a dialog came from. The zero value is ready for use, by one goroutine at a time.
type Book[From comparable] struct {
	count   int
	pending []*entry[From]
	recent  []Dialog
	armed   *Answer
	until   time.Time // when armed is forgotten
	leaving int       // navigations and closings under way: beforeunload is accepted
	closing bool      // the tab is being closed: everything else is dismissed
}

type entry[From comparable] struct {
	Dialog

	from From
}

// Open notes a dialog that opened and gives it its id. If its answer is known already it is returned, for the caller to give.
func (b *Book[From]) Open(d Dialog, from From) (Dialog, *Answer) {
	b.count++
	d.ID = fmt.Sprintf("d%d", b.count)
	e := &entry[From]{Dialog: d, from: from}
	b.pending = append(b.pending, e)
	var answer *Answer
	switch unload := d.Type == "beforeunload"; {
	case unload && b.leaving > 0, b.closing:
		answer = &Answer{ID: d.ID, Accept: unload}
		e.ClosedBy = ByAgent
	case b.armed != nil && d.OpenedAt.Before(b.until):
		answer, b.armed = b.armed, nil
		answer.ID = d.ID
		e.ClosedBy = ByArmed
	}
	return e.Dialog, answer
}

// Close notes that a dialog of this origin closed: those of one page close in the order they opened.
func (b *Book[From]) Close(from From, now time.Time) {
	i := slices.IndexFunc(b.pending, func(e *entry[From]) bool { return e.from == from })
	if i < 0 && len(b.pending) > 0 {
		i = 0
	}
	b.drop(i, now)
}

// CloseAll notes that the page is gone, with all its dialogs.
func (b *Book[From]) CloseAll(now time.Time) {
	for len(b.pending) > 0 {
		b.drop(0, now)
	}
}

func (b *Book[From]) drop(i int, now time.Time) {
	if i < 0 {
		return
	}
	d := b.pending[i].Dialog
	b.pending = slices.Delete(b.pending, i, i+1)
	d.ClosedAt = now
	if d.ClosedBy == "" {
		d.ClosedBy = ByRemote
	}
	b.recent = append(b.recent, d)
	if len(b.recent) > maxRecent {
		b.recent = slices.Delete(b.recent, 0, 1)
	}
}

// First is the dialog that has been open for longest.
func (b *Book[From]) First() (Dialog, bool) {
	if len(b.pending) == 0 {
		return Dialog{}, false
	}
	return b.pending[0].Dialog, true
}

// Pending says whether a dialog is open.
func (b *Book[From]) Pending(id string) bool {
	return slices.ContainsFunc(b.pending, func(e *entry[From]) bool { return e.ID == id })
}

// List returns copies.
func (b *Book[From]) List() List {
	l := List{Pending: []Dialog{}, Recent: append([]Dialog{}, b.recent...)}
	for _, e := range b.pending {
		l.Pending = append(l.Pending, e.Dialog)
	}
	return l
}

// Pick finds the dialog that an answer is for, with where it came from, and marks it as answered on request. The error wraps
// [ErrNone] if it is not open, and fault.ErrInvalid if several are and none was named.
func (b *Book[From]) Pick(a Answer) (Dialog, From, error) {
	var none From
	var ids []string
	for _, e := range b.pending {
		if e.ID == a.ID || a.ID == "" && len(b.pending) == 1 {
			e.ClosedBy = ByAgent
			return e.Dialog, e.from, nil
		}
		ids = append(ids, e.ID)
	}
	switch {
	case a.ID != "":
		return Dialog{}, none, fmt.Errorf("dialog %q is not pending (%w)", a.ID, withOpen(ids))
	case len(ids) == 0:
		return Dialog{}, none, ErrNone
	}
	return Dialog{}, none, fault.Invalidf("several dialogs are pending: name one of them by dialogId, %s", strings.Join(ids, ", "))
}

func withOpen(ids []string) error {
	if len(ids) == 0 {
		return ErrNone
	}
	return fmt.Errorf("%w by that id: %s", ErrNone, strings.Join(ids, ", "))
}

// Unmark takes back that a dialog was answered.
func (b *Book[From]) Unmark(id string) {
	for _, e := range b.pending {
		if e.ID == id {
			e.ClosedBy = ""
		}
	}
}

// Arm gives the answer for the next dialog, in place of an earlier one. It is kept for a time, see [ArmedLongest].
func (b *Book[From]) Arm(a Answer, now time.Time, keep time.Duration) {
	if keep <= 0 {
		keep = ArmedLongest
	}
	b.armed, b.until = &a, now.Add(min(max(keep, ArmedShortest), ArmedLongest))
}

// Leave notes that the page is about to be left on request, until Left is called. It returns the origins of open
// beforeunload dialogs, which the caller accepts.
func (b *Book[From]) Leave() []From {
	b.leaving++
	return b.take(func(e *entry[From]) bool { return e.Type == "beforeunload" })
}

// Left notes that leaving has come to its end, one way or the other.
func (b *Book[From]) Left() {
	if b.leaving--; b.leaving == 0 {
		b.closing = false
	}
}

// Dismiss notes that the tab is about to be closed, until Left is called: dialogs that open are dismissed. It returns the
// origins of open ones, which the caller dismisses.
func (b *Book[From]) Dismiss() []From {
	b.closing = true
	return b.take(func(*entry[From]) bool { return true })
}

// take marks open dialogs as answered and returns where they came from.
func (b *Book[From]) take(which func(*entry[From]) bool) []From {
	var from []From
	for _, e := range b.pending {
		if e.ClosedBy == "" && which(e) {
			e.ClosedBy = ByAgent
			from = append(from, e.from)
		}
	}
	return from
}
