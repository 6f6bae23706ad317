package conversation

import (
	"context"
	"errors"
	"slices"

	"clank/cancel"
	"clank/sessions"
)

// DenialCode is why a call was not opened or left, for programs.
type DenialCode string

// The codes.
const (
	VoiceDisabled       DenialCode = "voice_disabled"
	RequesterNotInVoice DenialCode = "requester_not_in_voice"
	ChannelBlocked      DenialCode = "channel_blocked"
	ChannelNotAllowed   DenialCode = "channel_not_allowlisted"
	DailyLimitReached   DenialCode = "max_sessions_per_day_reached"
	AlreadyInChannel    DenialCode = "already_in_channel"
	InOtherChannel      DenialCode = "already_in_other_channel"
	ProviderMissing     DenialCode = "provider_missing"
	MissingPermissions  DenialCode = "missing_permissions"
	TooManyCalls        DenialCode = "max_concurrent_sessions_reached"
	JoinFailed          DenialCode = "join_failed"
	NotInCall           DenialCode = "not_in_call"
	NotAllowedToLeave   DenialCode = "not_allowed_to_leave"
)

// DeniedError is why a call was not opened or left. Text is for the person who asked, and tells the way out where there is one.
type DeniedError struct {
	Code DenialCode
	Text string
	Err  error // what is behind it; may be nil
}

// Error implements error.
func (d *DeniedError) Error() string { return d.Text }

// Unwrap returns the underlying error.
func (d *DeniedError) Unwrap() error { return d.Err }

func newDeniedError(c DenialCode, text string) *DeniedError { return &DeniedError{Code: c, Text: text} }

// checkPolicy says why somebody may not have a call there, as far as that depends on them and on what the operator wants.
func (r *CallRegistry) checkPolicy(o sessions.Origin, c CallInfo, there bool) error {
	p := r.Policy()
	switch {
	case !p.Enabled:
		return newDeniedError(VoiceDisabled, "Calls are switched off here. The operator can switch them on in the settings under voice.")
	case o.Guild != "" && !there:
		return newDeniedError(RequesterNotInVoice, "Join a voice channel first, so that I know where to come; I join only the channel you are in.")
	case slices.Contains(p.BlockedChannels, c.Channel):
		return newDeniedError(ChannelBlocked, "The operator does not let me join that channel.")
	case len(p.AllowedChannels) > 0 && !slices.Contains(p.AllowedChannels, c.Channel):
		return newDeniedError(ChannelNotAllowed, "The operator lets me join only certain channels, and that is none of them.")
	case p.MissingSetup != "":
		return newDeniedError(ProviderMissing, p.MissingSetup)
	}
	return nil
}

// joinFailure makes an error of joining one that can be told.
func (r *CallRegistry) joinFailure(ctx context.Context, c CallInfo, err error) error {
	var d *DeniedError
	switch cause := cancel.CauseOf(ctx, err); {
	case errors.As(err, &d):
		return d
	case cause != nil:
		return cause
	case errors.As(context.Cause(ctx), &d):
		return d
	}
	r.logger().Warn("call not joined", "guild", c.Guild, "channel", c.Channel, "error", err)
	return &DeniedError{Code: JoinFailed, Text: "I could not join the call: " + err.Error(), Err: err}
}
