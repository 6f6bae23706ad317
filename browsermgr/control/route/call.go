package route

import (
	"context"
	"errors"
	"net/http"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/control/ask"
	"clank/browsermgr/control/body"
	"clank/browsermgr/control/desk"
)

// Call is one request to a route. It is for one goroutine.
type Call struct {
	// Desks have the tabs of all profiles.
	Desks *desk.Desks
	// Asker asks people about what the request sets off; nil, which asks nobody, for a person's own.
	Asker *ask.Asker
	// Request is the request, whose body has been read.
	Request *http.Request
	// Writer is for handlers that answer themselves.
	Writer http.ResponseWriter
	// Query reads the parameters of the address.
	Query *body.Fields
	// Body reads the JSON object; it has no fields for methods that carry none.
	Body *body.Fields
}

// NewCall makes a handler's view of a request that came through [ReadBody].
func NewCall(desks *desk.Desks, w http.ResponseWriter, r *http.Request) *Call {
	return &Call{Desks: desks, Request: r, Writer: w, Query: body.Query(r.URL.Query()), Body: bodyOf(r)}
}

// Err is the first thing that was wrong with what was read of the request.
func (c *Call) Err() error { return errors.Join(c.Query.Err(), c.Body.Err()) }

// Profile is whose browser is meant: the query's word counts before the body's; "" is the default one.
func (c *Call) Profile() string {
	if name := c.Query.String("profile"); name != "" {
		return name
	}
	return c.Body.String("profile")
}

// longest is how long a request may ask to wait for something.
const longest = 2 * time.Minute

// Timeout is the body's timeoutMs, held between least and two minutes; without one it is otherwise.
func (c *Call) Timeout(otherwise, least time.Duration) time.Duration {
	ms := c.Body.Clamp("timeoutMs", int(otherwise.Milliseconds()), int(least.Milliseconds()), int(longest.Milliseconds()))
	return time.Duration(ms) * time.Millisecond
}

// Browser is [desk.Desks.Browser] for the profile of the request.
func (c *Call) Browser(ctx context.Context, launch bool) (*desk.Desk, *browsermgr.Use, error) {
	return c.Desks.Browser(ctx, c.Profile(), launch)
}

// Tab is [desk.Desks.Tab] for the profile of the request, if nothing was wrong with what was read of that.
func (c *Call) Tab(ctx context.Context, name string) (*desk.Held, error) {
	if err := c.Err(); err != nil {
		return nil, err
	}
	return c.Desks.Tab(ctx, c.Profile(), name)
}

// AnyTab is [desk.Desks.AnyTab], likewise.
func (c *Call) AnyTab(ctx context.Context, name string) (*desk.Held, error) {
	if err := c.Err(); err != nil {
		return nil, err
	}
	return c.Desks.AnyTab(ctx, c.Profile(), name)
}

// Target is Tab for the one that the request's targetId names.
func (c *Call) Target(ctx context.Context) (*desk.Held, error) {
	switch c.Request.Method {
	case http.MethodGet, http.MethodHead:
		return c.Tab(ctx, c.Query.String("targetId"))
	}
	return c.Tab(ctx, c.Body.String("targetId"))
}

// Guarded is Target for requests that read the page or work in it: the policy is asked about where it is.
func (c *Call) Guarded(ctx context.Context) (*desk.Held, error) {
	h, err := c.Target(ctx)
	if err != nil {
		return nil, err
	}
	if err := h.Permitted(ctx); err != nil {
		h.Release()
		return nil, err
	}
	return h, nil
}

// Existing is [desk.Desks.Existing] for the profile of the request.
func (c *Call) Existing(ctx context.Context, pick desk.Pick) (*desk.Held, error) {
	return c.Desks.Existing(ctx, c.Profile(), pick)
}
