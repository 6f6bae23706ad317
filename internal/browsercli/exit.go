package browsercli

import (
	"errors"
	"net/http"
	"strings"

	"clank/browsermgr/control/client"
	"clank/internal/cmdline"
)

// Exit codes of the commands.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitNobody      = 3   // nobody listens
	exitNotFound    = 4   // no such tab, profile or ref
	exitRefused     = 5   // by the policy, or for the lack of the right secret
	exitTimeout     = 124 // as timeout(1)
	exitInterrupted = 130
)

const exitCodes = `  0 done, 1 failed, 2 wrong use, 3 nobody listens, 4 no such tab, profile or ref,
  5 refused by the policy or for a wrong secret, 124 timed out, 130 interrupted`

// codeOf is the exit code for an error.
func codeOf(err error) int {
	var usage *cmdline.UsageError
	var answered *client.Error
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &usage):
		return exitUsage
	case errors.Is(err, client.ErrNotListening):
		return exitNobody
	case errors.Is(err, client.ErrTimeout):
		return exitTimeout
	case errors.As(err, &answered):
		return codeOfAnswer(answered)
	default:
		return exitFailed
	}
}

// codeOfAnswer is the exit code for an error that the server answered with.
func codeOfAnswer(e *client.Error) int {
	switch text := strings.ToLower(e.Message); {
	case e.Reason == "navigation_blocked", e.Status == http.StatusUnauthorized, strings.Contains(text, "blocked by policy"):
		return exitRefused
	case e.Status == http.StatusForbidden && e.Code != "ACT_TARGET_ID_MISMATCH":
		return exitRefused
	case strings.HasPrefix(text, "route not found"), strings.HasPrefix(text, "404 page not found"):
		return exitFailed // another server, or an older one
	case e.Status == http.StatusNotFound, strings.Contains(text, "unknown ref"):
		return exitNotFound
	case e.Status == http.StatusRequestTimeout, e.Status == http.StatusGatewayTimeout,
		strings.Contains(text, "timed out"), strings.Contains(text, "not done within"):
		return exitTimeout
	default:
		return exitFailed
	}
}
