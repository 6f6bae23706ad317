package calls

import (
	"context"
	"errors"
	"slices"

	"clank/cancel"
	"clank/sessions"
)

// Code is why a call was not opened or left, for programs.
type Code string

// The codes.
const (
	Disabled           Code = "voice_disabled"
	RequesterBlocked   Code = "requester_blocked"
	RequesterAway      Code = "requester_not_in_voice"
	ChannelBlocked     Code = "channel_blocked"
	ChannelNotAllowed  Code = "channel_not_allowlisted"
	TooManyToday       Code = "max_sessions_per_day_reached"
	AlreadyThere       Code = "already_in_channel"
	Elsewhere          Code = "already_in_other_channel"
	ProviderMissing    Code = "provider_missing"
	MissingPermissions Code = "missing_permissions"
	TooManyCalls       Code = "max_concurrent_sessions_reached"
	JoinFailed         Code = "join_failed"
	NotInCall          Code = "not_in_call"
	NotYours           Code = "not_allowed_to_leave"
)

// Denied is why a call was not opened or left. Text is for the person who asked, and tells the way out where there is one.
type Denied struct { //nolint:errname // calls.Denied says what it is
	Code Code
	Text string
	Err  error // what is behind it; may be nil
}

// Error implements error.
func (d *Denied) Error() string { return d.Text }

// Unwrap is what is behind it.
func (d *Denied) Unwrap() error { return d.Err }

func denied(c Code, text string) *Denied { return &Denied{Code: c, Text: text} }

// refuse says why somebody may not have a call there, as far as that depends on them and on what the operator wants.
func (r *Registry) refuse(o sessions.Origin, c Call, there bool) error {
	p := r.Policy()
	switch {
	case !p.Enabled:
		return denied(Disabled, "Calls are switched off here. The operator can switch them on in the settings under voice.")
	case slices.Contains(p.BlockedUsers, o.User):
		return denied(RequesterBlocked, "The operator does not let you call me.")
	case o.Guild != "" && !there:
		return denied(RequesterAway, "Join a voice channel first, so that I know where to come; I join only the channel you are in.")
	case slices.Contains(p.BlockedChannels, c.Channel):
		return denied(ChannelBlocked, "The operator does not let me join that channel.")
	case len(p.AllowedChannels) > 0 && !slices.Contains(p.AllowedChannels, c.Channel):
		return denied(ChannelNotAllowed, "The operator lets me join only certain channels, and that is none of them.")
	case p.Missing != "":
		return denied(ProviderMissing, p.Missing)
	}
	return nil
}

// failed makes an error of joining one that can be told.
func (r *Registry) failed(ctx context.Context, c Call, err error) error {
	var d *Denied
	switch cause := cancel.CauseOf(ctx, err); {
	case errors.As(err, &d):
		return d
	case cause != nil:
		return cause
	case errors.As(context.Cause(ctx), &d):
		return d
	}
	r.logger().Warn("call not joined", "guild", c.Guild, "channel", c.Channel, "error", err)
	return &Denied{Code: JoinFailed, Text: "I could not join the call: " + err.Error(), Err: err}
}
