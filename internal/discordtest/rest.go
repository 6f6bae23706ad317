package discordtest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
)

// A Route names one kind of request, for RateLimitNext and its kind.
type Route string

// Routes of the API that the server knows.
const (
	RouteGateway            Route = "GET /gateway"
	RouteGatewayBot         Route = "GET /gateway/bot"
	RouteGetUser            Route = "GET /users/{user}"
	RouteGetApplication     Route = "GET /applications/@me"
	RouteGetOwnApplication  Route = "GET /oauth2/applications/@me" // the older address
	RouteGetOwnGuilds       Route = "GET /users/@me/guilds"
	RouteCreateDM           Route = "POST /users/@me/channels"
	RouteGetGuild           Route = "GET /guilds/{guild}"
	RouteGetGuildChannels   Route = "GET /guilds/{guild}/channels"
	RouteGetRoles           Route = "GET /guilds/{guild}/roles"
	RouteGetMember          Route = "GET /guilds/{guild}/members/{user}"
	RouteGetChannel         Route = "GET /channels/{channel}"
	RouteTyping             Route = "POST /channels/{channel}/typing"
	RouteListMessages       Route = "GET /channels/{channel}/messages"
	RouteGetMessage         Route = "GET /channels/{channel}/messages/{message}"
	RouteCreateMessage      Route = "POST /channels/{channel}/messages"
	RouteEditMessage        Route = "PATCH /channels/{channel}/messages/{message}"
	RouteDeleteMessage      Route = "DELETE /channels/{channel}/messages/{message}"
	RouteStartThread        Route = "POST /channels/{channel}/messages/{message}/threads"
	RouteAddReaction        Route = "PUT /channels/{channel}/messages/{message}/reactions/{emoji}/@me"
	RouteRemoveReaction     Route = "DELETE /channels/{channel}/messages/{message}/reactions/{emoji}/{user}"
	RouteGetReactions       Route = "GET /channels/{channel}/messages/{message}/reactions/{emoji}"
	RouteListCommands       Route = "GET /applications/{app}/commands"
	RouteCreateCommand      Route = "POST /applications/{app}/commands"
	RouteSetCommands        Route = "PUT /applications/{app}/commands"
	RouteDeleteCommand      Route = "DELETE /applications/{app}/commands/{command}"
	RouteListGuildCommands  Route = "GET /applications/{app}/guilds/{guild}/commands"
	RouteCreateGuildCommand Route = "POST /applications/{app}/guilds/{guild}/commands"
	RouteSetGuildCommands   Route = "PUT /applications/{app}/guilds/{guild}/commands"
	RouteDeleteGuildCommand Route = "DELETE /applications/{app}/guilds/{guild}/commands/{command}"
	RouteRespond            Route = "POST /interactions/{interaction}/{token}/callback"
	RouteFollowup           Route = "POST /webhooks/{app}/{token}"
	RouteGetResponse        Route = "GET /webhooks/{app}/{token}/messages/{message}"
	RouteEditResponse       Route = "PATCH /webhooks/{app}/{token}/messages/{message}"
	RouteStreamPreview      Route = "POST /streams/{key}/preview"
	RouteDeleteResponse     Route = "DELETE /webhooks/{app}/{token}/messages/{message}"
)

// call is one request while it is answered. The lock is held by the handler.
type call struct {
	*http.Request
	route Route
	bot   *account // nil when nobody signed in
	body  []byte   // the JSON, also when it came as payload_json
	files []upload
}

// endpoint answers a call: a value to send as JSON, or nil for 204.
type endpoint func(*call) (any, error)

func (s *Server) endpoints() map[Route]endpoint {
	return map[Route]endpoint{
		RouteGateway: s.getGateway, RouteGatewayBot: s.getGatewayBot,
		RouteGetUser: s.getUser, RouteGetApplication: s.getApplication, RouteGetOwnApplication: s.getApplication,
		RouteGetOwnGuilds: s.getOwnGuilds,
		RouteCreateDM:     s.createDM, RouteGetGuild: s.getGuild, RouteGetGuildChannels: s.getGuildChannels,
		RouteGetRoles: s.getRoles, RouteGetMember: s.getMember, RouteGetChannel: s.getChannel,
		RouteTyping: s.postTyping, RouteListMessages: s.listMessages, RouteGetMessage: s.getMessage,
		RouteCreateMessage: s.createMessage, RouteEditMessage: s.editMessage, RouteDeleteMessage: s.deleteMessage,
		RouteStartThread: s.startThread, RouteAddReaction: s.addReaction, RouteRemoveReaction: s.removeReaction,
		RouteGetReactions: s.getReactions, RouteListCommands: s.listCommands, RouteCreateCommand: s.createCommand,
		RouteSetCommands: s.setCommands, RouteDeleteCommand: s.deleteCommand, RouteListGuildCommands: s.listCommands,
		RouteCreateGuildCommand: s.createCommand, RouteSetGuildCommands: s.setCommands,
		RouteDeleteGuildCommand: s.deleteCommand, RouteRespond: s.respond, RouteFollowup: s.followup,
		RouteGetResponse: s.getResponse, RouteEditResponse: s.editResponse, RouteDeleteResponse: s.deleteResponse,
		RouteStreamPreview: s.postPreview,
	}
}

// open says which routes need no signed-in bot: they carry their own token.
func (r Route) open() bool {
	return r == RouteGateway || strings.Contains(string(r), "{token}")
}

func (s *Server) handler() http.Handler {
	api := http.NewServeMux()
	for route, answer := range s.endpoints() {
		api.HandleFunc(string(route), func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, route, answer) })
	}
	api.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.serve(w, r, "", func(*call) (any, error) { return nil, errNotFound })
	})
	root := http.NewServeMux()
	for _, prefix := range []string{"/api/v9", "/api/v10"} {
		root.Handle(prefix+"/", http.StripPrefix(prefix, api))
	}
	root.HandleFunc("GET /attachments/{channel}/{attachment}/{name}", s.download)
	root.HandleFunc("GET /{$}", s.acceptGateway)
	return s.counted(root)
}

// counted lets Close wait for every request, gateway connections included.
func (s *Server) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			http.Error(w, errServerClosed.Error(), http.StatusServiceUnavailable)
			return
		}
		s.tasks.Add(1)
		s.mu.Unlock()
		defer s.tasks.Done()
		next.ServeHTTP(w, r)
	})
}

const largestRequest = 64 << 20

func (s *Server) serve(w http.ResponseWriter, r *http.Request, route Route, answer endpoint) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, largestRequest))
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			s.write(w, 0, newReply(nil, errTooLarge))
		}
		return
	}
	plan := s.planFor(route)
	c := &call{Request: r, route: route}
	index := s.recordRequest(r, route, raw)
	if plan.hold(r.Context()) != nil {
		return
	}
	reply := s.answer(w.Header(), c, raw, plan, answer)
	if plan.lose {
		if socket, ok := r.Context().Value(socketKey{}).(net.Conn); ok {
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

func (s *Server) answer(h http.Header, c *call, raw []byte, plan plan, answer endpoint) reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.notify()
	result, err := s.result(h, c, raw, plan, answer)
	return newReply(result, err)
}

func (s *Server) result(h http.Header, c *call, raw []byte, plan plan, answer endpoint) (any, error) {
	c.bot = s.accountWith(c.Header.Get("Authorization"))
	if plan.status != 0 {
		return nil, refuse(plan.status, 0, strconv.Itoa(plan.status)+": "+http.StatusText(plan.status))
	}
	if c.route == "" {
		return nil, errNotFound
	}
	if err := s.limit(h, c, plan); err != nil {
		return nil, err
	}
	if c.bot == nil && !c.route.open() {
		return nil, errUnauthorized
	}
	if err := c.parse(raw); err != nil {
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
	var refusal *apiError
	var limited *rateLimitError
	switch {
	case errors.As(err, &limited):
		status, result = http.StatusTooManyRequests, limited
	case errors.As(err, &refusal):
		status, result = refusal.Status, refusal
	case err != nil:
		status, result = http.StatusInternalServerError, refuse(http.StatusInternalServerError, 0, err.Error())
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
	s.recordStatus(index, r.status)
	if r.body != nil {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(r.status)
	_, _ = w.Write(r.body) // a client that has gone is not our concern
}

// Hold is a request that the server has received and does not answer yet.
type Hold struct {
	arrived, released chan struct{}
}

// Arrived is closed when the request is there. Nothing has been done with it.
func (h *Hold) Arrived() <-chan struct{} { return h.arrived }

// Release lets the request go on. It is called once.
func (h *Hold) Release() { close(h.released) }

func (p plan) hold(ctx context.Context) error {
	if p.held == nil {
		return nil
	}
	close(p.held.arrived)
	select {
	case <-p.held.released:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
