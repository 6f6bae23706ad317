package browsertool

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
)

// ErrorAdapter is a [APIClient] whose own errors for missing answers are made known to
// the tool, so that it can advise the model. Their texts stay.
type ErrorAdapter struct {
	API         ControlAPI
	Unreachable []error // mean what [ErrUnreachable] means
	TimedOut    []error // likewise [ErrTimedOut]
}

// Call implements [APIClient].
func (a ErrorAdapter) Call(ctx context.Context, method, path string, query url.Values, body any) (int, json.RawMessage, error) {
	status, answer, err := a.API.Call(ctx, method, path, query, body)
	return status, answer, a.translate(err)
}

func (a ErrorAdapter) translate(err error) error {
	for _, kind := range a.Unreachable {
		if errors.Is(err, kind) {
			return knownError{err, ErrUnreachable}
		}
	}
	for _, kind := range a.TimedOut {
		if errors.Is(err, kind) {
			return knownError{err, ErrTimedOut}
		}
	}
	return err
}

// knownError is an error that also is one of ours.
type knownError struct{ err, is error }

func (k knownError) Error() string   { return k.err.Error() }
func (k knownError) Unwrap() []error { return []error{k.err, k.is} }
