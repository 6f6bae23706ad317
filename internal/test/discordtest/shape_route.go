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
	RouteGateway       Route = "GET /gateway"
	RouteGatewayBot    Route = "GET /gateway/bot"
	RouteCreateDM      Route = "POST /users/@me/channels"
	RouteGetGuild      Route = "GET /guilds/{guild}"
	RouteGetMember     Route = "GET /guilds/{guild}/members/{user}"
	RouteGetChannel    Route = "GET /channels/{channel}"
	RouteTyping        Route = "POST /channels/{channel}/typing"
	RouteListMessages  Route = "GET /channels/{channel}/messages"
	RouteCreateMessage Route = "POST /channels/{channel}/messages"
	RouteEditMessage   Route = "PATCH /channels/{channel}/messages/{message}"
	RouteListCommands  Route = "GET /applications/{app}/commands"
	RouteSetCommands   Route = "PUT /applications/{app}/commands"
	RouteRespond       Route = "POST /interactions/{interaction}/{token}/callback"
	RouteFollowup      Route = "POST /webhooks/{app}/{token}"
	RouteEditResponse  Route = "PATCH /webhooks/{app}/{token}/messages/{message}"
	RouteStreamPreview Route = "POST /streams/{key}/preview"
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

// Arrived returns a channel that is closed when the request is there. Nothing has been done with it then.
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
