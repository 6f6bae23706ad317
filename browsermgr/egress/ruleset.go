package egress

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"sync"
	"time"

	"clank/browsermgr/egress/policy"
)

// ruleset is a compiled version of the rules. It is immutable.
type ruleset struct {
	rules       policy.Rules
	policy      *policy.Policy
	listedHosts *policy.Policy // allows only hosts named by a list; nil if nobody is asked about others
	err         error
}

// RuleUnreadable refuses everything while the rules do not compile; RuleNotApproved refuses a host without a person's
// approval. The other rules are those of package policy.
const (
	RuleUnreadable  = "rules-unreadable"
	RuleNotApproved = "not-approved"
)

// unreadableError refuses everything.
type unreadableError struct{ cause error }

func (u *unreadableError) Error() string {
	return fmt.Sprintf("the settings of what pages may reach cannot be read, so nothing is: %v", u.cause)
}
func (u *unreadableError) Unwrap() error { return u.cause }

// NotApprovedError refuses a host that a person was asked about and did not approve.
type NotApprovedError struct {
	Host  string
	Cause error
}

func (e *NotApprovedError) Error() string {
	return fmt.Sprintf("%s is a new host, and nobody allowed it: %v. Ask again in a minute; or the operator can allow "+
		"this host under "+
		`"Allowed hosts" in the settings.`, e.Host, e.Cause)
}
func (e *NotApprovedError) Unwrap() error { return e.Cause }

// ruleOf returns the stable id of the rule behind an error; empty if it is not a refusal.
func ruleOf(err error) string {
	var refusal *policy.Refusal
	var denied *NotApprovedError
	var broken *unreadableError
	switch {
	case errors.As(err, &refusal):
		return refusal.Rule
	case errors.As(err, &denied):
		return RuleNotApproved
	case errors.As(err, &broken):
		return RuleUnreadable
	}
	return ""
}

func isRefusal(err error) bool { return err != nil && ruleOf(err) != "" }

// currentRuleset returns the present rules. If they have changed, connections that they forbid are closed.
func (g *Proxy) currentRuleset() *ruleset {
	now, ask := g.Config.Rules(), g.Config.AskUnlisted()
	g.mu.Lock()
	now.Own, now.Machine = append(slices.Clip(now.Own), g.ownListeners...), g.machine
	if l := g.ruleset; l != nil && (l.listedHosts != nil) == ask && reflect.DeepEqual(l.rules, now) {
		g.mu.Unlock()
		return l
	}
	l := compileRuleset(now, ask)
	g.ruleset = l
	g.mu.Unlock()
	for _, d := range g.profileProxies() {
		d.enforce(l)
	}
	return l
}

func compileRuleset(rules policy.Rules, ask bool) *ruleset {
	l := &ruleset{rules: rules}
	p, err := policy.Compile(rules)
	if err != nil {
		l.err = &unreadableError{err}
	}
	l.policy = p
	if !ask {
		return l
	}
	// An empty list would match every host.
	lists := slices.Concat(rules.AllowedHosts, rules.HostAllowlist, []string{"host.invalid"})
	if l.listedHosts, err = policy.Compile(policy.Rules{
		PrivateNetwork: policy.PrivateAllowed,
		HostAllowlist:  lists,
	}); err != nil {
		l.err, l.listedHosts = &unreadableError{err}, p
	}
	return l
}

// needsApproval reports whether a person is asked about the host.
func (l *ruleset) needsApproval(t policy.Target) bool {
	if l.listedHosts == nil || l.err != nil {
		return false
	}
	_, err := l.listedHosts.CheckHostPort(t.Host, t.Port)
	return err != nil
}

func (l *ruleset) address(raw string) (policy.Target, error) {
	if l.err != nil {
		return policy.Target{}, l.err
	}
	return l.policy.CheckURL(raw)
}

func (l *ruleset) hostPort(host string, port uint16) (policy.Target, error) {
	if l.err != nil {
		return policy.Target{}, l.err
	}
	return l.policy.CheckHostPort(host, port)
}

// stillAllows reports whether an open connection may stay. addrs is empty if an upstream proxy resolved the name.
func (l *ruleset) stillAllows(t policy.Target, addrs []netip.Addr) bool {
	if _, err := l.hostPort(t.Host, t.Port); err != nil {
		return false
	}
	return !slices.ContainsFunc(addrs, func(a netip.Addr) bool { return l.policy.CheckIP(t, a) != nil })
}

// Approver asks a person whether the pages of a profile may reach a host. A nil error means approval, once or for the
// browser session. It limits the wait for the person itself.
type Approver interface {
	ApproveHost(ctx context.Context, profile, host, why string) (forSession bool, err error)
}

const (
	// Approval for once also covers requests that follow at once, since a page has subresources. A denial lasts longer,
	// so that a page cannot pester people.
	approvalTTL         = 30 * time.Second
	denialTTL           = time.Minute
	maxPendingApprovals = 4   // questions of a profile at a time
	maxKeptAnswers      = 512 // answers
)

var (
	errNoApprover       = errors.New("there is nobody to ask")
	errTooManyApprovals = errors.New("too many questions are open already")
)

// approvals holds the questions and answers about the hosts of one profile. The zero value is ready to use.
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

// pendingApproval is an open question. err is set before done is closed.
type pendingApproval struct {
	waiting int // guarded by approvals.mu
	cancel  context.CancelFunc
	done    chan struct{}
	err     error
}

// reset forgets all answers.
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

// lookup returns the answer about the host, if known. The caller holds q.mu.
func (q *approvals) lookup(host string) (err error, known bool) {
	if q.forSession[host] {
		return nil, true
	}
	if v, ok := q.answers[host]; ok && time.Now().Before(v.until) {
		return v.err, true
	}
	return nil, false
}

// ask returns nil if the host may be reached. Requests for the same host share a question.
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

// begin asks, until nobody waits for the answer any more. The caller holds q.mu.
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

// remember stores an answer. The caller holds q.mu.
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

// close cancels the questions and waits for them.
func (q *approvals) close() {
	q.mu.Lock()
	q.closed = true
	for _, one := range q.open {
		one.cancel()
	}
	q.mu.Unlock()
	q.work.Wait()
}
