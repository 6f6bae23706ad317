package dashboard

import (
	"context"
	"encoding/json"
	"net/http"

	"clank/dashboard/api"
	"clank/internal/settings"
	"clank/sessions"
)

// Host is the clank that serves the page: what it can do as it is set up, and what it lacks. Its methods are called at
// once.
type Host interface {
	SettingsHost
	// Ready returns what keeps new tasks from being done, if anything.
	Ready(ctx context.Context) error
	// Weaknesses returns what the installation protects less than it could, the serious ones first.
	Weaknesses(ctx context.Context) []api.Weakness
	// IsStop reports whether a message says no more than that clank is to stop.
	IsStop(message string) bool
}

// SettingsHost is what a clank knows of what its settings name.
type SettingsHost interface {
	// ModelAbility returns what is known of a model with a runtime.
	ModelAbility(runtime, model string) settings.ModelAbility
	// CheckSettings returns the changed settings that will not work as things are.
	CheckSettings(ctx context.Context, changes map[string]json.RawMessage) []settings.FieldError
	// HasSecret reports whether the secret of a setting's key is present.
	HasSecret(key string) bool
}

// LivePane shows pages of sessions to those who watch and work them.
type LivePane interface {
	// ServeLive answers the WebSocket for the session that the path's id names. It returns when v has left or the request's
	// context ends.
	ServeLive(w http.ResponseWriter, r *http.Request, v sessions.Viewer)
}
