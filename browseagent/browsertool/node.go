package browsertool

import (
	"encoding/json"
	"time"
)

// NodePath is where [Proxy] serves.
const NodePath = "/browser.proxy"

// Limits of the exchange.
const (
	DefaultNodeTimeout = 20 * time.Second       // for the node's work, when the request names none
	MaxNodeTimeout     = 10 * time.Minute       // that a request may ask for
	NodeSlack          = 5 * time.Second        // that the caller waits longer than the node works
	MaxNodeFile        = 10 << 20               // bytes of one file
	MaxNodeFiles       = 20                     // copied with one answer
	nodeProbeTimeout   = 750 * time.Millisecond // for the status that a timeout is told with
	maxNodeRequest     = 1 << 20                // bytes
)

// nodeRequest is what travels to the node. Times are in milliseconds.
type nodeRequest struct {
	Method    string         `json:"method"`
	Path      string         `json:"path"`
	Query     map[string]any `json:"query,omitempty"`
	Body      any            `json:"body,omitempty"`
	TimeoutMs int64          `json:"timeoutMs,omitempty"`
	Profile   string         `json:"profile,omitempty"`
}

// nodeReply is what travels back when the control API answered without an error.
type nodeReply struct {
	Result  json.RawMessage `json:"result"`
	Files   []nodeFile      `json:"files,omitempty"`
	Skipped []skippedFile   `json:"skipped,omitempty"`
}

// nodeFile is one file that the result names, by the path it has on the node.
type nodeFile struct {
	Path     string `json:"path"`
	Base64   []byte `json:"base64"`
	MimeType string `json:"mimeType"`
}

// skippedFile is a file that the result names and that was not copied.
type skippedFile struct {
	Path  string `json:"path"`
	Error string `json:"error"`
}

// nodeRefusal is an answer of the node itself, not of its control API.
type nodeRefusal struct {
	Status int    `json:"-"`
	Error  string `json:"error"`
	Code   string `json:"code"`
}

// Codes of refusals.
const (
	codeInvalid   = "NODE_INVALID_REQUEST"
	codeForbidden = "NODE_FORBIDDEN"
	codeTimeout   = "NODE_TIMEOUT"
	codeUpstream  = "NODE_UPSTREAM"
)
