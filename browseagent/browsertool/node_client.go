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
	Version string          `json:"version,omitempty"` // of the node's clank
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

// NodeClient calls the control API of another machine through its [Proxy]. It is safe for concurrent use once its
// fields are set.
type NodeClient struct {
	Proxy *APIClient // where the proxy is, and its token

	// Dir is where files that answers name are stored, under names of their own. It must exist. It and what is in it
	// belong to whoever set it.
	Dir string
}

// Call has the shape of [APIClient.Call] and its errors. The node is given what time ctx has left, less [Slack];
// without a deadline [DefaultNodeTimeout]. Paths in the answer are those of the copies in Dir; a file that could not be
// copied is listed under "fileErrors" of the answer, with its path as it is on the node.
func (c *NodeClient) Call(ctx context.Context, method, path string, query url.Values, body any) (status int, answer json.RawMessage, err error) {
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
		return 0, nil, fmt.Errorf("call the node: %w: it is not the answer of a node", ErrAPIBadAnswer)
	}
	answer, err = c.localize(out)
	return status, answer, err
}

// NodeStatus is how a node is.
type NodeStatus struct {
	Version  string // of its clank; may be empty
	Browsers []NodeBrowser
}

// NodeBrowser is a browser that a node lends.
type NodeBrowser struct {
	Name    string `json:"name"`
	Running bool   `json:"running"`
}

// Status asks the node which browsers it lends. An error of [ErrNodeToken] is that it does not take our token.
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
		return NodeStatus{}, fmt.Errorf("call the node: %w: it is not the answer of a node", ErrAPIBadAnswer)
	}
	return NodeStatus{out.Version, lent.Profiles}, nil
}

// ErrNodeToken is that a node does not take our token.
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
		return out.Result, nil //nolint:nilerr // a result that is no object names no files
	}
	stored := map[string]string{}
	for i, f := range out.Files {
		if i == MaxNodeFiles {
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

// store writes one file under a name that nobody chose.
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

// safeExtension keeps a harmless one of the node's name.
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
