package egress

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Approver asks a person whether the pages of a profile may reach a host. A nil error is a yes: once, or for the
// session of the browser. It bounds by itself how long it waits for the person.
type Approver interface {
	ApproveHost(ctx context.Context, profile, host, why string) (forSession bool, err error)
}

const (
	// An answer for once also holds for what follows at once: a page comes with its pictures. A no holds for longer, so
	// that a page cannot wear people down.
	approvalTTL         = 30 * time.Second
	denialTTL           = time.Minute
	maxPendingApprovals = 4   // questions of a profile at a time
	maxKeptAnswers      = 512 // answers
)

var (
	errNoApprover       = errors.New("there is nobody to ask")
	errTooManyApprovals = errors.New("too many questions are open already")
)

// approvals are those about the hosts of one profile. The zero value is ready.
type approvals struct {
	work sync.WaitGroup

	mu         sync.Mutex
	closed     bool
	forSession map[string]bool
	answers    map[string]approvalAnswer
	open       map[string]*pendingApproval
}

type approvalAnswer struct {
	err   error
	until time.Time
}

// pendingApproval is one under way. err is set before done is closed.
type pendingApproval struct {
	waiting int // guarded by questions.mu
	cancel  context.CancelFunc
	done    chan struct{}
	err     error
}

// reset forgets what was answered.
func (q *approvals) reset() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.forSession, q.answers = nil, nil
}

func (q *approvals) approved(host string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	v, known := q.lookup(host)
	return known && v == nil
}

// lookup returns the answer that was given about the host. q.mu is held.
func (q *approvals) lookup(host string) (err error, known bool) {
	if q.forSession[host] {
		return nil, true
	}
	if v, ok := q.answers[host]; ok && time.Now().Before(v.until) {
		return v.err, true
	}
	return nil, false
}

// ask returns nil if the host may be reached. Requests for one host share a question.
func (q *approvals) ask(ctx context.Context, asker Approver, profile, host, why string) error {
	if asker == nil {
		return &NotApprovedError{host, errNoApprover}
	}
	q.mu.Lock()
	if err, known := q.lookup(host); known {
		q.mu.Unlock()
		return err
	}
	one := q.open[host]
	if one == nil {
		if q.closed || len(q.open) >= maxPendingApprovals {
			q.mu.Unlock()
			return &NotApprovedError{host, errTooManyApprovals}
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
func (q *approvals) begin(ctx context.Context, asker Approver, profile, host, why string) *pendingApproval {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	one := &pendingApproval{cancel: cancel, done: make(chan struct{})}
	if q.open == nil {
		q.open = map[string]*pendingApproval{}
	}
	q.open[host] = one
	q.work.Go(func() {
		defer cancel()
		forSession, err := asker.ApproveHost(ctx, profile, host, why)
		if err != nil {
			one.err = &NotApprovedError{host, err}
		}
		q.mu.Lock()
		if q.open[host] == one {
			delete(q.open, host)
			q.remember(host, forSession, one.err)
		}
		q.mu.Unlock()
		close(one.done)
	})
	return one
}

// remember remembers an answer. q.mu is held.
func (q *approvals) remember(host string, forSession bool, err error) {
	if err == nil && forSession {
		if q.forSession == nil {
			q.forSession = map[string]bool{}
		}
		q.forSession[host] = true
		return
	}
	if q.answers == nil || len(q.answers) >= maxKeptAnswers {
		q.answers = map[string]approvalAnswer{}
	}
	holds := approvalTTL
	if err != nil {
		holds = denialTTL
	}
	q.answers[host] = approvalAnswer{err, time.Now().Add(holds)}
}

// close ends the questions and waits for them.
func (q *approvals) close() {
	q.mu.Lock()
	q.closed = true
	for _, one := range q.open {
		one.cancel()
	}
	q.mu.Unlock()
	q.work.Wait()
}
