package discordtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"clank/internal/test/discordtest/voicetest"
)

// endpoint handles a call. It returns a value to send as JSON, or nil for 204.
type endpoint func(*RESTCall) (any, error)

func (s *hub) endpoints() map[Route]endpoint {
	return map[Route]endpoint{
		RouteGateway: s.getGateway, RouteGatewayBot: s.getGatewayBot, RouteCreateDM: s.createDM,
		RouteGetGuild: s.getGuild, RouteGetMember: s.getMember, RouteGetChannel: s.getChannel,
		RouteTyping: s.postTyping, RouteListMessages: s.listMessages,
		RouteCreateMessage: s.createMessage, RouteEditMessage: s.editMessage,
		RouteDeleteMessage: s.deleteMessage, RouteDeleteResponse: s.deleteResponse,
		RouteApplication: s.getApplication, RouteListCommands: s.listCommands, RouteSetCommands: s.setCommands,
		RouteRespond: s.respond, RouteFollowup: s.followup, RouteEditResponse: s.editResponse,
		RouteStreamPreview: s.postPreview, RouteStartThread: s.startThread, RouteInstance: s.getInstance,
	}
}

// Handler serves the API, the files and the main gateway.
func (s *hub) Handler() http.Handler {
	api := http.NewServeMux()
	for route, answer := range s.endpoints() {
		api.HandleFunc(string(route), func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, route, answer) })
	}
	api.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.serve(w, r, "", func(*RESTCall) (any, error) { return nil, ErrNotFound })
	})
	root := http.NewServeMux()
	for _, prefix := range []string{"/api/v9", "/api/v10"} {
		root.Handle(prefix+"/", http.StripPrefix(prefix, api))
	}
	root.HandleFunc("GET /attachments/{channel}/{attachment}/{name}", s.download)
	root.HandleFunc("GET /{$}", s.AcceptGateway)
	root.HandleFunc("POST /api/v10/oauth2/token", s.postToken)
	root.HandleFunc("GET /api/v10/users/@me", s.getMe)
	root.HandleFunc("GET /oauth2/authorize", s.getAuthorize)
	return s.trackRequests(root)
}

// trackRequests lets Close wait for every request, including gateway connections.
func (s *hub) trackRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.Mu.Lock()
		if s.Closed {
			s.Mu.Unlock()
			http.Error(w, ErrServerClosed.Error(), http.StatusServiceUnavailable)
			return
		}
		s.Tasks.Add(1)
		s.Mu.Unlock()
		defer s.Tasks.Done()
		next.ServeHTTP(w, r)
	})
}

const maxRequestSize = 64 << 20

func (s *hub) serve(w http.ResponseWriter, r *http.Request, route Route, answer endpoint) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequestSize))
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			write(w, newReply(nil, ErrTooLarge))
		}
		return
	}
	plan := s.PlanFor(route)
	c := &RESTCall{Request: r, Route: route}
	s.RecordRequest(r, route, raw)
	if plan.WaitForRelease(r.Context()) != nil {
		return
	}
	reply := s.handleCall(w.Header(), c, raw, plan, answer)
	if plan.Lose {
		voicetest.CutConn(r)
		return
	}
	write(w, reply)
}

// restReply is a response, built under the lock and written without it.
type restReply struct {
	status int
	body   []byte
}

func (s *hub) handleCall(h http.Header, c *RESTCall, raw []byte, plan RoutePlan, answer endpoint) restReply {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	defer s.Notify()
	result, err := s.callEndpoint(h, c, raw, plan, answer)
	return newReply(result, err)
}

func (s *hub) callEndpoint(h http.Header, c *RESTCall, raw []byte, plan RoutePlan, answer endpoint) (any, error) {
	c.Bot = s.AccountWith(c.Header.Get("Authorization"))
	if s.Now().Before(s.outageEnds) {
		plan.Status = s.outage
	}
	if plan.Status != 0 {
		return nil, Refuse(plan.Status, 0, strconv.Itoa(plan.Status)+": "+http.StatusText(plan.Status))
	}
	if plan.Refusal != nil {
		return nil, plan.Refusal
	}
	if c.Route == "" {
		return nil, ErrNotFound
	}
	if err := s.limit(h, c, plan); err != nil {
		return nil, err
	}
	if c.Bot == nil && !c.Route.Open() {
		return nil, ErrUnauthorized
	}
	if err := c.Parse(raw); err != nil {
		return nil, err
	}
	return answer(c)
}

// createdResult is a result sent with status 201.
type createdResult struct{ value any }

func newReply(result any, err error) restReply {
	status := http.StatusOK
	if c, ok := result.(createdResult); ok {
		status, result = http.StatusCreated, c.value
	}
	if result == nil {
		status = http.StatusNoContent
	}
	var refusal *APIError
	var limited *rateLimitError
	switch {
	case errors.As(err, &limited):
		status, result = http.StatusTooManyRequests, limited
	case errors.As(err, &refusal):
		status, result = refusal.Status, refusal
	case err != nil:
		status, result = http.StatusInternalServerError, Refuse(http.StatusInternalServerError, 0, err.Error())
	}
	if status == http.StatusNoContent {
		return restReply{status: status}
	}
	body, err := json.Marshal(result)
	if err != nil {
		return restReply{http.StatusInternalServerError, []byte(err.Error())}
	}
	return restReply{status, body}
}

func write(w http.ResponseWriter, r restReply) {
	if r.body != nil {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(r.status)
	_, _ = w.Write(r.body) // fails only if the client has gone
}

// A Route is a kind of request, for RateLimitNext and similar methods.
type Route string

// Routes that the server supports.
const (
	RouteGateway        Route = "GET /gateway"
	RouteGatewayBot     Route = "GET /gateway/bot"
	RouteCreateDM       Route = "POST /users/@me/channels"
	RouteGetGuild       Route = "GET /guilds/{guild}"
	RouteGetMember      Route = "GET /guilds/{guild}/members/{user}"
	RouteGetChannel     Route = "GET /channels/{channel}"
	RouteTyping         Route = "POST /channels/{channel}/typing"
	RouteListMessages   Route = "GET /channels/{channel}/messages"
	RouteCreateMessage  Route = "POST /channels/{channel}/messages"
	RouteEditMessage    Route = "PATCH /channels/{channel}/messages/{message}"
	RouteDeleteMessage  Route = "DELETE /channels/{channel}/messages/{message}"
	RouteApplication    Route = "GET /applications/@me"
	RouteListCommands   Route = "GET /applications/{app}/commands"
	RouteSetCommands    Route = "PUT /applications/{app}/commands"
	RouteRespond        Route = "POST /interactions/{interaction}/{token}/callback"
	RouteFollowup       Route = "POST /webhooks/{app}/{token}"
	RouteEditResponse   Route = "PATCH /webhooks/{app}/{token}/messages/{message}"
	RouteDeleteResponse Route = "DELETE /webhooks/{app}/{token}/messages/{message}"
	RouteStreamPreview  Route = "POST /streams/{key}/preview"
	RouteStartThread    Route = "POST /channels/{channel}/messages/{message}/threads"
	RouteInstance       Route = "GET /applications/{app}/activity-instances/{instance}"
)

// RESTCall is a request being handled. The handler holds the lock.
type RESTCall struct {
	*http.Request
	Route Route
	Bot   *Account // nil if not authenticated
	Body  []byte   // the JSON body, or payload_json of a multipart body
	Files []UploadedFile
}

// Open reports whether a route needs no bot token because it has a token of its own.
func (r Route) Open() bool {
	return r == RouteGateway || strings.Contains(string(r), "{token}")
}

// RequestHold is a received request that is not answered yet.
type RequestHold struct {
	arrived, released chan struct{}
}

// NewRequestHold returns a hold without a request.
func NewRequestHold() *RequestHold {
	return &RequestHold{arrived: make(chan struct{}), released: make(chan struct{})}
}

// Arrived returns a channel that is closed when the request has arrived. It has not been processed then.
func (h *RequestHold) Arrived() <-chan struct{} { return h.arrived }

// Release lets the request continue. Call it once.
func (h *RequestHold) Release() { close(h.released) }

// WaitForRelease waits until the request may continue, or ctx ends.
func (p RoutePlan) WaitForRelease(ctx context.Context) error {
	if p.Held == nil {
		return nil
	}
	close(p.Held.arrived)
	select {
	case <-p.Held.released:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// UploadedFile is one file of a multipart request.
type UploadedFile struct {
	Field, Name, ContentType string
	Data                     []byte
}

// fileLimit returns the maximum size of a file in a guild, by its boosts (Discord's reference, "Uploading Files").
func (s *hub) fileLimit(guild string) int {
	g := s.Guilds[guild]
	switch {
	case g != nil && g.BoostTier == 2:
		return 50 << 20
	case g != nil && g.BoostTier == 3:
		return 100 << 20
	}
	return 10 << 20
}

// fileField matches the names of file parts; "file" is the old form.
var fileField = regexp.MustCompile(`^files?\[\d+\]$|^file\d*$`)

// Parse parses the body: JSON, or multipart with payload_json and files.
func (c *RESTCall) Parse(raw []byte) error {
	if len(raw) == 0 {
		c.Body = []byte("{}")
		return nil
	}
	kind, params, err := mime.ParseMediaType(c.Header.Get("Content-Type"))
	switch {
	case err != nil:
		return FormError("", "CONTENT_TYPE_INVALID", "Expected Content-Type header to be one of {'application/json'}.")
	case kind == "application/json":
		c.Body = raw
		return nil
	case kind == "multipart/form-data":
		return c.parseParts(multipart.NewReader(bytes.NewReader(raw), params["boundary"]))
	default:
		return FormError("", "CONTENT_TYPE_INVALID", "Expected Content-Type header to be one of {'application/json'}.")
	}
}

func (c *RESTCall) parseParts(parts *multipart.Reader) error {
	c.Body = []byte("{}")
	for {
		p, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return FormError("", "MULTIPART_INVALID", fmt.Sprintf("The body is not well-formed multipart: %v.", err))
		}
		data, err := io.ReadAll(p)
		if err != nil {
			return FormError("", "MULTIPART_INVALID", fmt.Sprintf("The body is not well-formed multipart: %v.", err))
		}
		switch {
		case p.FormName() == "payload_json":
			c.Body = data
		case p.FileName() != "" && fileField.MatchString(p.FormName()):
			c.Files = append(c.Files, UploadedFile{p.FormName(), p.FileName(), p.Header.Get("Content-Type"), data})
		}
	}
}

// SnowflakeNumber parses an id; 0 if it is invalid.
func SnowflakeNumber(id string) int64 {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// APIError is an error of Discord's API: {code, message, errors}.
type APIError struct {
	Status  int    `json:"-"`
	Code    int    `json:"code"`
	Message string `json:"message"`
	Errors  any    `json:"errors,omitempty"`
}

func (e *APIError) Error() string {
	return fmt.Sprintf("HTTP %d, code %d: %s", e.Status, e.Code, e.Message)
}

// Refuse returns an error of the API.
func Refuse(status, code int, message string) *APIError {
	return &APIError{Status: status, Code: code, Message: message}
}

// Errors that several routes share, with Discord's codes.
var (
	ErrUnauthorized    = Refuse(http.StatusUnauthorized, 0, "401: Unauthorized")
	ErrNotFound        = Refuse(http.StatusNotFound, 0, "404: Not Found")
	ErrUnknownApp      = Refuse(http.StatusNotFound, 10002, "Unknown Application")
	ErrUnknownChannel  = Refuse(http.StatusNotFound, 10003, "Unknown Channel")
	ErrUnknownGuild    = Refuse(http.StatusNotFound, 10004, "Unknown Guild")
	ErrUnknownMember   = Refuse(http.StatusNotFound, 10007, "Unknown Member")
	ErrUnknownMessage  = Refuse(http.StatusNotFound, 10008, "Unknown Message")
	ErrUnknownWebhook  = Refuse(http.StatusNotFound, 10015, "Unknown Webhook")
	ErrUnknownInteract = Refuse(http.StatusNotFound, 10062, "Unknown interaction")
	ErrForbiddenAction = Refuse(http.StatusForbidden, 20012, "You are not authorized to perform this action on this "+
		"application")
	ErrTooLarge     = Refuse(http.StatusRequestEntityTooLarge, 40005, "Request entity too large")
	ErrTooManyEdits = Refuse(http.StatusTooManyRequests, 30046,
		"Maximum number of edits to messages older than 1 hour reached. Try again later.")
	ErrAlreadyAnswered = Refuse(http.StatusBadRequest, 40060, "Interaction has already been acknowledged.")
	ErrMissingAccess   = Refuse(http.StatusForbidden, 50001, "Missing Access")
	ErrNotYourMessage  = Refuse(http.StatusForbidden, 50005, "Cannot edit a message authored by another user")
	ErrEmptyMessage    = Refuse(http.StatusBadRequest, 50006, "Cannot send an empty message")
	ErrCannotDM        = Refuse(http.StatusForbidden, 50007, "Cannot send messages to this user")
	ErrMissingPerms    = Refuse(http.StatusForbidden, 50013, "Missing Permissions")
	ErrInvalidWebhook  = Refuse(http.StatusUnauthorized, 50027, "Invalid Webhook Token")
	ErrNoMutualGuild   = Refuse(http.StatusForbidden, 50278, "Cannot send messages to this user due to having no "+
		"mutual guilds")
	ErrTooManyFollowups = Refuse(http.StatusBadRequest, 40094, "This interaction has reached the maximum number of "+
		"follow-up messages")
	ErrInvalidJSON      = Refuse(http.StatusBadRequest, 50109, "The request body contains invalid JSON.")
	ErrWrongChannelType = Refuse(http.StatusBadRequest, 50024, "Cannot execute action on this channel type")
	ErrThreadExists     = Refuse(http.StatusBadRequest, 160004, "A thread has already been created for this message")
	ErrNoHistoryToReply = Refuse(http.StatusBadRequest, 160002, "Cannot reply without permission to read message history")
)

// FormErrors collects the errors of a body by field, and becomes one error with code 50035. Paths are dotted, with
// indexes: "embeds.0.title".
type FormErrors struct{ root map[string]any }

// Add adds an error at a path, "embeds.0.title".
func (f *FormErrors) Add(path, code, message string) {
	if f.root == nil {
		f.root = map[string]any{}
	}
	at := f.root
	if path != "" {
		for step := range strings.SplitSeq(path, ".") {
			next, ok := at[step].(map[string]any)
			if !ok {
				next = map[string]any{}
				at[step] = next
			}
			at = next
		}
	}
	list, _ := at["_errors"].([]map[string]string)
	at["_errors"] = append(list, map[string]string{"code": code, "message": message})
}

// Err returns the error, nil if there is none.
func (f *FormErrors) Err() error {
	if f.root == nil {
		return nil
	}
	return &APIError{Status: http.StatusBadRequest, Code: 50035, Message: "Invalid Form Body", Errors: f.root}
}

// FormError returns an error for a single field.
func FormError(path, code, message string) error {
	var f FormErrors
	f.Add(path, code, message)
	return f.Err()
}

// required, Length and Count add Discord's most common errors.
func (f *FormErrors) required(path string) {
	f.Add(path, "BASE_TYPE_REQUIRED", "This field is required")
}

// Length checks the length of a text in characters.
func (f *FormErrors) Length(path, text string, least, most int) {
	n := len([]rune(text))
	switch {
	case n < least && n == 0:
		f.required(path)
	case n < least || n > most && least > 0:
		f.Add(path, "BASE_TYPE_BAD_LENGTH", fmt.Sprintf("Must be between %d and %d in length.", least, most))
	case n > most:
		f.Add(path, "BASE_TYPE_MAX_LENGTH", fmt.Sprintf("Must be %d or fewer in length.", most))
	}
}

// Count checks the length of a list.
func (f *FormErrors) Count(path string, n, least, most int) {
	if n < least || n > most {
		f.Add(path, "BASE_TYPE_BAD_LENGTH", fmt.Sprintf("Must be between %d and %d in length.", least, most))
	}
}

// ErrorPath returns the path of a list element, or of something in it.
func ErrorPath(path string, index int, more ...string) string {
	return strings.Join(append([]string{path, strconv.Itoa(index)}, more...), ".")
}

// DecodeBody decodes JSON as Discord does: it ignores unknown fields and rejects wrong types.
func DecodeBody(body []byte, into any) error {
	err := json.Unmarshal(body, into)
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong):
		return FormError(wrong.Field, "BASE_TYPE_CONVERT", fmt.Sprintf("Value of type %s is not %s.", wrong.Value,
			wrong.Type))
	case json.Valid(body):
		return FormError("", "BASE_TYPE_CONVERT", err.Error())
	default:
		return ErrInvalidJSON
	}
}

// Transport sends requests for Discord's hosts to the server and refuses all others, so that a test cannot contact
// the real ones by accident. It keeps no idle connections.
func (s *Server) Transport() http.RoundTripper {
	return &transport{host: strings.TrimPrefix(s.URL, "http://"), next: &http.Transport{DisableKeepAlives: true}}
}

type transport struct {
	host string
	next http.RoundTripper
}

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != t.host && !discordHost(r.URL.Hostname()) {
		return nil, &url.Error{Op: r.Method, URL: r.URL.String(), Err: errForeignHost}
	}
	out := r.Clone(r.Context())
	out.URL.Scheme, out.URL.Host, out.Host = "http", t.host, ""
	return t.next.RoundTrip(out)
}

func discordHost(name string) bool {
	for _, domain := range []string{"discord.com", "discordapp.com", "discordapp.net"} {
		if name == domain || strings.HasSuffix(name, "."+domain) {
			return true
		}
	}
	return false
}

var errForeignHost = errors.New("not a host of discord, and a test reaches no other")
