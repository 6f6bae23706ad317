package features

import (
	"context"

	"clank/browsermgr/control/desk"
	"clank/browsermgr/control/reply"
	"clank/browsermgr/control/route"
	"clank/browsermgr/har"
	"clank/browsermgr/record"
)

func ringRoutes() []route.Route {
	wipe := route.May("clear", "boolean", "forget them afterwards")
	return []route.Route{
		route.On("GET", "/console", "Lists what the page wrote to its console.", console).
			Params(route.Tab(), route.May("level", "string", "the least level: error, warning, info or debug"), wipe),
		route.On("GET", "/errors", "Lists the errors that the page did not catch.", pageErrors).Params(route.Tab(), wipe),
		route.On("GET", "/requests", "Lists the requests of the page.", requests).
			Params(route.Tab(), route.May("filter", "string", "only addresses that contain this"), wipe),
		route.On("GET", "/har", "Gives the requests of the page as an HTTP archive.", archive).Params(route.Tab()),
		route.On("POST", "/response/body", "Waits for the next response whose address fits, and returns its body.", responseBody).Takes(
			route.Need("url", "string", "the address, a part of it, or a pattern with *"), route.Tab(), route.Limit(),
			route.May("maxChars", "integer", "how long the body may be"),
		),
	}
}

// recorded reads something of the recorder of a tab.
func recorded[R any](ctx context.Context, c *route.Call, read func(*desk.Held, *record.Recorder) (R, error)) (out R, err error) {
	h, err := c.Guarded(ctx)
	if err != nil {
		return out, err
	}
	defer h.Release()
	recorder, err := desk.Feature[*record.Recorder](h, "recording")
	if err != nil {
		return out, err
	}
	return read(h, recorder)
}

type consoleAnswer struct {
	reply.Located

	Messages []record.ConsoleEntry `json:"messages"`
}

func console(ctx context.Context, c *route.Call) (consoleAnswer, error) {
	level, wipe := c.Query.String("level"), c.Query.Flag("clear", false)
	return recorded(ctx, c, func(h *desk.Held, r *record.Recorder) (consoleAnswer, error) {
		return consoleAnswer{h.Located(), reply.List(r.Console(h.Tab, level, wipe))}, nil
	})
}

type errorsAnswer struct {
	reply.Located

	Errors []record.PageError `json:"errors"`
}

func pageErrors(ctx context.Context, c *route.Call) (errorsAnswer, error) {
	wipe := c.Query.Flag("clear", false)
	return recorded(ctx, c, func(h *desk.Held, r *record.Recorder) (errorsAnswer, error) {
		return errorsAnswer{h.Located(), reply.List(r.Errors(h.Tab, wipe))}, nil
	})
}

type requestsAnswer struct {
	reply.Located

	Requests []record.Request `json:"requests"`
}

func requests(ctx context.Context, c *route.Call) (requestsAnswer, error) {
	filter, wipe := c.Query.String("filter"), c.Query.Flag("clear", false)
	return recorded(ctx, c, func(h *desk.Held, r *record.Recorder) (requestsAnswer, error) {
		return requestsAnswer{h.Located(), reply.List(r.Requests(h.Tab, filter, wipe))}, nil
	})
}

type archiveAnswer struct {
	reply.Located

	HAR har.Archive `json:"har"`
}

func archive(ctx context.Context, c *route.Call) (archiveAnswer, error) {
	return recorded(ctx, c, func(h *desk.Held, r *record.Recorder) (archiveAnswer, error) {
		return archiveAnswer{h.Located(), r.HAR(h.Tab)}, nil
	})
}

type bodyAnswer struct {
	reply.Located

	Response record.Response `json:"response"`
}

func responseBody(ctx context.Context, c *route.Call) (bodyAnswer, error) {
	pattern := c.Body.Required("url")
	limit := c.Timeout(record.DefaultBodyTimeout, record.MinBodyTimeout)
	chars := c.Body.Clamp("maxChars", record.DefaultBodyChars, record.MinBodyChars, record.MaxBodyChars)
	return recorded(ctx, c, func(h *desk.Held, r *record.Recorder) (bodyAnswer, error) {
		res, err := r.ResponseBody(ctx, h.Tab, pattern, limit, chars)
		return bodyAnswer{h.Located(), res}, err
	})
}
