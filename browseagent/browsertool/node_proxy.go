package browsertool

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	"clank/browsermgr/page/action/actiontable"
)

// NodeProxy serves POST [NodePath] in front of a control API. Set its fields before serving. It refuses every request
// while Token is empty.
type NodeProxy struct {
	Control ControlAPI // the control API of this machine, with its token
	Token   string     // the bearer token for callers of the proxy; not the control API's

	// AllowProfiles are the profiles that callers may use; empty means all. DefaultProfile returns the profile for
	// requests without one; it is needed only with AllowProfiles.
	AllowProfiles  []string
	DefaultProfile func() string

	// FileRoots are the directories from which files named in an answer are copied to the caller. Other files are
	// skipped.
	FileRoots []string

	Version string              // of this clank, for the answers
	OnCall  func(*http.Request) // called for each authorized request; may be nil
}

// ServeHTTP answers with {result, files?, skipped?}, with the status and error of the control API, or with an error
// of its own that has a NODE_… code. The work is cancelled when the caller disconnects.
func (p *NodeProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") != "":
		http.Error(w, "Forbidden", http.StatusForbidden) // web pages may not call this
		return
	case !p.authorized(r.Header.Get("Authorization")):
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "Unauthorized", http.StatusUnauthorized)
		return
	}
	if p.OnCall != nil {
		p.OnCall(r)
	}
	switch {
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
		writeJSON(w, http.StatusBadRequest,
			invalidRequest("the request is not a JSON object of at most 1 MiB that a node understands"))
		return
	}
	g, no := p.checkRequest(in)
	if no != nil {
		writeJSON(w, no.Status, no)
		return
	}
	p.forward(r.Context(), w, g, nodeTimeout(in.TimeoutMs))
}

// authorized compares in constant time, for any lengths.
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

// forward calls the control API and passes its answer on.
func (p *NodeProxy) forward(ctx context.Context, w http.ResponseWriter, g checkedRequest, within time.Duration) {
	work, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	escaped := (&url.URL{Path: g.path}).EscapedPath()
	status, result, err := p.Control.Call(work, g.method, escaped, g.query, g.body)
	switch {
	case ctx.Err() != nil:
		return // the caller has disconnected
	case work.Err() != nil:
		text := fmt.Sprintf("the node's browser did not finish %s %s within %d ms (%s)", g.method, g.path,
			within.Milliseconds(), p.browserStatus(ctx, g.profile))
		writeJSON(w, http.StatusGatewayTimeout, &nodeRefusal{Error: text, Code: codeTimeout})
	case err != nil:
		writeJSON(w, http.StatusBadGateway, &nodeRefusal{Error: "on the node: " + err.Error(), Code: codeUpstream})
	case status < 200 || status > 299:
		writeJSON(w, status, result)
	default:
		if g.method == http.MethodGet && g.path == "/profiles" {
			result = p.filterProfiles(result)
		}
		out := nodeReply{Result: result, Version: p.Version}
		out.Files, out.Skipped = p.collectFiles(result)
		writeJSON(w, http.StatusOK, out)
	}
}

// browserStatus describes the state of the browser in a few words, for the text of a timeout.
func (p *NodeProxy) browserStatus(ctx context.Context, profile string) string {
	ctx, cancel := context.WithTimeout(ctx, nodeProbeTimeout)
	defer cancel()
	query := url.Values{}
	if profile != "" {
		query.Set("profile", profile)
	}
	code, raw, err := p.Control.Call(ctx, http.MethodGet, "/", query, nil)
	if err != nil {
		return "its status is unknown, too: " + err.Error()
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

// filterProfiles keeps only the shared profiles.
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

// writeJSON writes v as JSON. It ignores errors: the caller has disconnected.
func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// checkedRequest is a request that may be sent to the control API.
type checkedRequest struct {
	method, path string
	query        url.Values
	body         any
	profile      string // profile of the request; "" if no rule requires one
}

// normalizeRoute brings a method and a path into the one form that is both checked and sent.
func normalizeRoute(method, p string) (string, string, *nodeRefusal) {
	method = strings.ToUpper(strings.TrimSpace(method))
	if method == "" {
		method = http.MethodGet
	}
	if !slices.Contains([]string{http.MethodGet, http.MethodPost, http.MethodDelete}, method) {
		return "", "", invalidRequest("the method must be GET, POST or DELETE")
	}
	p = strings.TrimSpace(p)
	if !strings.HasPrefix(p, "/") || strings.ContainsAny(p, "?#\\") {
		return "", "", invalidRequest("the path must begin with / and hold no query")
	}
	plain, err := url.PathUnescape(p)
	if err != nil || strings.ContainsAny(plain, "%?#\\") || strings.ContainsFunc(plain, isOddRune) {
		return "", "", invalidRequest("the path holds characters that no route has")
	}
	return method, path.Clean(plain), nil
}

func isOddRune(r rune) bool {
	return r == unicode.ReplacementChar || r > unicode.MaxASCII || !unicode.IsPrint(r)
}

// changesProfiles reports whether a route changes the node's profiles, which is never allowed remotely.
func changesProfiles(method, p string) bool {
	if method == http.MethodGet {
		return false
	}
	first, _, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(p, "/")), "/")
	return slices.Contains([]string{"profiles", "reset-profile", "system-profile-import", "browser.proxy"}, first)
}

// checkRequest decides on a request and makes it unambiguous: if profiles are restricted, its profile is given in the
// query and nowhere else.
func (p *NodeProxy) checkRequest(r nodeRequest) (checkedRequest, *nodeRefusal) {
	method, route, no := normalizeRoute(r.Method, r.Path)
	if no != nil {
		return checkedRequest{}, no
	}
	if changesProfiles(method, route) {
		return checkedRequest{}, forbiddenRequest("profiles of a node cannot be created, reset, imported or deleted from " +
			"another machine; do it on the node itself")
	}
	query, no := queryValues(r.Query)
	if no != nil {
		return checkedRequest{}, no
	}
	g := checkedRequest{method: method, path: route, query: query, body: r.Body}
	named := []string{query.Get("profile"), strings.TrimSpace(r.Profile)}
	body, isObject := r.Body.(map[string]any)
	if isObject {
		for key, v := range body {
			if strings.EqualFold(key, "profile") {
				named = append(named, scalarText(v))
				delete(body, key)
			}
		}
	}
	if g.profile, no = p.requestedProfile(named); no != nil {
		return checkedRequest{}, no
	}
	query.Del("profile")
	if g.profile != "" {
		query.Set("profile", g.profile)
	}
	return g, nil
}

// requestedProfile returns the profile of a request, if all the profiles it names are allowed: the query takes
// precedence over the envelope, the envelope over the body.
func (p *NodeProxy) requestedProfile(named []string) (string, *nodeRefusal) {
	chosen := ""
	for _, name := range named {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if no := p.checkProfile(name); no != nil {
			return "", no
		}
		if chosen == "" {
			chosen = name
		}
	}
	if chosen != "" || len(p.AllowProfiles) == 0 {
		return chosen, nil
	}
	if p.DefaultProfile != nil {
		chosen = strings.TrimSpace(p.DefaultProfile())
	}
	if chosen == "" {
		return "", forbiddenRequest("this node allows some profiles only; name one of them: " +
			strings.Join(p.AllowProfiles, ", "))
	}
	return chosen, p.checkProfile(chosen)
}

func (p *NodeProxy) checkProfile(name string) *nodeRefusal {
	if len(p.AllowProfiles) == 0 || slices.Contains(p.AllowProfiles, name) {
		return nil
	}
	return forbiddenRequest(fmt.Sprintf("this node does not share its profile %q; it shares: %s", name,
		strings.Join(p.AllowProfiles, ", ")))
}

// queryValues converts a JSON object to a query. Names that differ from "profile" only in case are refused, since it
// is unclear how the API would read them.
func queryValues(in map[string]any) (url.Values, *nodeRefusal) {
	query := url.Values{}
	for key, v := range in {
		if key != "profile" && strings.EqualFold(strings.TrimSpace(key), "profile") {
			return nil, invalidRequest("write the query's profile in small letters")
		}
		switch v.(type) {
		case nil:
		case string, bool, json.Number:
			query.Set(key, scalarText(v))
		default:
			return nil, invalidRequest("the query may hold strings, numbers and booleans only")
		}
	}
	return query, nil
}

// scalarText returns a decoded string, number or boolean as text; "" for anything else.
func scalarText(v any) string {
	text, _ := actiontable.ScalarText(v)
	return text
}

func invalidRequest(text string) *nodeRefusal {
	return &nodeRefusal{Status: http.StatusBadRequest, Error: text, Code: codeInvalid}
}

func forbiddenRequest(text string) *nodeRefusal {
	return &nodeRefusal{Status: http.StatusForbidden, Error: text, Code: codeForbidden}
}

// visitPaths calls visit for each file path in result: path, imagePath, download.path and downloads[].path, and
// replaces the path by visit's result, in place.
func visitPaths(result map[string]any, visit func(string) string) {
	one := func(in map[string]any, key string) {
		if s, ok := in[key].(string); ok && s != "" {
			in[key] = visit(s)
		}
	}
	one(result, "path")
	one(result, "imagePath")
	if d, ok := result["download"].(map[string]any); ok {
		one(d, "path")
	}
	if list, ok := result["downloads"].([]any); ok {
		for _, v := range list {
			if d, ok := v.(map[string]any); ok {
				one(d, "path")
			}
		}
	}
}

// collectFiles reads the files that result names.
func (p *NodeProxy) collectFiles(result json.RawMessage) (files []nodeFile, left []skippedFile) {
	var object map[string]any
	if json.Unmarshal(result, &object) != nil {
		return nil, nil
	}
	seen := map[string]bool{}
	visitPaths(object, func(name string) string {
		if seen[name] {
			return name
		}
		seen[name] = true
		data, err := ReadMedia(p.FileRoots, name, MaxNodeFile)
		if err == nil && len(files) == maxNodeFiles {
			err = fmt.Errorf("more than %d files", maxNodeFiles)
		}
		if err != nil {
			left = append(left, skippedFile{Path: name, Error: err.Error()})
		} else {
			files = append(files, nodeFile{Path: name, Base64: data, MimeType: detectMediaType(name, data)})
		}
		return name
	})
	return files, left
}
