package browsertool

import (
	"context"
	"encoding/json"
	"net/url"
	"time"

	"clank/llm"
)

// ControlAPI is a control API. Call sends a request and returns the status and the JSON of the answer; query and body
// may be nil. err is nil whenever the API answered, even with an error. Otherwise it is the cause of ctx, wraps one
// of [ErrAPIUnreachable], [ErrAPITimedOut] and [ErrAPIBadAnswer], or says what went wrong. [*APIClient] and
// [*NodeClient] implement it.
type ControlAPI interface {
	Call(ctx context.Context, method, path string, query url.Values,
		body any) (status int, answer json.RawMessage, err error)
}

// Tool is the tool, shared by all conversations. Set its fields before use.
type Tool struct {
	Targets Targets

	// Settings are read for each call; nil means [DefaultSettings].
	Settings Settings

	// Records also offers cookies, HTTP archives and traces. People are asked before the model gets them.
	Records bool
}

// Settings are the configurable parts of calls.
type Settings interface {
	// EvaluateEnabled reports whether the model may run scripts. If not, the tool refuses them, whatever the control
	// API allows.
	EvaluateEnabled() bool
	// ApprovalWait returns how much longer a call may take if people are asked for approval, as identified by
	// [WithAskID].
	ApprovalWait() time.Duration
	// SnapshotMode returns the default mode of snapshots: "efficient", or "" for full ones.
	SnapshotMode() string
}

// DefaultSettings allow scripts, never wait for approval and take full snapshots. Embed it to override some of these.
type DefaultSettings struct{}

// EvaluateEnabled implements [Settings].
func (DefaultSettings) EvaluateEnabled() bool { return true }

// ApprovalWait implements [Settings].
func (DefaultSettings) ApprovalWait() time.Duration { return 0 }

// SnapshotMode implements [Settings].
func (DefaultSettings) SnapshotMode() string { return "" }

func (t *Tool) settings() Settings {
	if t.Settings == nil {
		return DefaultSettings{}
	}
	return t.Settings
}

// Result is the outcome of a call.
type Result struct {
	Text    string      // for the model; page text in it is between markers
	Images  []llm.Image // for the model
	IsError bool        // the call failed; Text says why

	// Details are those parts of the control API's answer that programs need, unmarked. They may quote pages, so they
	// must not be shown to a model; "externalContent" says so.
	Details map[string]any
}

// Timeouts and size limits.
const (
	answerSlack     = 5 * time.Second  // added to the control API's own limit
	leastWait       = 60 * time.Second // if the call has no timeout: a browser may have to start
	leastNamedWait  = 30 * time.Second // if it has one: likewise
	closeTimeout    = 5 * time.Second  // for each tab at the end of a session
	maxSnapshot     = 40_000           // characters, by default
	maxImage        = 10 << 20         // bytes of a screenshot
	maxServiceError = 4_000            // characters of an error text
)
