package control

import (
	"context"

	"clank/browsermgr/record"
)

func (f *Features) traceRoutes() []Route {
	return []Route{
		NewRoute("POST", "/trace/start", "Begins to write down what happens in the browser.", startTrace).WithBody(
			OptionalParam("screenshots", "boolean", "with pictures, which is the default"), OptionalParam("snapshots", "boolean", "with documents, which is the default"),
			OptionalParam("sources", "boolean", "accepted"), tabParam(),
		),
		NewRoute("POST", "/trace/stop", "Writes what happened to a file for Playwright's trace viewer.", f.stopTrace).
			WithBody(OptionalParam("path", "string", "where, below the folder of traces"), tabParam()),
	}
}

func withTracer[R any](ctx context.Context, c *Call, work func(*heldTab, *record.Tracer) (R, error)) (R, error) {
	return withObserver(ctx, c, true, "tracing", work)
}

func startTrace(ctx context.Context, c *Call) (TargetAnswer, error) {
	opts := record.TraceOptions{
		Screenshots: c.Body.Flag("screenshots", true), Snapshots: c.Body.Flag("snapshots", true), Sources: c.Body.Flag("sources", false),
	}
	return withTracer(ctx, c, func(h *heldTab, t *record.Tracer) (TargetAnswer, error) { // a trace outlives the request
		return h.TargetAnswer(), t.Start(h.Lease.Browser, opts)
	})
}

type traceAnswer struct {
	TargetAnswer

	Path string `json:"path"`
}

func (f *Features) stopTrace(ctx context.Context, c *Call) (traceAnswer, error) {
	path, err := f.outputPath("traces", c.Body.String("path"), "browser-trace-", ".zip")
	if err != nil {
		return traceAnswer{}, err
	}
	return withTracer(ctx, c, func(h *heldTab, t *record.Tracer) (traceAnswer, error) {
		return traceAnswer{h.TargetAnswer(), path}, t.Stop(ctx, path)
	})
}
