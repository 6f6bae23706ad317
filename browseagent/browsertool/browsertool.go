package browsertool

import (
	"context"
	"encoding/json"
	"net/url"
	"time"

	"clank/llm"
)

// ControlAPI is one control API. Call sends a request and returns the status and the JSON of the answer; query and body
// may be nil. err is nil whenever the API answered, whatever it said. Otherwise it is the cause of ctx's end, or wraps
// one of [ErrAPIUnreachable], [ErrAPITimedOut] and [ErrAPIBadAnswer], or says by itself what went wrong. [*APIClient]
// and the node client are Callers.
type ControlAPI interface {
	Call(ctx context.Context, method, path string, query url.Values, body any) (status int, answer json.RawMessage, err error)
}

// Tool is the tool for all conversations. Its fields are set before use.
type Tool struct {
	Targets Targets

	// Settings are asked for each call; nil means [DefaultSettings].
	Settings Settings

	// Records offers cookies, HTTP archives and traces, too. People are asked before the model gets them.
	Records bool
}

// Settings are what people may set of calls.
type Settings interface {
	// EvaluateEnabled reports whether scripts of the model may run. If not the tool refuses them, whatever the control API
	// would do.
	EvaluateEnabled() bool
	// ApprovalWait returns how much longer a call may take because people are asked about what it sets off. Who they are is
	// said with the context, see [WithAskID].
	ApprovalWait() time.Duration
	// SnapshotMode returns the mode of snapshots that name none: "efficient", or "" for full ones.
	SnapshotMode() string
}

// DefaultSettings run scripts, wait for nobody and take full snapshots. Embed it to set some of these.
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

// Result holds the outcome of a call.
type Result struct {
	Text    string      // for the model; page text in it stands between markers
	Images  []llm.Image // for the model
	IsError bool        // the call failed; Text says why

	// Details are the parts of the control API's answer that programs want, raw. They may repeat what pages say, so
	// they are not for a model; "externalContent" says so.
	Details map[string]any
}

// Bounds of what the tool waits for and sends.
const (
	answerSlack     = 5 * time.Second  // beyond what the control API may take
	leastWait       = 60 * time.Second // where the call names no timeout: a browser may have to start
	leastNamedWait  = 30 * time.Second // where it names one: likewise
	closeTimeout    = 5 * time.Second  // for each tab at the end of a session
	maxSnapshot     = 40_000           // characters, where the call says nothing
	maxImage        = 10 << 20         // bytes of a screenshot
	maxServiceError = 4_000            // characters of an error text
)
