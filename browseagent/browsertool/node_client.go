package browsertool

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// NodePath is the path of [NodeProxy].
const NodePath = "/browser.proxy"

// Limits of the exchange.
const (
	DefaultNodeTimeout = 20 * time.Second       // for the node's work, if the request has no timeout
	MaxNodeTimeout     = 10 * time.Minute       // the longest timeout of a request
	NodeSlack          = 5 * time.Second        // how much longer the caller waits than the node
	MaxNodeFile        = 10 << 20               // bytes of one file
	maxNodeFiles       = 20                     // per answer
	nodeProbeTimeout   = 750 * time.Millisecond // for the status in the text of a timeout
	maxNodeRequest     = 1 << 20                // bytes
)

// nodeRequest is the request to the node. Times are in milliseconds.
type nodeRequest struct {
	Method    string         `json:"method"`
	Path      string         `json:"path"`
	Query     map[string]any `json:"query,omitempty"`
	Body      any            `json:"body,omitempty"`
	TimeoutMs int64          `json:"timeoutMs,omitempty"`
	Profile   string         `json:"profile,omitempty"`
}

// nodeReply is the node's answer if the control API succeeded.
type nodeReply struct {
	Result  json.RawMessage `json:"result"`
	Version string          `json:"version,omitempty"` // of the node's clank
	Files   []nodeFile      `json:"files,omitempty"`
	Skipped []skippedFile   `json:"skipped,omitempty"`
}

// nodeFile is a file that the result names, with its path on the node.
type nodeFile struct {
	Path     string `json:"path"`
	Base64   []byte `json:"base64"`
	MimeType string `json:"mimeType"`
}

// skippedFile is a file that the result names but that was not copied.
type skippedFile struct {
	Path  string `json:"path"`
	Error string `json:"error"`
}

// nodeRefusal is an error of the node itself, not of its control API.
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

// NodeClient calls the control API of another machine through its [NodeProxy]. It is safe for concurrent use once its
// fields are set.
type NodeClient struct {
	Proxy *APIClient // the proxy's address and token

	// Dir is where files named in answers are stored, under generated names. It must exist. The caller owns it and
	// its contents.
	Dir string
}

// Call is like [APIClient.Call] and returns the same errors. The node gets the time left in ctx, less [NodeSlack];
// without a deadline, [DefaultNodeTimeout]. Paths in the answer are those of the copies in Dir; files that could not
// be copied are listed under "fileErrors", with their paths on the node.
func (c *NodeClient) Call(ctx context.Context, method, path string, query url.Values,
	body any,
) (status int, answer json.RawMessage, err error) {
	within := DefaultNodeTimeout
	if deadline, ok := ctx.Deadline(); ok {
		within = max(time.Until(deadline)-NodeSlack, time.Second)
	}
	ctx, cancel := context.WithTimeout(ctx, within+NodeSlack)
	defer cancel()
	in := nodeRequest{Method: method, Path: path, Body: body, TimeoutMs: within.Milliseconds(), Query: map[string]any{}}
	for key := range query {
		in.Query[key] = query.Get(key)
	}
	status, raw, err := c.Proxy.Call(ctx, http.MethodPost, NodePath, nil, in)
	switch {
	case err != nil:
		return status, nil, fmt.Errorf("call the node: %w", err)
	case status == http.StatusUnauthorized:
		return status, json.RawMessage(`{"error":"the node refused our token"}`), nil
	case status != http.StatusOK:
		return status, raw, nil
	}
	var out nodeReply
	if err := json.Unmarshal(raw, &out); err != nil || len(out.Result) == 0 {
		return 0, nil, fmt.Errorf("call the node: %w: this is not a node's answer", ErrAPIBadAnswer)
	}
	answer, err = c.localize(out)
	return status, answer, err
}

// NodeStatus is the state of a node.
type NodeStatus struct {
	Version  string // of its clank; may be empty
	Browsers []NodeBrowser
}

// NodeBrowser is a browser that a node shares.
type NodeBrowser struct {
	Name    string `json:"name"`
	Running bool   `json:"running"`
}

// Status returns the browsers that the node shares. The error wraps [ErrNodeToken] if the node refused the token.
func (c *NodeClient) Status(ctx context.Context) (NodeStatus, error) {
	in := nodeRequest{Method: http.MethodGet, Path: "/profiles", TimeoutMs: DefaultNodeTimeout.Milliseconds()}
	status, raw, err := c.Proxy.Call(ctx, http.MethodPost, NodePath, nil, in)
	var out nodeReply
	var lent struct{ Profiles []NodeBrowser }
	switch {
	case err != nil:
		return NodeStatus{}, fmt.Errorf("call the node: %w", err)
	case status == http.StatusUnauthorized:
		return NodeStatus{}, ErrNodeToken
	case status != http.StatusOK, json.Unmarshal(raw, &out) != nil, json.Unmarshal(out.Result, &lent) != nil:
		return NodeStatus{}, fmt.Errorf("call the node: %w: this is not a node's answer", ErrAPIBadAnswer)
	}
	return NodeStatus{out.Version, lent.Profiles}, nil
}

// ErrNodeToken says that the node refused the token.
var ErrNodeToken = errors.New("the node refused our token")

// localize stores the files and puts their new paths into the result.
func (c *NodeClient) localize(out nodeReply) (json.RawMessage, error) {
	if len(out.Files) == 0 && len(out.Skipped) == 0 {
		return out.Result, nil
	}
	var object map[string]any
	dec := json.NewDecoder(strings.NewReader(string(out.Result)))
	dec.UseNumber()
	if err := dec.Decode(&object); err != nil {
		return out.Result, nil //nolint:nilerr // only objects name files
	}
	stored := map[string]string{}
	for i, f := range out.Files {
		if i == maxNodeFiles {
			break
		}
		local, err := c.store(f)
		if err != nil {
			out.Skipped = append(out.Skipped, skippedFile{Path: f.Path, Error: err.Error()})
			continue
		}
		stored[f.Path] = local
	}
	visitPaths(object, func(name string) string {
		if local, ok := stored[name]; ok {
			return local
		}
		return name
	})
	if len(out.Skipped) > 0 {
		object["fileErrors"] = out.Skipped
	}
	raw, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("rewrite the node's answer: %w", err)
	}
	return raw, nil
}

// store writes one file under a generated name.
func (c *NodeClient) store(f nodeFile) (string, error) {
	if len(f.Base64) > MaxNodeFile {
		return "", fileTooLarge(MaxNodeFile)
	}
	if c.Dir == "" {
		return "", errors.New("there is no directory for files of nodes")
	}
	name := filepath.Join(c.Dir, rand.Text()+safeExtension(f))
	w, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", errors.New("it cannot be stored here")
	}
	_, err = w.Write(f.Base64)
	if err = errors.Join(err, w.Close()); err != nil {
		_ = os.Remove(name)
		return "", errors.New("it cannot be stored here")
	}
	return name, nil
}

// safeExtension returns a harmless file extension for f.
func safeExtension(f nodeFile) string {
	switch f.MimeType {
	case "image/png":
		return ".png"
	case "image/jpeg":
		return ".jpg"
	case "image/webp":
		return ".webp"
	case "application/pdf":
		return ".pdf"
	}
	ext := f.Path[strings.LastIndexAny(f.Path, `/\.`)+1:]
	if n := len(ext); n == len(f.Path) || f.Path[len(f.Path)-n-1] != '.' || n == 0 || n > 8 {
		return ""
	}
	for _, r := range ext {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') {
			return ""
		}
	}
	return "." + ext
}
