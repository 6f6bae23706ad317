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
	return llm.Account{
		Task: t.ID, Session: s.ID, Guild: t.Origin.Guild, Channel: t.Origin.Channel, User: PersonID(t.Origin), Purpose: "browse",
	}
}

// PersonID returns the id of who asked, with the door in front; "" if nobody is named.
func PersonID(o sessions.Origin) string {
	if o.User == "" {
		return ""
	}
	return string(o.Kind) + ":" + o.User
}
