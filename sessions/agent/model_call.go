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

// ContextError returns why ctx ended if it has, else err.
func ContextError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// RunWithin does something within limit. What took longer is told as such, and not by what was under way then.
func RunWithin(ctx context.Context, limit time.Duration, do func(context.Context) error) error {
	acting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := do(acting)
	if err != nil && acting.Err() != nil {
		return fmt.Errorf("no result within %s", limit)
	}
	return err
}

// EndUserID returns a hashed id of the person served, for vendors that ask for one; "" if nobody is.
func EndUserID(o sessions.Origin) string {
	if o.User == "" {
		return ""
	}
	sum := sha256.Sum256([]byte("clank\x00" + string(o.Kind) + "\x00" + o.User))
	return hex.EncodeToString(sum[:16])
}

// AccountOf returns the account that the model calls of a task are for.
func AccountOf(s sessions.Session, t sessions.Task) llm.Account {
	a := PersonAccount(t.Origin, "browse")
	a.Task, a.Session, a.MaxUSD = t.ID, s.ID, t.MaxUSD
	return a
}

// PersonAccount returns the account of what the person of o asks of models for a purpose.
func PersonAccount(o sessions.Origin, purpose string) llm.Account {
	return llm.Account{Guild: o.Guild, Channel: o.Channel, User: PersonID(o), Purpose: purpose}
}

// PersonID returns the id of who asked, with the door in front; "" if nobody is named.
func PersonID(o sessions.Origin) string {
	if o.User == "" {
		return ""
	}
	return string(o.Kind) + ":" + o.User
}

// A model that repeats itself is told after WarnRepeats and ended after
// MaxRepeats; so is one that goes round in circles of up to maxCycle.
const (
	WarnRepeats = 3
	MaxRepeats  = 5
	maxCycle    = 3
)

// RepeatDetector watches for a model that goes in circles. The zero value is ready.
type RepeatDetector struct {
	recent []string // what was done and what came of it, newest last
}

// Add records what was done and what came of it, and returns how often in a row
// the newest one, or the newest circle of different ones, has occurred.
func (r *RepeatDetector) Add(what string) int {
	r.recent = append(r.recent, what)
	if extra := len(r.recent) - maxCycle*MaxRepeats; extra > 0 {
		r.recent = r.recent[extra:]
	}
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
