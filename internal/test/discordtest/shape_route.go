package discordtest

import (
	"context"
	"net/http"
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

// RESTCall is one request while it is answered. The lock is held by the handler.
type RESTCall struct {
	*http.Request
	Route Route
	Bot   *Account // nil when nobody signed in
	Body  []byte   // the JSON, also when it came as payload_json
	Files []UploadedFile
}

// Open says which routes need no signed-in bot: they carry their own token.
func (r Route) Open() bool {
	return r == RouteGateway || strings.Contains(string(r), "{token}")
}

// RequestHold is a request that the server has received and does not answer yet.
type RequestHold struct {
	arrived, released chan struct{}
}

// NewRequestHold makes a hold that nothing has met.
func NewRequestHold() *RequestHold {
	return &RequestHold{arrived: make(chan struct{}), released: make(chan struct{})}
}

// Arrived is closed when the request is there. Nothing has been done with it.
func (h *RequestHold) Arrived() <-chan struct{} { return h.arrived }

// Release lets the request go on. It is called once.
func (h *RequestHold) Release() { close(h.released) }

// WaitForRelease waits until the request may go on, at most until ctx ends.
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
