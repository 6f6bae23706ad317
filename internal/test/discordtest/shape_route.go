package discordtest

import (
	"context"
	"net/http"
	"strings"
)

// A Route names one kind of request, for RateLimitNext and its kind.
type ShapeRoute string

// Routes of the API that the server knows.
const (
	ShapeRouteGateway            ShapeRoute = "GET /gateway"
	ShapeRouteGatewayBot         ShapeRoute = "GET /gateway/bot"
	ShapeRouteGetUser            ShapeRoute = "GET /users/{user}"
	ShapeRouteGetApplication     ShapeRoute = "GET /applications/@me"
	ShapeRouteGetOwnApplication  ShapeRoute = "GET /oauth2/applications/@me" // the older address
	ShapeRouteGetOwnGuilds       ShapeRoute = "GET /users/@me/guilds"
	ShapeRouteCreateDM           ShapeRoute = "POST /users/@me/channels"
	ShapeRouteGetGuild           ShapeRoute = "GET /guilds/{guild}"
	ShapeRouteGetGuildChannels   ShapeRoute = "GET /guilds/{guild}/channels"
	ShapeRouteGetRoles           ShapeRoute = "GET /guilds/{guild}/roles"
	ShapeRouteGetMember          ShapeRoute = "GET /guilds/{guild}/members/{user}"
	ShapeRouteGetChannel         ShapeRoute = "GET /channels/{channel}"
	ShapeRouteTyping             ShapeRoute = "POST /channels/{channel}/typing"
	ShapeRouteListMessages       ShapeRoute = "GET /channels/{channel}/messages"
	ShapeRouteGetMessage         ShapeRoute = "GET /channels/{channel}/messages/{message}"
	ShapeRouteCreateMessage      ShapeRoute = "POST /channels/{channel}/messages"
	ShapeRouteEditMessage        ShapeRoute = "PATCH /channels/{channel}/messages/{message}"
	ShapeRouteDeleteMessage      ShapeRoute = "DELETE /channels/{channel}/messages/{message}"
	ShapeRouteStartThread        ShapeRoute = "POST /channels/{channel}/messages/{message}/threads"
	ShapeRouteAddReaction        ShapeRoute = "PUT /channels/{channel}/messages/{message}/reactions/{emoji}/@me"
	ShapeRouteRemoveReaction     ShapeRoute = "DELETE /channels/{channel}/messages/{message}/reactions/{emoji}/{user}"
	ShapeRouteGetReactions       ShapeRoute = "GET /channels/{channel}/messages/{message}/reactions/{emoji}"
	ShapeRouteListCommands       ShapeRoute = "GET /applications/{app}/commands"
	ShapeRouteCreateCommand      ShapeRoute = "POST /applications/{app}/commands"
	ShapeRouteSetCommands        ShapeRoute = "PUT /applications/{app}/commands"
	ShapeRouteDeleteCommand      ShapeRoute = "DELETE /applications/{app}/commands/{command}"
	ShapeRouteListGuildCommands  ShapeRoute = "GET /applications/{app}/guilds/{guild}/commands"
	ShapeRouteCreateGuildCommand ShapeRoute = "POST /applications/{app}/guilds/{guild}/commands"
	ShapeRouteSetGuildCommands   ShapeRoute = "PUT /applications/{app}/guilds/{guild}/commands"
	ShapeRouteDeleteGuildCommand ShapeRoute = "DELETE /applications/{app}/guilds/{guild}/commands/{command}"
	ShapeRouteRespond            ShapeRoute = "POST /interactions/{interaction}/{token}/callback"
	ShapeRouteFollowup           ShapeRoute = "POST /webhooks/{app}/{token}"
	ShapeRouteGetResponse        ShapeRoute = "GET /webhooks/{app}/{token}/messages/{message}"
	ShapeRouteEditResponse       ShapeRoute = "PATCH /webhooks/{app}/{token}/messages/{message}"
	ShapeRouteStreamPreview      ShapeRoute = "POST /streams/{key}/preview"
	ShapeRouteDeleteResponse     ShapeRoute = "DELETE /webhooks/{app}/{token}/messages/{message}"
)

// RESTCall is one request while it is answered. The lock is held by the handler.
type RESTCall struct {
	*http.Request
	Route ShapeRoute
	Bot   *Account // nil when nobody signed in
	Body  []byte   // the JSON, also when it came as payload_json
	Files []UploadedFile
}

// Open says which routes need no signed-in bot: they carry their own token.
func (r ShapeRoute) Open() bool {
	return r == ShapeRouteGateway || strings.Contains(string(r), "{token}")
}

// ShapeRequestHold is a request that the server has received and does not answer yet.
type ShapeRequestHold struct {
	arrived, released chan struct{}
}

// NewRequestHold makes a hold that nothing has met.
func NewRequestHold() *ShapeRequestHold {
	return &ShapeRequestHold{arrived: make(chan struct{}), released: make(chan struct{})}
}

// Arrived is closed when the request is there. Nothing has been done with it.
func (h *ShapeRequestHold) Arrived() <-chan struct{} { return h.arrived }

// Release lets the request go on. It is called once.
func (h *ShapeRequestHold) Release() { close(h.released) }

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
