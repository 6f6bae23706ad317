package conn

import (
	"cmp"
	"errors"
	"fmt"
)

// Reaction is what is to be done about the end of a connection.
type Reaction int

// The reactions.
const (
	Resume         Reaction = iota // connect again and go on where it broke
	Reidentify                     // connect again and identify anew
	Rejoin                         // the credentials are spent: ask the main gateway for new ones
	WaitForGateway                 // we were taken out or moved: the main gateway will tell
	GiveUp                         // trying again cannot help
)

// closeCodes says of the close codes of the voice gateway what is to be done about them, and for people what they
// mean, with the way out where there is one.
var closeCodes = map[int]struct {
	react   Reaction
	meaning string
}{
	4001: {Reidentify, "it does not know an operation that clank sent"},
	4002: {Reidentify, "it could not read a message of clank's"},
	4003: {Reidentify, "clank sent something before it had identified itself"},
	4004: {Rejoin, "the token for this call is not valid any more; joining anew gives another"},
	4005: {Reidentify, "clank identified itself twice"},
	4006: {Rejoin, "the session is not valid any more; joining anew gives another"},
	4009: {Reidentify, "the session timed out"},
	4011: {Rejoin, "the voice server is gone; joining anew gives another"},
	4012: {GiveUp, "it does not speak the protocol that clank chose; a newer clank may"},
	4013: {Reidentify, "its media transport failed"},
	4014: {WaitForGateway, "clank was taken out of the call: disconnected, moved, or the channel was deleted"},
	4015: {Resume, "the voice server crashed"},
	4016: {GiveUp, "it does not know the encryption that clank chose; a newer clank may"},
	4017: {GiveUp, "it demands end-to-end encryption in a version that clank did not offer; a newer clank may"},
	4020: {Reidentify, "it found a message of clank's malformed"},
	4021: {GiveUp, "clank connected too often; wait some minutes before joining again"},
	4022: {GiveUp, "the call has ended for everybody"},
}

// CloseError is the end of a connection by the voice gateway's choice.
type CloseError struct {
	Code   int
	Reason string // as the gateway gave it; may be empty
}

// Error implements error.
func (e *CloseError) Error() string {
	text := cmp.Or(closeCodes[e.Code].meaning, "no reason that clank knows")
	if e.Reason != "" {
		text += fmt.Sprintf(" (%q)", e.Reason)
	}
	return fmt.Sprintf("the voice gateway closed the connection with code %d: %s", e.Code, text)
}

// Reaction says what to do about it.
func (e *CloseError) Reaction() Reaction {
	if known, ok := closeCodes[e.Code]; ok {
		return known.react
	}
	if e.Code < 4000 {
		return Resume
	}
	return Reidentify
}

// ReactionTo says what to do about the error with which a connection ended. What no close code explains is a broken network: Resume.
func ReactionTo(err error) Reaction {
	if e, ok := errors.AsType[*CloseError](err); ok {
		return e.Reaction()
	}
	if _, ok := errors.AsType[*setupError](err); ok {
		return Reidentify
	}
	return Resume
}

// setupError is a failure on our side of what a session needs, such as its socket.
type setupError struct{ err error }

func (e *setupError) Error() string { return e.err.Error() }
func (e *setupError) Unwrap() error { return e.err }
