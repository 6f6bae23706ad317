package features

import (
	"context"

	"clank/browsermgr/control/desk"
	"clank/browsermgr/control/reply"
	"clank/browsermgr/control/route"
	"clank/browsermgr/trace"
)

func (f *Features) traceRoutes() []route.Route {
	return []route.Route{
		route.On("POST", "/trace/start", "Begins to write down what happens in the browser.", startTrace).Takes(
			route.May("screenshots", "boolean", "with pictures, which is the default"), route.May("snapshots", "boolean", "with documents, which is the default"),
			route.May("sources", "boolean", "accepted"), route.Tab(),
		),
		route.On("POST", "/trace/stop", "Writes what happened to a file for Playwright's trace viewer.", f.stopTrace).
			Takes(route.May("path", "string", "where, below the folder of traces"), route.Tab()),
	}
}

// tracing holds the tab of a request about traces.
func tracing[R any](ctx context.Context, c *route.Call, work func(*desk.Held, *trace.Tracer) (R, error)) (out R, err error) {
	h, err := c.Guarded(ctx)
	if err != nil {
		return out, err
	}
	defer h.Release()
	tracer, err := desk.Feature[*trace.Tracer](h, "tracing")
	if err != nil {
		return out, err
	}
	return work(h, tracer)
}

func startTrace(ctx context.Context, c *route.Call) (reply.Target, error) {
	opts := trace.Options{
		Screenshots: c.Body.Flag("screenshots", true), Snapshots: c.Body.Flag("snapshots", true), Sources: c.Body.Flag("sources", false),
	}
	return tracing(ctx, c, func(h *desk.Held, t *trace.Tracer) (reply.Target, error) { // a trace outlives the request
		return h.Answer(), t.Start(h.Use.Browser, opts)
	})
}

type traceAnswer struct {
	reply.Target

	Path string `json:"path"`
}

func (f *Features) stopTrace(ctx context.Context, c *route.Call) (traceAnswer, error) {
	path, err := f.output("traces", c.Body.String("path"), "browser-trace-", ".zip")
	if err != nil {
		return traceAnswer{}, err
	}
	return tracing(ctx, c, func(h *desk.Held, t *trace.Tracer) (traceAnswer, error) {
		return traceAnswer{h.Answer(), path}, t.Stop(ctx, path)
	})
}
