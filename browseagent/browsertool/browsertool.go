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

	// EvaluateEnabled says whether scripts of the model may run; nil means they may. While it is false the tool refuses
	// them, whatever the control API would do.
	EvaluateEnabled func() bool

	// ApprovalWait is how much longer a call may take because people are asked about what it sets off; nil means not at
	// all. Who they are is said with the context, see [WithAskID].
	ApprovalWait func() time.Duration

	// SnapshotMode is the mode of snapshots that name none: "efficient", or "" (nil) for full ones.
	SnapshotMode func() string

	// Records offers cookies, HTTP archives and traces, too. People are asked before the model gets them.
	Records bool
}

// evaluates reports whether scripts may run.
func (t *Tool) evaluates() bool { return t.EvaluateEnabled == nil || t.EvaluateEnabled() }

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
