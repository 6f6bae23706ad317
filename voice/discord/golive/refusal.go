package golive

import (
	"errors"
	"fmt"
	"time"

	"clank/voice/share"
)

// RefusedError says that Discord does not show the stream, or not any longer.
type RefusedError struct {
	Reason string // Discord's word for it; empty if it gave none
	text   string
}

func (e *RefusedError) Error() string { return e.text }

// refusalTexts are Discord's reasons, for people.
var refusalTexts = map[string]string{
	"user_requested":            "somebody has ended it",
	"stream_ended":              "it has ended",
	"stream_full":               "too many watch it already",
	"unauthorized":              "the account may not go live there: it needs the permission Video, and bots never may",
	"safety_guild_rate_limited": "the server has begun too many streams; wait a while",
	"parse_failed":              "Discord could not read what was asked; a newer clank may be understood",
	"invalid_channel":           "nothing can be shown in this kind of channel",
}

// deletedError returns the error of a stream that Discord has ended.
func deletedError(reason string, unavailable bool) *RefusedError {
	word := refusalTexts[reason]
	switch {
	case word != "":
	case unavailable:
		word = "its server has failed"
	case reason != "":
		word = fmt.Sprintf("the reason is %q", reason)
	default:
		word = "it gave no reason"
	}
	return &RefusedError{Reason: reason, text: "Discord has ended the stream: " + word}
}

// noAnswerError returns the error of a stream that Discord said nothing, or not enough, about.
func noAnswerError(after time.Duration, agreed bool) *RefusedError {
	if agreed {
		return &RefusedError{text: fmt.Sprintf("Discord has agreed to the stream but named no server for it within %s; try again in a moment", after)}
	}
	return &RefusedError{text: fmt.Sprintf("Discord did not answer within %s: it does not let every account go live, and bots never", after)}
}

// movedError says that somebody has moved the account: mostly the call follows.
type movedError struct{}

func (movedError) Error() string {
	return "somebody has moved the account for Go Live to another channel"
}

// Is has it known to those who show shares.
func (movedError) Is(target error) bool { return target == share.ErrTargetMoved }

// Reasons that are told apart.
var (
	ErrBusy   = errors.New("the account for Go Live shows something in another call; end that first")
	ErrClosed = errors.New("Go Live is shutting down") //nolint:staticcheck // a name

	errGatewayClosed     = &RefusedError{text: "Discord has closed the connection when it was asked: the account may not go live"}
	errNewGatewaySession = errors.New("the account's connection to Discord broke, and the stream with it")
	errStopped           = errors.New("the stream was ended")
	errSourceEnded       = errors.New("the pictures have ended")
	errConnClosed        = errors.New("the stream's voice connection was closed")
	errPresenceLost      = errors.New("the account for Go Live is not in the call any more")
	errMoved             = movedError{}
	errBadGroup          = errors.New("Discord's number of the stream cannot be read, so it cannot be encrypted; a newer clank may know it") //nolint:staticcheck // a name
)
