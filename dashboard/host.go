package dashboard

import (
	"context"
	"encoding/json"
	"net/http"

	"clank/dashboard/api"
	"clank/internal/settings"
	"clank/sessions"
)

// Host is the running clank process: its abilities as configured, and its weaknesses. Its methods return quickly.
type Host interface {
	SettingsHost
	// Ready returns the reason why new tasks cannot run, if any.
	Ready(ctx context.Context) error
	// Weaknesses returns the weaknesses of the installation, serious ones first.
	Weaknesses(ctx context.Context) []api.Weakness
	// IsStop reports whether a message is nothing but a request to stop.
	IsStop(message string) bool
}

// SettingsHost knows what the values of settings refer to.
type SettingsHost interface {
	// ModelAbility returns what is known about a model with a runtime.
	ModelAbility(runtime, model string) settings.ModelAbility
	// CheckSettings returns an error for each changed setting that will not work in the current environment.
	CheckSettings(ctx context.Context, changes map[string]json.RawMessage) []settings.FieldError
	// HasSecret reports whether the secret of a setting is present.
	HasSecret(key string) bool
}

// LivePane shows sessions to people who watch or control them.
type LivePane interface {
	// ServeLive serves the WebSocket for the session whose id is in the path. It returns when v disconnects or the
	// request's context ends.
	ServeLive(w http.ResponseWriter, r *http.Request, v sessions.Viewer)
}
