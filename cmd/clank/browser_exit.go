package main

import (
	"errors"
	"net/http"
	"strings"

	"clank/browsermgr/control/client"
)

// Exit codes of the commands.
const (
	browserExitDone         = 0
	browserExitFailed       = 1
	browserExitUsage        = 2
	browserExitNotListening = 3   // nobody listens
	browserExitNotFound     = 4   // no such tab, profile or ref
	browserExitRefused      = 5   // by the policy, or for the lack of the right secret
	browserExitTimeout      = 124 // as timeout(1)
	browserExitInterrupted  = 130
)

const browserExitCodesHelp = `  0 done, 1 failed, 2 wrong use, 3 nobody listens, 4 no such tab, profile or ref,
  5 refused by the policy or for a wrong secret, 124 timed out, 130 interrupted`

// browserExitCode is the exit code for an error.
func browserExitCode(err error) int {
	var usage *usageError
	var answered *client.Error
	switch {
	case err == nil:
		return browserExitDone
	case errors.As(err, &usage):
		return browserExitUsage
	case errors.Is(err, client.ErrNotListening):
		return browserExitNotListening
	case errors.Is(err, client.ErrTimeout):
		return browserExitTimeout
	case errors.As(err, &answered):
		return exitCodeOfAnswer(answered)
	default:
		return browserExitFailed
	}
}

// exitCodeOfAnswer is the exit code for an error that the server answered with.
func exitCodeOfAnswer(e *client.Error) int {
	switch text := strings.ToLower(e.Message); {
	case e.Reason == "navigation_blocked", e.Status == http.StatusUnauthorized, strings.Contains(text, "blocked by policy"):
		return browserExitRefused
	case e.Status == http.StatusForbidden && e.Code != "ACT_TARGET_ID_MISMATCH":
		return browserExitRefused
	case strings.HasPrefix(text, "route not found"), strings.HasPrefix(text, "404 page not found"):
		return browserExitFailed // another server, or an older one
	case e.Status == http.StatusNotFound, strings.Contains(text, "unknown ref"):
		return browserExitNotFound
	case e.Status == http.StatusRequestTimeout, e.Status == http.StatusGatewayTimeout,
		strings.Contains(text, "timed out"), strings.Contains(text, "not done within"):
		return browserExitTimeout
	default:
		return browserExitFailed
	}
}
