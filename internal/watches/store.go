package watches

import (
	"context"
	"time"
)

// Store remembers watches. Its methods are safe for concurrent use and obey
// their context. [watchestest.TestStore] is the definition.
//
// [watchestest.TestStore]: https://pkg.go.dev/clank/watches/watchestest#TestStore
type Store interface {
	// AddWatch inserts w, whose ID is new. If its owner has perOwner active
	// watches already, or all people together have total, nothing is inserted
	// and the error is [ErrTooMany].
	AddWatch(ctx context.Context, w Watch, perOwner, total int) error
	// Watch returns one watch, or [ErrNotFound].
	Watch(ctx context.Context, id string) (Watch, error)
	// Watches returns those that q asks for, newest first.
	Watches(ctx context.Context, q Query) ([]Watch, error)
	// UpdateWatch reads a watch, has it changed, and saves it, with nothing in
	// between. What change returns is returned, and nothing saved, if it is an
	// error. Without such a watch it is [ErrNotFound].
	UpdateWatch(ctx context.Context, id string, change func(*Watch) error) (Watch, error)
	// PruneWatches deletes those that ended and were last looked at, or made,
	// before that time. It returns how many.
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

// Owner is who has a watch: a person at Discord, whatever the channel, or the
// operator of the machine, who has no User.
type Owner struct {
	Discord bool
	User    string
}
