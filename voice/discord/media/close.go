package media

import (
	"errors"
	"fmt"
)

// Reaction is what is to be done about the end of a connection.
type Reaction int

// The reactions.
const (
	Resume Reaction = iota // connect again and go on where it broke
	Afresh                 // connect again and identify anew
	Rejoin                 // the credentials are spent: ask the main gateway for new ones
	Wait                   // we were taken out or moved: the main gateway will tell
	Final                  // trying again cannot help
)

// Close codes of the voice gateway that are told apart by name.
const (
	CodeUnknownOp      = 4001
	CodeDecode         = 4002
	CodeNotIdentified  = 4003
	CodeToken          = 4004
	CodeIdentified     = 4005
	CodeSession        = 4006
	CodeTimeout        = 4009
	CodeServerNotFound = 4011
	CodeProtocol       = 4012
	CodeTransport      = 4013
	CodeDisconnected   = 4014
	CodeCrashed        = 4015
	CodeMode           = 4016
	CodeEncryption     = 4017
	CodeBadRequest     = 4020
	CodeRateLimited    = 4021
	CodeCallEnded      = 4022
)

// meanings says for people what a code means, and the way out where there is one.
var meanings = map[int]string{
	CodeUnknownOp:      "it does not know an operation that clank sent",
	CodeDecode:         "it could not read a message of clank's",
	CodeNotIdentified:  "clank sent something before it had identified itself",
	CodeToken:          "the token for this call is not valid any more; joining anew gives another",
	CodeIdentified:     "clank identified itself twice",
	CodeSession:        "the session is not valid any more; joining anew gives another",
	CodeTimeout:        "the session timed out",
	CodeServerNotFound: "the voice server is gone; joining anew gives another",
	CodeProtocol:       "it does not speak the protocol that clank chose; a newer clank may",
	CodeTransport:      "its media transport failed",
	CodeDisconnected:   "clank was taken out of the call: disconnected, moved, or the channel was deleted",
	CodeCrashed:        "the voice server crashed",
	CodeMode:           "it does not know the encryption that clank chose; a newer clank may",
	CodeEncryption:     "it demands end-to-end encryption in a version that clank did not offer; a newer clank may",
	CodeBadRequest:     "it found a message of clank's malformed",
	CodeRateLimited:    "clank connected too often; wait some minutes before joining again",
	CodeCallEnded:      "the call has ended for everybody",
}

// CloseError is the end of a connection by the voice gateway's choice.
type CloseError struct {
	Code   int
	Reason string // as the gateway gave it; may be empty
}

// Error implements error.
func (e *CloseError) Error() string {
	text := meanings[e.Code]
	if text == "" {
		text = "no reason that clank knows"
	}
	if e.Reason != "" {
		text += fmt.Sprintf(" (%q)", e.Reason)
	}
	return fmt.Sprintf("the voice gateway closed the connection with code %d: %s", e.Code, text)
}

// React says what to do about it.
func (e *CloseError) React() Reaction {
	switch e.Code {
	case CodeCrashed:
		return Resume
	case CodeToken, CodeSession, CodeServerNotFound:
		return Rejoin
	case CodeDisconnected:
		return Wait
	case CodeProtocol, CodeMode, CodeEncryption, CodeRateLimited, CodeCallEnded:
		return Final
	}
	if e.Code < 4000 {
		return Resume
	}
	return Afresh
}

// React says what to do about the error with which a connection ended. What no close code explains is a broken network: Resume.
func React(err error) Reaction {
	if e, ok := errors.AsType[*CloseError](err); ok {
		return e.React()
	}
	if _, ok := errors.AsType[*setupError](err); ok {
		return Afresh
	}
	return Resume
}

// setupError is a failure on our side of what a session needs, such as its socket.
type setupError struct{ err error }

func (e *setupError) Error() string { return e.err.Error() }
func (e *setupError) Unwrap() error { return e.err }
