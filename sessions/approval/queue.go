package approval

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"clank/sessions"
)

const (
	defaultWait = time.Minute
	maxPending  = 100  // questions at once: more means that something is wrong, so they are refused
	maxGrants   = 1000 // remembered approvals; the oldest is dropped
	grantLife   = 12 * time.Hour
	maxWords    = 4000 // characters of an answer
)

// Queue asks people for approval. Set its fields before its first use; the zero value asks about everything and waits
// a minute. Its methods are safe for concurrent use.
type Queue struct {
	Rule   func(Class) Rule     // the rule of a class; nil always asks
	Wait   func() time.Duration // how long to wait for an answer; nil or zero: a minute
	Logger *slog.Logger         // nil means none

	mu        sync.Mutex
	pending   []*pendingQuestion // oldest first
	grants    []sessionGrant
	followers map[*Follower]struct{}
}

// sessionGrant is an approval for the rest of a session, to the person who asked for the task.
type sessionGrant struct {
	session string
	class   Class
	origin  string
	person  asker
	until   time.Time
}

// asker identifies the person for whom a question is asked.
type asker struct{ source, user string }

func askerOf(q Question) asker { return asker{q.Source, q.User} }

// pendingQuestion is an unanswered question and its waiting callers.
type pendingQuestion struct {
	question Question
	askers   int           // callers that wait for it; guarded by Queue.mu
	timer    *time.Timer   // resolves it as refused
	done     chan struct{} // closed when answer is set
	answer   Answer
}

// Ask returns once the question is answered. The error is a *[DeniedError] if it was refused (by a rule, by a person,
// after a time without an answer, or because nobody can be asked), or the cause of ctx, whose end withdraws the
// question. If the same question is already pending, Ask waits for its answer.
func (d *Queue) Ask(ctx context.Context, q Question) (Answer, error) {
	switch d.rule(q.Class) {
	case RuleAllow:
		return Answer{Allowed: true, Reason: "the settings allow it"}, nil
	case RuleRefuse:
		return Answer{}, d.ruleError(q)
	case RuleAsk:
	}
	if ctx.Err() != nil {
		return Answer{}, context.Cause(ctx)
	}
	p, answer, err := d.enqueue(q)
	if p == nil {
		return answer, err
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		d.withdraw(p, context.Cause(ctx))
		return Answer{}, context.Cause(ctx)
	}
	if !p.answer.Allowed {
		return p.answer, &DeniedError{Class: q.Class, By: p.answer.By, Reason: p.answer.Reason}
	}
	return p.answer, nil
}

// CheckRules decides as [Queue.Ask] does where nobody can be asked: by the rules alone.
func (d *Queue) CheckRules(q Question) error {
	switch d.rule(q.Class) {
	case RuleAllow:
		return nil
	case RuleRefuse:
		return d.ruleError(q)
	default:
		return d.unreachableError(q)
	}
}

func (d *Queue) unreachableError(q Question) error {
	d.Log().Info("consent refused: nobody can be asked", "class", q.Class, "origin", q.Origin, "session", q.Session)
	return &DeniedError{Class: q.Class, Reason: "nobody is there to be asked (" + allowHint(q.Class) + ")"}
}

func (d *Queue) ruleError(q Question) error {
	denied := &DeniedError{Class: q.Class, Reason: fmt.Sprintf("the settings refuse it (interaction.consent.%s)", q.Class)}
	d.Log().Info("consent refused by the settings",
		"class", q.Class, "origin", q.Origin, "session", q.Session, "user", q.User)
	return denied
}

// enqueue adds q to the queue or finds the same question there. The pending question is nil if no person needs to be
// asked.
func (d *Queue) enqueue(q Question) (*pendingQuestion, Answer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.granted(q) {
		return nil, Answer{Allowed: true, ForSession: true, Reason: "it was allowed for this session"}, nil
	}
	for _, p := range d.pending {
		if sameQuestion(p.question, q) {
			p.askers++
			return p, Answer{}, nil
		}
	}
	switch {
	case !d.reachable(q):
		return nil, Answer{}, d.unreachableError(q)
	case len(d.pending) >= maxPending:
		return nil, Answer{}, &DeniedError{Class: q.Class, Reason: "too many questions wait for an answer already"}
	}
	wait := d.wait()
	q.ID, q.At = strings.ToLower(rand.Text()[:20]), time.Now()
	q.Until = q.At.Add(wait)
	p := &pendingQuestion{question: q, askers: 1, done: make(chan struct{})}
	p.timer = time.AfterFunc(wait, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.resolve(p, Answer{Reason: fmt.Sprintf("nobody answered within %v", sessions.DurationText(wait))})
	})
	d.pending = append(d.pending, p)
	d.publish(Event{Question: q})
	d.Log().Info("consent asked",
		"question", q.ID, "class", q.Class, "origin", q.Origin, "session", q.Session, "user", q.User)
	return p, Answer{}, nil
}

// sameQuestion reports whether one answer serves both questions: people must have read the same text, for the same
// person and session.
func sameQuestion(a, b Question) bool {
	return askerOf(a) == askerOf(b) && a.Guild == b.Guild && a.Channel == b.Channel && a.Private == b.Private &&
		a.Profile == b.Profile &&
		a.Class == b.Class && a.Origin == b.Origin && a.Session == b.Session && a.Text == b.Text && a.Detail == b.Detail &&
		slices.Equal(a.Choices, b.Choices)
}

// reachable reports whether some follower can show q to a person. The lock is held.
func (d *Queue) reachable(q Question) bool {
	for f := range d.followers {
		if f.serves(q) {
			return true
		}
	}
	return false
}

// withdraw removes a caller whose context has ended. The question is withdrawn with its last caller.
func (d *Queue) withdraw(p *pendingQuestion, cause error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p.askers--; p.askers == 0 {
		d.resolve(p, Answer{Reason: "the task has ended" + ": " + cause.Error()})
	}
}

// resolve answers a question. It does nothing if the question has been answered. The lock is held.
func (d *Queue) resolve(p *pendingQuestion, a Answer) {
	i := slices.Index(d.pending, p)
	if i < 0 {
		return
	}
	d.pending = slices.Delete(d.pending, i, i+1)
	p.timer.Stop()
	p.answer = a
	close(p.done)
	q := p.question
	if a.Allowed && a.ForSession {
		if len(d.grants) >= maxGrants {
			d.grants = slices.Delete(d.grants, 0, 1)
		}
		d.grants = append(d.grants, sessionGrant{q.Session, q.Class, q.Origin, askerOf(q), time.Now().Add(grantLife)})
	}
	d.publish(Event{Question: q, Resolved: true, Answer: a})
	d.Log().Info("consent decided", "question", q.ID, "class", q.Class, "origin", q.Origin, "session", q.Session,
		"allowed", a.Allowed, "for_session", a.ForSession, "by", a.By, "reason", a.Reason)
}

// AnswerFor answers all pending questions of a class for a session.
func (d *Queue) AnswerFor(session string, c Class, a Answer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range slices.Clone(d.pending) {
		if p.question.Session == session && p.question.Class == c {
			d.resolve(p, a)
		}
	}
}

// Answer answers the question with that id. The first answer counts; later ones return [ErrNotPending]. The front end
// checks whether the person may answer.
func (d *Queue) Answer(id string, a Answer) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.pending, func(p *pendingQuestion) bool { return p.question.ID == id })
	if i < 0 {
		return ErrNotPending
	}
	p := d.pending[i]
	words := p.question.Class == ClassAnswer && a.Allowed
	if a.Text = strings.TrimSpace(a.Text); !words {
		a.Text = ""
	} else if n := utf8.RuneCountInString(a.Text); n == 0 || n > maxWords {
		return errNoWords
	}
	if a.Allowed && a.ForSession && (!p.question.Class.AllowedForSession() || p.question.Session == "") {
		return ErrOnceOnly
	}
	a.ForSession = a.ForSession && a.Allowed
	d.resolve(p, a)
	return nil
}

// Pending returns the unanswered questions, oldest first.
func (d *Queue) Pending() []Question {
	d.mu.Lock()
	defer d.mu.Unlock()
	qs := make([]Question, len(d.pending))
	for i, p := range d.pending {
		qs[i] = p.question
	}
	return qs
}

// Find returns the pending question with that id.
func (d *Queue) Find(id string) (Question, bool) {
	for _, q := range d.Pending() {
		if q.ID == id {
			return q, true
		}
	}
	return Question{}, false
}

// Granted reports whether the class of q was approved for the rest of its session, at its origin, for the person who
// asks.
func (d *Queue) Granted(q Question) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.granted(q)
}

func (d *Queue) granted(q Question) bool {
	now := time.Now()
	return q.Session != "" && slices.ContainsFunc(d.grants, func(g sessionGrant) bool {
		return g.session == q.Session && g.class == q.Class && g.origin == q.Origin && g.person == askerOf(q) &&
			now.Before(g.until)
	})
}

// ForgetSession drops the approvals of a closed session.
func (d *Queue) ForgetSession(session string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.grants = slices.DeleteFunc(d.grants, func(g sessionGrant) bool { return g.session == session })
}

func (d *Queue) rule(c Class) Rule {
	if d.Rule != nil {
		if r := d.Rule(c); r == RuleAllow || r == RuleRefuse {
			return r
		}
	}
	return RuleAsk
}

func (d *Queue) wait() time.Duration {
	if d.Wait != nil {
		if w := d.Wait(); w > 0 {
			return w
		}
	}
	return defaultWait
}

// Log returns the logger for questions and decisions.
func (d *Queue) Log() *slog.Logger { return cmp.Or(d.Logger, slog.New(slog.DiscardHandler)) }
