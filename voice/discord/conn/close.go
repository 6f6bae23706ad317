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

// Close codes of the voice gateway that are told apart by name.
const (
	CodeUnknownOp          = 4001
	CodeDecodeFailed       = 4002
	CodeNotIdentified      = 4003
	CodeAuthFailed         = 4004
	CodeAlreadyIdentified  = 4005
	CodeSessionInvalid     = 4006
	CodeTimeout            = 4009
	CodeServerNotFound     = 4011
	CodeUnknownProtocol    = 4012
	CodeNoTransport        = 4013
	CodeDisconnected       = 4014
	CodeCrashed            = 4015
	CodeUnknownMode        = 4016
	CodeEncryptionRequired = 4017
	CodeBadRequest         = 4020
	CodeRateLimited        = 4021
	CodeCallEnded          = 4022
)

// closeMeanings says for people what a code means, and the way out where there is one.
var closeMeanings = map[int]string{
	CodeUnknownOp:          "it does not know an operation that clank sent",
	CodeDecodeFailed:       "it could not read a message of clank's",
	CodeNotIdentified:      "clank sent something before it had identified itself",
	CodeAuthFailed:         "the token for this call is not valid any more; joining anew gives another",
	CodeAlreadyIdentified:  "clank identified itself twice",
	CodeSessionInvalid:     "the session is not valid any more; joining anew gives another",
	CodeTimeout:            "the session timed out",
	CodeServerNotFound:     "the voice server is gone; joining anew gives another",
	CodeUnknownProtocol:    "it does not speak the protocol that clank chose; a newer clank may",
	CodeNoTransport:        "its media transport failed",
	CodeDisconnected:       "clank was taken out of the call: disconnected, moved, or the channel was deleted",
	CodeCrashed:            "the voice server crashed",
	CodeUnknownMode:        "it does not know the encryption that clank chose; a newer clank may",
	CodeEncryptionRequired: "it demands end-to-end encryption in a version that clank did not offer; a newer clank may",
	CodeBadRequest:         "it found a message of clank's malformed",
	CodeRateLimited:        "clank connected too often; wait some minutes before joining again",
	CodeCallEnded:          "the call has ended for everybody",
}

// CloseError is the end of a connection by the voice gateway's choice.
type CloseError struct {
	Code   int
	Reason string // as the gateway gave it; may be empty
}

// Error implements error.
func (e *CloseError) Error() string {
	text := cmp.Or(closeMeanings[e.Code], "no reason that clank knows")
	if e.Reason != "" {
		text += fmt.Sprintf(" (%q)", e.Reason)
	}
	return fmt.Sprintf("the voice gateway closed the connection with code %d: %s", e.Code, text)
}

// Reaction says what to do about it.
func (e *CloseError) Reaction() Reaction {
	switch e.Code {
	case CodeCrashed:
		return Resume
	case CodeAuthFailed, CodeSessionInvalid, CodeServerNotFound:
		return Rejoin
	case CodeDisconnected:
		return WaitForGateway
	case CodeUnknownProtocol, CodeUnknownMode, CodeEncryptionRequired, CodeRateLimited, CodeCallEnded:
		return GiveUp
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
