package rest

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"

	"clank/internal/discordtest/hub"
	"clank/internal/discordtest/shape"
)

// A Server answers requests for what it has of a hub.
type Server struct{ *hub.Server }

// endpoint answers a call: a value to send as JSON, or nil for 204.
type endpoint func(*shape.Call) (any, error)

func (s *Server) endpoints() map[shape.Route]endpoint {
	return map[shape.Route]endpoint{
		shape.RouteGateway: s.getGateway, shape.RouteGatewayBot: s.getGatewayBot,
		shape.RouteGetUser: s.getUser, shape.RouteGetApplication: s.getApplication, shape.RouteGetOwnApplication: s.getApplication,
		shape.RouteGetOwnGuilds: s.getOwnGuilds,
		shape.RouteCreateDM:     s.createDM, shape.RouteGetGuild: s.getGuild, shape.RouteGetGuildChannels: s.getGuildChannels,
		shape.RouteGetRoles: s.getRoles, shape.RouteGetMember: s.getMember, shape.RouteGetChannel: s.getChannel,
		shape.RouteTyping: s.postTyping, shape.RouteListMessages: s.listMessages, shape.RouteGetMessage: s.getMessage,
		shape.RouteCreateMessage: s.createMessage, shape.RouteEditMessage: s.editMessage, shape.RouteDeleteMessage: s.deleteMessage,
		shape.RouteStartThread: s.startThread, shape.RouteAddReaction: s.addReaction, shape.RouteRemoveReaction: s.removeReaction,
		shape.RouteGetReactions: s.getReactions, shape.RouteListCommands: s.listCommands, shape.RouteCreateCommand: s.createCommand,
		shape.RouteSetCommands: s.setCommands, shape.RouteDeleteCommand: s.deleteCommand, shape.RouteListGuildCommands: s.listCommands,
		shape.RouteCreateGuildCommand: s.createCommand, shape.RouteSetGuildCommands: s.setCommands,
		shape.RouteDeleteGuildCommand: s.deleteCommand, shape.RouteRespond: s.respond, shape.RouteFollowup: s.followup,
		shape.RouteGetResponse: s.getResponse, shape.RouteEditResponse: s.editResponse, shape.RouteDeleteResponse: s.deleteResponse,
		shape.RouteStreamPreview: s.postPreview,
	}
}

// Handler serves the API, the files and the main gateway.
func (s *Server) Handler() http.Handler {
	api := http.NewServeMux()
	for route, answer := range s.endpoints() {
		api.HandleFunc(string(route), func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, route, answer) })
	}
	api.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.serve(w, r, "", func(*shape.Call) (any, error) { return nil, shape.ErrNotFound })
	})
	root := http.NewServeMux()
	for _, prefix := range []string{"/api/v9", "/api/v10"} {
		root.Handle(prefix+"/", http.StripPrefix(prefix, api))
	}
	root.HandleFunc("GET /attachments/{channel}/{attachment}/{name}", s.download)
	root.HandleFunc("GET /{$}", s.AcceptGateway)
	return s.counted(root)
}

// counted lets Close wait for every request, gateway connections included.
func (s *Server) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.Mu.Lock()
		if s.Closed {
			s.Mu.Unlock()
			http.Error(w, hub.ErrServerClosed.Error(), http.StatusServiceUnavailable)
			return
		}
		s.Tasks.Add(1)
		s.Mu.Unlock()
		defer s.Tasks.Done()
		next.ServeHTTP(w, r)
	})
}

const largestRequest = 64 << 20

func (s *Server) serve(w http.ResponseWriter, r *http.Request, route shape.Route, answer endpoint) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, largestRequest))
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			s.write(w, 0, newReply(nil, shape.ErrTooLarge))
		}
		return
	}
	plan := s.PlanFor(route)
	c := &shape.Call{Request: r, Route: route}
	index := s.RecordRequest(r, route, raw)
	if plan.Hold(r.Context()) != nil {
		return
	}
	reply := s.answer(w.Header(), c, raw, plan, answer)
	if plan.Lose {
		if socket := hub.Socket(r); socket != nil {
			_ = socket.Close()
		}
		return
	}
	s.write(w, index, reply)
}

// reply is an answer, made under the lock and written without it.
type reply struct {
	status int
	body   []byte
}

func (s *Server) answer(h http.Header, c *shape.Call, raw []byte, plan shape.Plan, answer endpoint) reply {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	defer s.Notify()
	result, err := s.result(h, c, raw, plan, answer)
	return newReply(result, err)
}

func (s *Server) result(h http.Header, c *shape.Call, raw []byte, plan shape.Plan, answer endpoint) (any, error) {
	c.Bot = s.AccountWith(c.Header.Get("Authorization"))
	if plan.Status != 0 {
		return nil, shape.Refuse(plan.Status, 0, strconv.Itoa(plan.Status)+": "+http.StatusText(plan.Status))
	}
	if c.Route == "" {
		return nil, shape.ErrNotFound
	}
	if err := s.limit(h, c, plan); err != nil {
		return nil, err
	}
	if c.Bot == nil && !c.Route.Open() {
		return nil, shape.ErrUnauthorized
	}
	if err := c.Parse(raw); err != nil {
		return nil, err
	}
	return answer(c)
}

// created is a result that is answered with 201.
type created struct{ value any }

func newReply(result any, err error) reply {
	status := http.StatusOK
	if c, ok := result.(created); ok {
		status, result = http.StatusCreated, c.value
	}
	if result == nil {
		status = http.StatusNoContent
	}
	var refusal *shape.APIError
	var limited *rateLimitError
	switch {
	case errors.As(err, &limited):
		status, result = http.StatusTooManyRequests, limited
	case errors.As(err, &refusal):
		status, result = refusal.Status, refusal
	case err != nil:
		status, result = http.StatusInternalServerError, shape.Refuse(http.StatusInternalServerError, 0, err.Error())
	}
	if status == http.StatusNoContent {
		return reply{status: status}
	}
	body, err := json.Marshal(result)
	if err != nil {
		return reply{http.StatusInternalServerError, []byte(err.Error())}
	}
	return reply{status, body}
}

func (s *Server) write(w http.ResponseWriter, index int, r reply) {
	s.RecordStatus(index, r.status)
	if r.body != nil {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(r.status)
	_, _ = w.Write(r.body) // a client that has gone is not our concern
}
