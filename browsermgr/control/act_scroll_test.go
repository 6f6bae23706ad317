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
	"clank/internal/test/check"

	"github.com/google/go-cmp/cmp"
)

// scrollers has a scrolling box, a virtual list, and more content than fits on the page.
const scrollers = `<title>Scrollers</title><style>.box {height:200px; width:300px; overflow:auto}</style>
	<div id=box class=box tabindex=0 aria-label=Box><section aria-label=Content style="height:3000px;width:2000px">x</section></div>
	<div id=list class=box><div id=rows style="height:100000px;position:relative"></div></div>
	<iframe srcdoc="<button>Inside</button><p style='height:3000px'>z" style="height:150px"></iframe>
	<p style="height:5000px">y</p>
	<script>
	const show = () => {
		rows.replaceChildren();
		for (let i = Math.floor(list.scrollTop / 20), n = 0; n < 12; i++, n++) {
			const row = document.createElement('button');
			row.textContent = 'Row ' + i;
			row.style = 'position:absolute;height:20px;top:' + i * 20 + 'px';
			rows.append(row);
		}
	};
	list.onscroll = show;
	show();
	</script>`

func TestScrollMovesTheElementOfItsRef(t *testing.T) {
	c := serve(t, nil)
	target := c.open("/scrollers")
	box, content := c.ref(target, "Box"), c.ref(target, "Content")
	row, inside := c.ref(target, "Row 3"), c.ref(target, "Inside")
	for _, step := range []struct {
		name, action string
		want         []any // the box, down and right; the list; the frame; the page
	}{
		{"an inner scroller", `"ref":"` + box + `","pixels":300`, []any{300.0, 0.0, 0.0, 0.0, 0.0}},
		{"back up", `"ref":"` + box + `","direction":"up","pixels":100`, []any{200.0, 0.0, 0.0, 0.0, 0.0}},
		{"to the right", `"ref":"` + box + `","direction":"right","pixels":50`, []any{200.0, 50.0, 0.0, 0.0, 0.0}},
		{"what is higher than its scroller", `"ref":"` + content + `","pixels":100`, []any{300.0, 50.0, 0.0, 0.0, 0.0}},
		{"a row that goes away", `"ref":"` + row + `","pixels":1000`, []any{300.0, 50.0, 1000.0, 0.0, 0.0}},
		{"a frame", `"ref":"` + inside + `","pixels":70`, []any{300.0, 50.0, 1000.0, 70.0, 0.0}},
		{"without a ref", `"pixels":50,"direction":"down"`, []any{300.0, 50.0, 1000.0, 70.0, 50.0}},
	} {
		c.ok("POST", "/act", `{"kind":"scroll",`+step.action+`}`)
		a := c.ok("POST", "/act",
			`{"kind":"evaluate","fn":"[box.scrollTop, box.scrollLeft, list.scrollTop, frames[0].scrollY, scrollY]"}`)
		if diff := cmp.Diff(step.want, a.body["result"]); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", step.name, diff)
		}
	}
	c.ok("POST", "/act", `{"kind":"batch","actions":[{"kind":"scroll","ref":"`+c.ref(target, "Row 51")+`"}]}`)
	// Most of what can be seen of the list, not of the page.
	a := c.ok("POST", "/act", `{"kind":"evaluate","fn":"list.scrollTop"}`)
	if got := a.body["result"]; got != 1160.0 {
		t.Errorf("by default: got %v, want 1160", got)
	}
	c.ref(target, "Row 58")
}

func TestScrollWithARefThatNamesNothingIsRefused(t *testing.T) {
	c := serve(t, nil)
	c.open("/scrollers")
	for _, step := range []struct {
		action, code string
		status       int
		want         string
	}{
		{`"ref":"e999"`, "ACT_OPERATION_FAILED", 500, "Unknown ref"},
		{`"ref":"everything"`, "ACT_INVALID_REQUEST", 400, "is not a ref"},
		{`"selector":"#box"`, "ACT_SELECTOR_UNSUPPORTED", 400, "'selector' is not supported"},
	} {
		a := c.do("POST", "/act", `{"kind":"scroll",`+step.action+`}`)
		if a.status != step.status || a.str("code") != step.code || !strings.Contains(a.str("error"), step.want) {
			t.Errorf("%s: got %d %s, want %d %s %q", step.action, a.status, a.text, step.status, step.code, step.want)
		}
	}
	a := c.ok("POST", "/act", `{"kind":"evaluate","fn":"[box.scrollTop, list.scrollTop, scrollY]"}`)
	check.Diff(t, "afterwards", a.body["result"], []any{0.0, 0.0, 0.0})
}

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
			t.Errorf("%s: got %d %q %q %v, want %d %q %q %q", name, f.Status, f.Code, f.Reason, f.Err, c.status, c.code,
				c.reason, c.says)
		}
		if !strings.Contains(f.Err.Error(), "outside") {
			t.Errorf("%s: what stands around the error is lost: %v", name, f.Err)
		}
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
		check.Equal(t, "body", strings.TrimSpace(w.Body.String()), want)
		check.Equal(t, "Cache-Control", w.Header().Get("Cache-Control"), "no-store")
	}
}

func TestErrorsShowNoCredentials(t *testing.T) {
	for text, want := range map[string]string{
		"dial wss://ada:pw@host/x?apiKey=abc&y=1: refused": "dial wss://[redacted]@host/x?apiKey=[redacted]&y=1: refused",
		"GET http://h/json?token=t&access_token=u":         "GET http://h/json?token=[redacted]&access_token=[redacted]",
		"nothing to hide at https://example.com/a@b?q=1":   "nothing to hide at https://example.com/a@b?q=1",
	} {
		check.Equal(t, "redact credentials", control.RedactCredentials(text), want)
	}
}
