// Package node lets one machine use the browsers of another. [Proxy] stands in
// front of the control API of the machine that has the browsers and lets
// through what the machine's owner allows; [Client] is the other end, and looks
// to its user like the control API itself. Files that an answer names are
// copied over, so that their paths are good on the calling side.
//
// It opens no listener and makes no encrypted connection: the proxy is an
// http.Handler for a server that somebody else secures.
package node

import (
	"context"
	"encoding/json"
	"net/url"
	"time"
)

// Path is where [Proxy] serves.
const Path = "/browser.proxy"

// Limits of the exchange.
const (
	DefaultTimeout = 20 * time.Second       // for the node's work, when the request names none
	MaxTimeout     = 10 * time.Minute       // that a request may ask for
	Slack          = 5 * time.Second        // that the caller waits longer than the node works
	MaxFile        = 10 << 20               // bytes of one file
	MaxFiles       = 20                     // copied with one answer
	probeTimeout   = 750 * time.Millisecond // for the status that a timeout is told with
	maxRequest     = 1 << 20                // bytes
)

// caller is a control API: [*clank/browsertool/remote.Caller] is one.
type caller interface {
	Call(ctx context.Context, method, path string, query url.Values, body any) (status int, answer json.RawMessage, err error)
}

// request is what travels to the node. Times are in milliseconds.
type request struct {
	Method    string         `json:"method"`
	Path      string         `json:"path"`
	Query     map[string]any `json:"query,omitempty"`
	Body      any            `json:"body,omitempty"`
	TimeoutMs int64          `json:"timeoutMs,omitempty"`
	Profile   string         `json:"profile,omitempty"`
}

// reply is what travels back when the control API answered without an error.
type reply struct {
	Result  json.RawMessage `json:"result"`
	Files   []file          `json:"files,omitempty"`
	Skipped []skipped       `json:"skipped,omitempty"`
}

// file is one file that the result names, by the path it has on the node.
type file struct {
	Path     string `json:"path"`
	Base64   []byte `json:"base64"`
	MimeType string `json:"mimeType"`
}

// skipped is a file that the result names and that was not copied.
type skipped struct {
	Path  string `json:"path"`
	Error string `json:"error"`
}

// refusal is an answer of the node itself, not of its control API.
type refusal struct {
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
