package discordtest

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
)

// endpoint answers a call: a value to send as JSON, or nil for 204.
type endpoint func(*RESTCall) (any, error)

func (s *hub) endpoints() map[Route]endpoint {
	return map[Route]endpoint{
		RouteGateway: s.getGateway, RouteGatewayBot: s.getGatewayBot, RouteCreateDM: s.createDM,
		RouteGetGuild: s.getGuild, RouteGetMember: s.getMember, RouteGetChannel: s.getChannel,
		RouteTyping: s.postTyping, RouteListMessages: s.listMessages,
		RouteCreateMessage: s.createMessage, RouteEditMessage: s.editMessage,
		RouteListCommands: s.listCommands, RouteSetCommands: s.setCommands,
		RouteRespond: s.respond, RouteFollowup: s.followup, RouteEditResponse: s.editResponse,
		RouteStreamPreview: s.postPreview,
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
	return s.trackRequests(root)
}

// trackRequests lets Close wait for every request, gateway connections included.
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
			s.write(w, 0, newReply(nil, ErrTooLarge))
		}
		return
	}
	plan := s.PlanFor(route)
	c := &RESTCall{Request: r, Route: route}
	index := s.RecordRequest(r, route, raw)
	if plan.WaitForRelease(r.Context()) != nil {
		return
	}
	reply := s.handleCall(w.Header(), c, raw, plan, answer)
	if plan.Lose {
		if socket := Socket(r); socket != nil {
			_ = socket.Close()
		}
		return
	}
	s.write(w, index, reply)
}

// restReply is an answer, made under the lock and written without it.
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
	if plan.Status != 0 {
		return nil, Refuse(plan.Status, 0, strconv.Itoa(plan.Status)+": "+http.StatusText(plan.Status))
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

// createdResult is a result that is answered with 201.
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

func (s *hub) write(w http.ResponseWriter, index int, r restReply) {
	s.RecordStatus(index, r.status)
	if r.body != nil {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(r.status)
	_, _ = w.Write(r.body) // a client that has gone is not our concern
}
