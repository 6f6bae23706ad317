package cdp

import (
	"errors"
	"slices"
	"strings"

	"github.com/go-rod/rod/lib/cdp"
)

// codeInternal is JSON-RPC's code for an internal error, with which V8 answers for a script that was terminated.
const codeInternal = -32603

// ErrScriptStopped is returned if a script was terminated: tabs of a site may share a process, and stopping a script in
// one of them stops those of the others.
var ErrScriptStopped = errors.New("a script of this page was stopped before it was done, together with one that did " +
	"not end here or in another tab of the site; try again")

// ErrDocumentGone is returned if the document of a script is gone: the frame navigated or was removed.
var ErrDocumentGone = errors.New("the document went away")

// IsDocumentGone reports whether err is ErrDocumentGone or one of Chromium's errors that mean the same.
func IsDocumentGone(err error) bool {
	if err == nil {
		return false
	}
	if errors.Is(err, ErrDocumentGone) {
		return true
	}
	var e *cdp.Error
	if !errors.As(err, &e) {
		return false
	}
	return slices.ContainsFunc([]string{
		"Cannot find context", "context was destroyed", "navigated or closed", "No frame", "Frame with the given",
		"Session with given id not found", "Cannot find default execution context",
	}, func(s string) bool { return strings.Contains(e.Message, s) })
}
