package control

import (
	"context"

	"clank/browsermgr/record"
)

func recordRoutes() []Route {
	wipe := OptionalParam("clear", "boolean", "forget them afterwards")
	return []Route{
		NewRoute("GET", "/console", "Lists what the page wrote to its console.", readConsole).
			WithQuery(tabParam(), OptionalParam("level", "string", "the least level: error, warning, info or debug"), wipe),
		NewRoute("GET", "/errors", "Lists the errors that the page did not catch.", readPageErrors).WithQuery(tabParam(),
			wipe),
		NewRoute("GET", "/requests", "Lists the requests of the page.", readRequests).
			WithQuery(tabParam(), OptionalParam("filter", "string", "only addresses that contain this"), wipe),
		NewRoute("GET", "/har", "Gives the requests of the page as an HTTP archive.", readHAR).WithQuery(tabParam()),
		NewRoute("POST", "/response/body", "Waits for the next response whose address fits, and returns its body.",
			readResponseBody).WithBody(
			RequiredParam("url", "string", "the address, a part of it, or a pattern with *"), tabParam(), timeoutParam(),
			OptionalParam("maxChars", "integer", "how long the body may be"),
		),
	}
}

func withRecorder[R any](ctx context.Context, c *Call, read func(*heldTab, *record.Recorder) (R, error)) (R, error) {
	return withObserver(ctx, c, true, "recording", read)
}

// droppedCount counts the older entries that are not in an answer.
type droppedCount struct {
	Dropped int `json:"dropped,omitempty"`
}

type consoleAnswer struct {
	LocatedAnswer
	droppedCount

	Messages []record.ConsoleEntry `json:"messages"`
}

func readConsole(ctx context.Context, c *Call) (consoleAnswer, error) {
	level, wipe := c.Query.String("level"), c.Query.Flag("clear", false)
	return withRecorder(ctx, c, func(h *heldTab, r *record.Recorder) (consoleAnswer, error) {
		kept := r.Console(h.Tab, level, wipe)
		return consoleAnswer{h.LocatedAnswer(), droppedCount{kept.Dropped}, kept.Entries}, nil
	})
}

type errorsAnswer struct {
	LocatedAnswer
	droppedCount

	Errors []record.PageError `json:"errors"`
}

func readPageErrors(ctx context.Context, c *Call) (errorsAnswer, error) {
	wipe := c.Query.Flag("clear", false)
	return withRecorder(ctx, c, func(h *heldTab, r *record.Recorder) (errorsAnswer, error) {
		kept := r.Errors(h.Tab, wipe)
		return errorsAnswer{h.LocatedAnswer(), droppedCount{kept.Dropped}, NonNilList(kept.Entries)}, nil
	})
}

type requestsAnswer struct {
	LocatedAnswer
	droppedCount

	Requests []record.Request `json:"requests"`
}

func readRequests(ctx context.Context, c *Call) (requestsAnswer, error) {
	filter, wipe := c.Query.String("filter"), c.Query.Flag("clear", false)
	return withRecorder(ctx, c, func(h *heldTab, r *record.Recorder) (requestsAnswer, error) {
		kept := r.Requests(h.Tab, filter, wipe)
		return requestsAnswer{h.LocatedAnswer(), droppedCount{kept.Dropped}, kept.Entries}, nil
	})
}

type harAnswer struct {
	LocatedAnswer

	HAR record.HARArchive `json:"har"`
}

func readHAR(ctx context.Context, c *Call) (harAnswer, error) {
	return withRecorder(ctx, c, func(h *heldTab, r *record.Recorder) (harAnswer, error) {
		const question = "Show the model what a page sent and got over the network"
		if err := c.Approver.ApproveReading(ctx, h.Profile.Name, classSafety, question); err != nil {
			return harAnswer{}, err
		}
		return harAnswer{h.LocatedAnswer(), r.HAR(h.Tab)}, nil
	})
}

type bodyAnswer struct {
	LocatedAnswer

	Response record.Response `json:"response"`
}

func readResponseBody(ctx context.Context, c *Call) (bodyAnswer, error) {
	pattern := c.Body.Required("url")
	limit := c.Timeout(record.DefaultBodyTimeout, record.MinBodyTimeout)
	chars := c.Body.Clamp("maxChars", record.DefaultBodyChars, record.MinBodyChars, record.MaxBodyChars)
	return withRecorder(ctx, c, func(h *heldTab, r *record.Recorder) (bodyAnswer, error) {
		res, err := r.ResponseBody(ctx, h.Tab, pattern, limit, chars)
		return bodyAnswer{h.LocatedAnswer(), res}, err
	})
}

func (f *Features) traceRoutes() []Route {
	return []Route{
		NewRoute("POST", "/trace/start", "Begins to write down what happens in the browser.", startTrace).WithBody(
			OptionalParam("screenshots", "boolean", "with pictures, which is the default"),
			OptionalParam("snapshots", "boolean", "with documents, which is the default"),
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
		Screenshots: c.Body.Flag("screenshots", true), Snapshots: c.Body.Flag("snapshots", true),
		Sources: c.Body.Flag("sources", false),
	}
	return withTracer(ctx, c, func(h *heldTab, t *record.Tracer) (TargetAnswer, error) { // a trace outlives the request
		const question = "Record for the model all that happens in the browser"
		if err := c.Approver.ApproveReading(ctx, h.Profile.Name, classSafety, question); err != nil {
			return TargetAnswer{}, err
		}
		return h.TargetAnswer(), t.Start(h.Lease.Browser, opts)
	})
}

type traceAnswer struct {
	TargetAnswer

	Path string `json:"path"`
}

func (f *Features) stopTrace(ctx context.Context, c *Call) (traceAnswer, error) {
	given := c.Body.String("path")
	path, err := f.outputPath("traces", given, "browser-trace-", ".zip")
	if err != nil {
		return traceAnswer{}, err
	}
	return withTracer(ctx, c, func(h *heldTab, t *record.Tracer) (traceAnswer, error) {
		if given == "" {
			path, err = f.outputPath(folderOf("traces", h.Profile.Name), "", "browser-trace-", ".zip")
			if err != nil {
				return traceAnswer{}, err
			}
		}
		const question = "Give the model the recording of all that happened in the browser" // perhaps begun by a person
		if err := c.Approver.ApproveReading(ctx, h.Profile.Name, classSafety, question); err != nil {
			return traceAnswer{}, err
		}
		if err := f.checkRoom(0); err != nil {
			return traceAnswer{}, err
		}
		return traceAnswer{h.TargetAnswer(), path}, t.Stop(ctx, path)
	})
}
