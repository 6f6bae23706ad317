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
func NewCall(tabs *TabRegistry, w http.ResponseWriter, r *http.Request) *Call {
	return &Call{Tabs: tabs, Request: r, Writer: w, Query: QueryFields(r.URL.Query()), Body: requestBody(r)}
}

// Err returns the first thing that was wrong with what was read of the request.
func (c *Call) Err() error { return errors.Join(c.Query.Err(), c.Body.Err()) }

// Profile returns the name of the profile that the request means. The query takes precedence over the body; "" is the
// default profile.
func (c *Call) Profile() string {
	if name := c.Query.String("profile"); name != "" {
		return name
	}
	return c.Body.String("profile")
}

// maxWait is how long a request may ask to wait for something.
const maxWait = 2 * time.Minute

// Timeout returns the body's timeoutMs, held between least and two minutes; without one it is otherwise.
func (c *Call) Timeout(otherwise, least time.Duration) time.Duration {
	ms := c.Body.Clamp("timeoutMs", int(otherwise.Milliseconds()), int(least.Milliseconds()), int(maxWait.Milliseconds()))
	return time.Duration(ms) * time.Millisecond
}

// Browser calls [TabRegistry.Browser] for the profile of the request.
func (c *Call) Browser(ctx context.Context, launch bool) (*profileTabs, *browsermgr.Lease, error) {
	return c.Tabs.Browser(ctx, c.Profile(), launch)
}

// Tab holds the tab with that name, or for "" the one used last, or a new one, and makes it the one used last. It
// starts the browser if need be. A tab in quarantine is an error, as is what was wrong with the request. The caller
// releases it.
func (c *Call) Tab(ctx context.Context, name string) (*heldTab, error) {
	h, err := c.AnyTab(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := h.QuarantineError(); err != nil {
		h.Release()
		return nil, err
	}
	h.MarkUsed()
	return h, nil
}

// AnyTab is like Tab but also returns a tab in quarantine. It does not change which tab was used last.
func (c *Call) AnyTab(ctx context.Context, name string) (*heldTab, error) {
	if err := c.Err(); err != nil {
		return nil, err
	}
	d, use, err := c.Browser(ctx, true)
	if err != nil {
		return nil, err
	}
	h := &heldTab{Profile: d, Lease: use}
	if err := h.find(ctx, name); err != nil {
		use.Release()
		return nil, err
	}
	return h, nil
}

// TargetTab returns the tab that the request's targetId names, as Tab does.
func (c *Call) TargetTab(ctx context.Context) (*heldTab, error) {
	switch c.Request.Method {
	case http.MethodGet, http.MethodHead:
		return c.Tab(ctx, c.Query.String("targetId"))
	}
	return c.Tab(ctx, c.Body.String("targetId"))
}

// PermittedTab returns the tab as TargetTab does, for requests that read the page or act on it: it also checks the
// page's address against the policy.
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

// ExistingTab holds the tab that pick finds in a browser that runs. The caller releases it.
func (c *Call) ExistingTab(ctx context.Context, pick tabPicker) (*heldTab, error) {
	d, use, err := c.waitRunning(ctx)
	if err != nil {
		return nil, err
	}
	h := &heldTab{Profile: d, Lease: use}
	names, err := pick(d)
	if err == nil {
		err = h.setTab(names)
	}
	if err != nil {
		use.Release()
		return nil, err
	}
	return h, nil
}

// reachDelay is how long a request waits for a browser that is just being started by another, or comes back.
const reachDelay = 250 * time.Millisecond

// waitRunning calls Browser for requests that do not start a browser. If none is running, it tries once more after a
// delay.
func (c *Call) waitRunning(ctx context.Context) (*profileTabs, *browsermgr.Lease, error) {
	d, use, err := c.Browser(ctx, false)
	if !errors.Is(err, browsermgr.ErrNotRunning) {
		return d, use, err
	}
	timer := time.NewTimer(reachDelay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
	return c.Browser(ctx, false)
}
