package control_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/chrome"
	"clank/browsermgr/control"
	"clank/browsermgr/fault"
	"clank/browsermgr/page"
	"clank/browsermgr/profile"
)

func TestErrorsAreToldByWhatTheyWrap(t *testing.T) {
	own := &control.StatusError{Status: http.StatusTeapot, Code: "ACT_X", Reason: "own", Err: profile.ErrTabNotFound}
	for name, c := range map[string]struct {
		err          error
		status       int
		code, reason string
		says         string
	}{
		"nothing known":           {errors.New("oh"), 500, "", "", "oh"},
		"a request that is wrong": {fault.Invalidf("x is required"), 400, "", "", "x is required"},
		"a tab that is not there": {profile.ErrTabNotFound, 404, "", "", "tab not found"},
		"a tab that has gone":     {page.ErrTabGone, 404, "", "", "tab not found"},
		"a name of several":       {profile.ErrAmbiguousTab, 409, "", "", ""},
		"an unknown ref":          {page.ErrUnknownRef, 500, "", "unknown_ref", ""},
		"a limit":                 {&fault.TimeLimitError{Limit: time.Second}, 500, "", "timeout", ""},
		"a deadline":              {context.DeadlineExceeded, 500, "", "timeout", ""},
		"a policy of the browser": {chrome.ErrForbiddenByAdmin, 403, "", "native_policy_blocked", ""},
		"a forbidden endpoint":    {profile.ErrEndpointBlocked, 400, "", "", "browser endpoint blocked by policy"},
		"no display":              {&browsermgr.NoDisplayError{Profile: "p"}, 409, "", "no_display_for_headed_profile", ""},
		"a server that closes":    {control.ErrServerClosing, 503, "", "", "closing"},
		"what knows it itself":    {own, http.StatusTeapot, "ACT_X", "own", ""},
	} {
		f := control.ClassifyError(fmt.Errorf("outside: %w", c.err))
		if f.Status != c.status || f.Code != c.code || f.Reason != c.reason || !strings.Contains(f.Err.Error(), c.says) {
			t.Errorf("%s: got %d %q %q %v, want %d %q %q %q", name, f.Status, f.Code, f.Reason, f.Err, c.status, c.code, c.reason, c.says)
		}
		if !strings.Contains(f.Err.Error(), "outside") {
			t.Errorf("%s: what stands around the error is lost: %v", name, f.Err)
		}
	}
}

func TestAPausedLaunchSaysWhenToAskAgain(t *testing.T) {
	w := httptest.NewRecorder()
	control.WriteError(w, &browsermgr.BreakerError{Until: time.Now().Add(30 * time.Second)})
	if got := w.Header().Get("Retry-After"); w.Code != http.StatusConflict || got != "30" && got != "31" {
		t.Errorf("got %d, Retry-After %q", w.Code, got)
	}
	if got := w.Body.String(); !strings.Contains(got, `"reason":"launch_paused"`) {
		t.Errorf("got %s", got)
	}
}

func TestAnswersAreJSON(t *testing.T) {
	for want, value := range map[string]any{
		`{"ok":true,"targetId":"T"}`: control.TargetAnswer{OKAnswer: control.OKAnswer{OK: true}, TargetID: "T"},
		`[]`:                         control.NonNilList([]string(nil)),
		`{"error":"the answer cannot be written as JSON"}`: make(chan int),
	} {
		w := httptest.NewRecorder()
		control.WriteJSON(w, http.StatusOK, value)
		if got := strings.TrimSpace(w.Body.String()); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if got := w.Header().Get("Cache-Control"); got != "no-store" {
			t.Errorf("Cache-Control: %q", got)
		}
	}
}

func TestErrorsShowNoCredentials(t *testing.T) {
	for text, want := range map[string]string{
		"dial wss://ada:pw@host/x?apiKey=abc&y=1: refused": "dial wss://[redacted]@host/x?apiKey=[redacted]&y=1: refused",
		"GET http://h/json?token=t&access_token=u":         "GET http://h/json?token=[redacted]&access_token=[redacted]",
		"nothing to hide at https://example.com/a@b?q=1":   "nothing to hide at https://example.com/a@b?q=1",
	} {
		if got := control.RedactCredentials(text); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
