package egress

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Asker asks a person whether the pages of a profile may reach a host. A nil error is a yes: once, or for the session of
// the browser. It bounds by itself how long it waits for the person.
type Asker interface {
	AskHost(ctx context.Context, profile, host, why string) (forSession bool, err error)
}

const (
	// An answer for once also holds for what follows at once: a page comes with its pictures. A no holds for longer, so
	// that a page cannot wear people down.
	yesHolds = 30 * time.Second
	noHolds  = time.Minute
	mostOpen = 4   // questions of a profile at a time
	mostKept = 512 // answers
)

var (
	errNobody  = errors.New("there is nobody to ask")
	errTooMany = errors.New("too many questions are open already")
)

// questions are those about the hosts of one profile. The zero value is ready.
type questions struct {
	work sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	session map[string]bool
	answers map[string]verdict
	open    map[string]*question
}

type verdict struct {
	err   error
	until time.Time
}

// question is one under way. err is set before done is closed.
type question struct {
	waiting int // guarded by questions.mu
	cancel  context.CancelFunc
	done    chan struct{}
	err     error
}

// reset forgets what was answered.
func (q *questions) reset() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.session, q.answers = nil, nil
}

func (q *questions) approved(host string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	v, known := q.known(host)
	return known && v == nil
}

// known is the answer that was given about the host. q.mu is held.
func (q *questions) known(host string) (err error, known bool) { //nolint:revive // the error is the answer, not a failure
	if q.session[host] {
		return nil, true
	}
	if v, ok := q.answers[host]; ok && time.Now().Before(v.until) {
		return v.err, true
	}
	return nil, false
}

// ask returns nil if the host may be reached. Requests for one host share a question.
func (q *questions) ask(ctx context.Context, asker Asker, profile, host, why string) error {
	if asker == nil {
		return &NotApproved{host, errNobody}
	}
	q.mu.Lock()
	if err, known := q.known(host); known {
		q.mu.Unlock()
		return err
	}
	one := q.open[host]
	if one == nil {
		if q.closed || len(q.open) >= mostOpen {
			q.mu.Unlock()
			return &NotApproved{host, errTooMany}
		}
		one = q.begin(ctx, asker, profile, host, why)
	}
	one.waiting++
	q.mu.Unlock()

	select {
	case <-one.done:
		return one.err
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if one.waiting--; one.waiting == 0 {
		one.cancel()
		if q.open[host] == one {
			delete(q.open, host)
		}
	}
	return context.Cause(ctx)
}

// begin asks, for as long as somebody waits for the answer. q.mu is held.
func (q *questions) begin(ctx context.Context, asker Asker, profile, host, why string) *question {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	one := &question{cancel: cancel, done: make(chan struct{})}
	if q.open == nil {
		q.open = map[string]*question{}
	}
	q.open[host] = one
	q.work.Go(func() {
		defer cancel()
		forSession, err := asker.AskHost(ctx, profile, host, why)
		if err != nil {
			one.err = &NotApproved{host, err}
		}
		q.mu.Lock()
		if q.open[host] == one {
			delete(q.open, host)
			q.keep(host, forSession, one.err)
		}
		q.mu.Unlock()
		close(one.done)
	})
	return one
}

// keep remembers an answer. q.mu is held.
func (q *questions) keep(host string, forSession bool, err error) {
	if err == nil && forSession {
		if q.session == nil {
			q.session = map[string]bool{}
		}
		q.session[host] = true
		return
	}
	if q.answers == nil || len(q.answers) >= mostKept {
		q.answers = map[string]verdict{}
	}
	holds := yesHolds
	if err != nil {
		holds = noHolds
	}
	q.answers[host] = verdict{err, time.Now().Add(holds)}
}

// close ends the questions and waits for them.
func (q *questions) close() {
	q.mu.Lock()
	q.closed = true
	for _, one := range q.open {
		one.cancel()
	}
	q.mu.Unlock()
	q.work.Wait()
}
