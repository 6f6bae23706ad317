package browsertool

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// NodeProxy serves POST [Path] in front of a control API. Its fields are set before it serves. It refuses every request
// while Token is empty.
type NodeProxy struct {
	Control ControlAPI // the control API of this machine, with the token for it
	Token   string     // the bearer token of those who may call here; not the control API's

	// AllowProfiles are the profiles that others may use; none listed means all. DefaultProfile names the one used when
	// a request names none; it is needed only together with AllowProfiles.
	AllowProfiles  []string
	DefaultProfile func() string

	// FileRoots are the directories from which files that an answer names are copied to the caller. A file elsewhere is
	// not.
	FileRoots []string
}

// ServeHTTP answers with {result, files?, skipped?}, or with the status and the error of the control API, or with an
// error of its own that has a code beginning NODE_. The work ends when the caller goes away.
func (p *NodeProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") != "":
		http.Error(w, "Forbidden", http.StatusForbidden) // no page has business here
		return
	case !p.authorized(r.Header.Get("Authorization")):
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "Unauthorized", http.StatusUnauthorized)
		return
	case r.URL.Path != NodePath:
		http.NotFound(w, r)
		return
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "Method Not Allowed", http.StatusMethodNotAllowed)
		return
	}
	var in nodeRequest
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxNodeRequest))
	dec.UseNumber()
	if err := dec.Decode(&in); err != nil {
		writeJSON(w, http.StatusBadRequest, invalidRequest("the request is not a JSON object of at most 1 MiB that a node understands"))
		return
	}
	g, no := p.checkRequest(in)
	if no != nil {
		writeJSON(w, no.Status, no)
		return
	}
	p.forward(r.Context(), w, g, nodeTimeout(in.TimeoutMs))
}

// authorized compares in constant time, whatever the lengths.
func (p *NodeProxy) authorized(header string) bool {
	scheme, token, _ := strings.Cut(header, " ")
	got, want := sha256.Sum256([]byte(strings.TrimSpace(token))), sha256.Sum256([]byte(p.Token))
	return p.Token != "" && strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

func nodeTimeout(ms int64) time.Duration {
	if ms <= 0 {
		return DefaultNodeTimeout
	}
	return min(time.Duration(min(ms, MaxNodeTimeout.Milliseconds()))*time.Millisecond, MaxNodeTimeout)
}

// forward asks the control API and passes its answer on.
func (p *NodeProxy) forward(ctx context.Context, w http.ResponseWriter, g checkedRequest, within time.Duration) {
	work, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	escaped := (&url.URL{Path: g.path}).EscapedPath()
	status, result, err := p.Control.Call(work, g.method, escaped, g.query, g.body)
	switch {
	case ctx.Err() != nil:
		return // nobody listens any more
	case work.Err() != nil:
		text := fmt.Sprintf("the node's browser did not finish %s %s within %d ms (%s)", g.method, g.path, within.Milliseconds(), p.browserStatus(ctx, g.profile))
		writeJSON(w, http.StatusGatewayTimeout, &nodeRefusal{Error: text, Code: codeTimeout})
	case err != nil:
		writeJSON(w, http.StatusBadGateway, &nodeRefusal{Error: "on the node: " + err.Error(), Code: codeUpstream})
	case status < 200 || status > 299:
		writeJSON(w, status, result)
	default:
		if g.method == http.MethodGet && g.path == "/profiles" {
			result = p.filterProfiles(result)
		}
		out := nodeReply{Result: result}
		out.Files, out.Skipped = p.collectFiles(result)
		writeJSON(w, http.StatusOK, out)
	}
}

// browserStatus says in a few words how the browser is, for the text of a timeout.
func (p *NodeProxy) browserStatus(ctx context.Context, profile string) string {
	ctx, cancel := context.WithTimeout(ctx, nodeProbeTimeout)
	defer cancel()
	query := url.Values{}
	if profile != "" {
		query.Set("profile", profile)
	}
	code, raw, err := p.Control.Call(ctx, http.MethodGet, "/", query, nil)
	if err != nil {
		return "its status is not known either: " + err.Error()
	}
	var s struct {
		Profile            string
		Running, PageReady bool
		CDPReady, CDPHTTP  *bool
	}
	if code != http.StatusOK || json.Unmarshal(raw, &s) != nil {
		return fmt.Sprintf("its status is not known: the control service answered %d", code)
	}
	text := fmt.Sprintf("profile %s, running %t", s.Profile, s.Running)
	if s.CDPReady != nil {
		text += fmt.Sprintf(", answers commands %t", *s.CDPReady)
	}
	return text
}

// filterProfiles leaves the profiles that are shared.
func (p *NodeProxy) filterProfiles(result json.RawMessage) json.RawMessage {
	if len(p.AllowProfiles) == 0 {
		return result
	}
	var list struct {
		Profiles []json.RawMessage `json:"profiles"`
	}
	shared := []json.RawMessage{}
	if json.Unmarshal(result, &list) == nil {
		for _, raw := range list.Profiles {
			var one struct {
				Name string `json:"name"`
			}
			if json.Unmarshal(raw, &one) == nil && slices.Contains(p.AllowProfiles, one.Name) {
				shared = append(shared, raw)
			}
		}
	}
	out, err := json.Marshal(map[string]any{"profiles": shared})
	if err != nil {
		return json.RawMessage(`{"profiles":[]}`)
	}
	return out
}

// writeJSON writes v as JSON. A caller that is gone does not matter.
func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}
