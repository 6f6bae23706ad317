package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"clank/llm"
	"clank/sessions"
)

// ContextError returns the cause of ctx if it has ended, else err.
func ContextError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// RunWithin runs do within limit. After a timeout the error says so, whatever do returned.
func RunWithin(ctx context.Context, limit time.Duration, do func(context.Context) error) error {
	acting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := do(acting)
	if err != nil && acting.Err() != nil {
		return fmt.Errorf("no result within %s", limit)
	}
	return err
}

// StepGate waits for a slot among the steps that run at once. The caller calls end after the step. The error is the
// cause of ctx. A nil StepGate does not wait.
type StepGate func(ctx context.Context) (end func(), err error)

// Begin calls the gate, if there is one.
func (g StepGate) Begin(ctx context.Context) (end func(), err error) {
	if g == nil {
		return func() {}, nil
	}
	return g(ctx)
}

// EndUserID returns a hashed id of the person served, for vendors that ask for one; "" if there is none.
func EndUserID(o sessions.Origin) string {
	if o.User == "" {
		return ""
	}
	sum := sha256.Sum256([]byte("clank\x00" + string(o.Kind) + "\x00" + o.User))
	return hex.EncodeToString(sum[:16])
}

// AccountOf returns the account to charge for the model calls of a task.
func AccountOf(s sessions.Session, t sessions.Task) llm.Account {
	a := PersonAccount(t.Origin, "browse")
	a.Task, a.Session, a.MaxUSD = t.ID, s.ID, t.MaxUSD
	return a
}

// PersonAccount returns the account to charge for model calls on behalf of the person at o.
func PersonAccount(o sessions.Origin, purpose string) llm.Account {
	return llm.Account{Guild: o.Guild, Channel: o.Channel, User: PersonID(o), Purpose: purpose}
}

// PersonID returns the id of the person at o, prefixed with the front end; "" if they have no id.
func PersonID(o sessions.Origin) string {
	if o.User == "" {
		return ""
	}
	return string(o.Kind) + ":" + o.User
}

// A model that repeats itself is warned after WarnRepeats and ended after MaxRepeats, also if it repeats a cycle of
// up to maxCycle actions.
const (
	WarnRepeats = 3
	MaxRepeats  = 5
	maxCycle    = 3
)

// RepeatDetector detects a model that repeats itself. The zero value is ready.
type RepeatDetector struct {
	recent []string // actions with their results, newest last
}

// Add records an action with its result and returns how often in a row it, or the cycle that it ends, has occurred.
func (r *RepeatDetector) Add(what string) int {
	r.recent = append(r.recent, what)
	r.recent = r.recent[max(0, len(r.recent)-maxCycle*MaxRepeats):]
	most := 1
	for cycle := 1; cycle <= maxCycle; cycle++ {
		same := cycle
		for i := len(r.recent) - 1 - cycle; i >= 0 && r.recent[i] == r.recent[i+cycle]; i-- {
			same++
		}
		most = max(most, same/cycle)
	}
	return most
}
