package control

import (
	"context"
	"time"

	"clank/browsermgr/har"
	"clank/browsermgr/record"
)

func ringRoutes() []route {
	wipe := may("clear", "boolean", "forget them afterwards")
	return []route{
		on("GET", "/console", "Lists what the page wrote to its console.", console).
			params(targetField, may("level", "string", "the least level: error, warning, info or debug"), wipe),
		on("GET", "/errors", "Lists the errors that the page did not catch.", pageErrors).params(targetField, wipe),
		on("GET", "/requests", "Lists the requests of the page.", requests).
			params(targetField, may("filter", "string", "only addresses that contain this"), wipe),
		on("GET", "/har", "Gives the requests of the page as an HTTP archive.", archive).params(targetField),
		on("POST", "/response/body", "Waits for the next response whose address fits, and returns its body.", responseBody).takes(
			need("url", "string", "the address, a part of it, or a pattern with *"), targetField, timeoutField,
			may("maxChars", "integer", "how long the body may be"),
		),
	}
}

// located is the answer of what was found out about a tab.
type located struct {
	targetAnswer

	URL string `json:"url"`
}

func (h *held) located() located { return located{h.answer(), h.url()} }

// guarded is target for requests that read the page or work in it: the policy is asked about where it is.
func (c *call) guarded(ctx context.Context) (*held, error) {
	h, err := c.target(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.server.permitted(ctx, h); err != nil {
		h.release()
		return nil, err
	}
	return h, nil
}

// recorded reads something of the recorder of a tab.
func recorded[R any](ctx context.Context, c *call, read func(*held, *record.Recorder) (R, error)) (out R, err error) {
	h, err := c.guarded(ctx)
	if err != nil {
		return out, err
	}
	defer h.release()
	recorder, err := feature[*record.Recorder](h, "recording")
	if err != nil {
		return out, err
	}
	return read(h, recorder)
}

type consoleAnswer struct {
	located

	Messages []record.ConsoleEntry `json:"messages"`
}

func console(ctx context.Context, c *call) (consoleAnswer, error) {
	level, wipe := c.query.String("level"), c.query.Flag("clear", false)
	return recorded(ctx, c, func(h *held, r *record.Recorder) (consoleAnswer, error) {
		return consoleAnswer{h.located(), some(r.Console(h.tab, level, wipe))}, nil
	})
}

type errorsAnswer struct {
	located

	Errors []record.PageError `json:"errors"`
}

func pageErrors(ctx context.Context, c *call) (errorsAnswer, error) {
	wipe := c.query.Flag("clear", false)
	return recorded(ctx, c, func(h *held, r *record.Recorder) (errorsAnswer, error) {
		return errorsAnswer{h.located(), some(r.Errors(h.tab, wipe))}, nil
	})
}

type requestsAnswer struct {
	located

	Requests []record.Request `json:"requests"`
}

func requests(ctx context.Context, c *call) (requestsAnswer, error) {
	filter, wipe := c.query.String("filter"), c.query.Flag("clear", false)
	return recorded(ctx, c, func(h *held, r *record.Recorder) (requestsAnswer, error) {
		return requestsAnswer{h.located(), some(r.Requests(h.tab, filter, wipe))}, nil
	})
}

type archiveAnswer struct {
	located

	HAR har.Archive `json:"har"`
}

func archive(ctx context.Context, c *call) (archiveAnswer, error) {
	return recorded(ctx, c, func(h *held, r *record.Recorder) (archiveAnswer, error) {
		return archiveAnswer{h.located(), r.HAR(h.tab)}, nil
	})
}

type bodyAnswer struct {
	located

	Response record.Response `json:"response"`
}

func responseBody(ctx context.Context, c *call) (bodyAnswer, error) {
	pattern := c.body.Required("url")
	limit := c.timeout(record.DefaultBodyTimeout, record.MinBodyTimeout)
	chars := c.body.Clamp("maxChars", record.DefaultBodyChars, record.MinBodyChars, record.MaxBodyChars)
	return recorded(ctx, c, func(h *held, r *record.Recorder) (bodyAnswer, error) {
		res, err := r.ResponseBody(ctx, h.tab, pattern, limit, chars)
		return bodyAnswer{h.located(), res}, err
	})
}

// longest is how long a request may ask to wait for something.
const longest = 2 * time.Minute

// timeout is the body's timeoutMs, held between what is sensible and longest.
func (c *call) timeout(otherwise, least time.Duration) time.Duration {
	ms := c.body.Clamp("timeoutMs", int(otherwise.Milliseconds()), int(least.Milliseconds()), int(longest.Milliseconds()))
	return time.Duration(ms) * time.Millisecond
}

// some is the list, which is written as one also when there is nothing in it.
func some[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
