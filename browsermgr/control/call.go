package control

import (
	"context"
	"errors"
	"net/http"
	"time"

	"clank/browsermgr"
)

// Call is one request to a route. It is for one goroutine.
type Call struct {
	// Tabs have the tabs of all profiles.
	Tabs *TabRegistry
	// Approver asks people about what the request sets off; nil, which asks nobody, for a person's own.
	Approver *requestApprover
	// Request is the request, whose body has been read.
	Request *http.Request
	// Writer is for handlers that answer themselves.
	Writer http.ResponseWriter
	// Query reads the parameters of the address.
	Query *RequestFields
	// Body reads the JSON object; it has no fields for methods that carry none.
	Body *RequestFields
}

// NewCall makes a handler's view of a request that came through [ReadJSONBody].
func NewCall(desks *TabRegistry, w http.ResponseWriter, r *http.Request) *Call {
	return &Call{Tabs: desks, Request: r, Writer: w, Query: QueryFields(r.URL.Query()), Body: requestBody(r)}
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

// maxWait is how long a request may ask to wait for something.
const maxWait = 2 * time.Minute

// Timeout is the body's timeoutMs, held between least and two minutes; without one it is otherwise.
func (c *Call) Timeout(otherwise, least time.Duration) time.Duration {
	ms := c.Body.Clamp("timeoutMs", int(otherwise.Milliseconds()), int(least.Milliseconds()), int(maxWait.Milliseconds()))
	return time.Duration(ms) * time.Millisecond
}

// Browser is [TabRegistry.Browser] for the profile of the request.
func (c *Call) Browser(ctx context.Context, launch bool) (*profileTabs, *browsermgr.Lease, error) {
	return c.Tabs.Browser(ctx, c.Profile(), launch)
}

// Tab is [TabRegistry.Tab] for the profile of the request, if nothing was wrong with what was read of that.
func (c *Call) Tab(ctx context.Context, name string) (*heldTab, error) {
	if err := c.Err(); err != nil {
		return nil, err
	}
	return c.Tabs.Tab(ctx, c.Profile(), name)
}

// AnyTab is [TabRegistry.AnyTab], likewise.
func (c *Call) AnyTab(ctx context.Context, name string) (*heldTab, error) {
	if err := c.Err(); err != nil {
		return nil, err
	}
	return c.Tabs.AnyTab(ctx, c.Profile(), name)
}

// TargetTab is Tab for the one that the request's targetId names.
func (c *Call) TargetTab(ctx context.Context) (*heldTab, error) {
	switch c.Request.Method {
	case http.MethodGet, http.MethodHead:
		return c.Tab(ctx, c.Query.String("targetId"))
	}
	return c.Tab(ctx, c.Body.String("targetId"))
}

// PermittedTab is Target for requests that read the page or work in it: the policy is asked about where it is.
func (c *Call) PermittedTab(ctx context.Context) (*heldTab, error) {
	h, err := c.TargetTab(ctx)
	if err != nil {
		return nil, err
	}
	if err := h.CheckPolicy(ctx); err != nil {
		h.Release()
		return nil, err
	}
	return h, nil
}

// ExistingTab is [TabRegistry.ExistingTab] for the profile of the request.
func (c *Call) ExistingTab(ctx context.Context, pick tabPicker) (*heldTab, error) {
	return c.Tabs.ExistingTab(ctx, c.Profile(), pick)
}
