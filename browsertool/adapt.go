package browsertool

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
)

// Adapted is a [Caller] whose own errors for missing answers are made known to
// the tool, so that it can advise the model. Their texts stay.
type Adapted struct {
	Caller      Caller
	Unreachable []error // mean what [ErrUnreachable] means
	TimedOut    []error // likewise [ErrTimedOut]
}

// Call implements [Caller].
func (a Adapted) Call(ctx context.Context, method, path string, query url.Values, body any) (int, json.RawMessage, error) {
	status, answer, err := a.Caller.Call(ctx, method, path, query, body)
	return status, answer, a.translate(err)
}

func (a Adapted) translate(err error) error {
	for _, kind := range a.Unreachable {
		if errors.Is(err, kind) {
			return known{err, ErrUnreachable}
		}
	}
	for _, kind := range a.TimedOut {
		if errors.Is(err, kind) {
			return known{err, ErrTimedOut}
		}
	}
	return err
}

// known is an error that also is one of ours.
type known struct{ err, is error }

func (k known) Error() string   { return k.err.Error() }
func (k known) Unwrap() []error { return []error{k.err, k.is} }
