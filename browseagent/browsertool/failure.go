package browsertool

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"clank/internal/untrusted"
)

const (
	doNotRetry = "Do not call the browser tool again now: it will fail the same way. Go on without it, or tell the " +
		"person that the browser service (clank) must be started or looked at."
	doNotRepeat = "Do not repeat this call: it may still be running, and would wait as long again. Go on without it, or " +
		"tell the person."
	doNotEvade  = "A person or a setting decided so. Do not try it in another way; tell the person if they need to know."
	rateLimited = "the browser service is limiting how often it may be used (429). Do not retry now: wait, use what is " +
		"known so far, or tell the person."
)

// consentRefused is the control API's reason code for a refused approval.
const consentRefused = "consent_refused"

// callError is an error in the call itself: nothing was sent.
type callError struct{ text string }

func (m callError) Error() string { return m.text }

func newCallError(text string) error { return callError{text} }

// serviceError is an error returned by the control API, with the service's text.
type serviceError struct {
	status       int
	text         string
	own          bool // the text is certainly the service's own and does not quote a page
	code, reason string
	details      any
}

func (a *serviceError) Error() string { return a.text }

// pagelessRoutes are the routes whose answers never quote a page.
var pagelessRoutes = []string{"/", "/doctor", "/profiles", "/start", "/stop"}

// readServiceError parses an error answer. It drops the text of a rate limit, which often comes from a third party
// and contains keys and addresses.
func readServiceError(status int, answer map[string]any) *serviceError {
	in := callInput(answer)
	a := &serviceError{
		status: status, text: in.str("error"), code: in.str("code"), reason: in.str("reason"),
		details: answer["details"],
	}
	if status == http.StatusTooManyRequests {
		return &serviceError{status: status, text: rateLimited, own: true, code: a.code}
	}
	if a.text == "" {
		a.own = true
		a.text = fmt.Sprintf("the browser service answered %d %s and did not say why", status, http.StatusText(status))
	}
	a.text = untrusted.Shorten(a.text, maxServiceError)
	return a
}

// noAnswerError is a connection error with advice for the model.
type noAnswerError struct {
	err  error
	hint string
}

func (l noAnswerError) Error() string { return l.err.Error() + ". " + l.hint }
func (l noAnswerError) Unwrap() error { return l.err }

// explainNoAnswer says why there was no answer, and what that means for the model.
func explainNoAnswer(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, ErrAPIUnreachable):
		return noAnswerError{err, doNotRetry}
	case errors.Is(err, ErrAPITimedOut), errors.Is(err, context.DeadlineExceeded),
		errors.Is(ctx.Err(), context.DeadlineExceeded):
		return noAnswerError{err, doNotRepeat}
	}
	return err
}

// failedResult returns the result of a failed call.
//
// Errors of the control API may quote a page, so they stand between markers, unless they are certainly its own words.
// Errors of this package have no markers.
func failedResult(err error) Result {
	r := Result{IsError: true, Details: map[string]any{}}
	a, ok := errors.AsType[*serviceError](err)
	if !ok || a.own {
		r.Text = untrusted.Truncate(untrusted.Clean(err.Error()), maxServiceError)
	} else {
		r.Text = fmt.Sprintf("It failed (%d). The browser service says, and may quote the page:\n%s", a.status,
			untrusted.Wrap(err.Error()))
		markExternal("error", r.Details)
	}
	if ok && a.reason == consentRefused {
		r.Text += "\n" + doNotEvade
	}
	if !ok {
		return r
	}
	r.Details["status"] = a.status
	for key, v := range map[string]string{"code": a.code, "reason": a.reason} {
		if v != "" {
			r.Details[key] = v
		}
	}
	if a.details != nil {
		r.Details["details"] = a.details
	}
	return r
}
