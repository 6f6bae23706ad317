package control_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
)

// leave sends a request, waits until it acts in the tab, and goes away.
func (c *client) leave(p *fakePolicy, target string, body map[string]any) {
	c.tb.Helper()
	body["targetId"] = target
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	gone := make(chan error, 1)
	go func() {
		res, err := http.DefaultClient.Do(c.request(ctx, "POST", "/act", body))
		if err == nil {
			err = errors.Join(errors.New("it was answered"), res.Body.Close())
		}
		gone <- err
	}()
	eventually(c.tb, "the request acts", func() bool { return p.acting(target) })
	if sign, ok := body["sign"].(string); ok {
		eventually(c.tb, "the script runs", func() bool {
			for _, tab := range c.listed() {
				if tab["targetId"] == target && strings.HasSuffix(tab["url"].(string), sign) {
					return true
				}
			}
			return false
		})
	}
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		c.tb.Fatalf("got %v, want that it was canceled", err)
	}
}

func TestWhatAClientLeavesBehindIsEnded(t *testing.T) {
	p := &fakePolicy{}
	c := guarded(t, p)
	target := c.open("/loop")
	spin := c.ref(target, "Spin")
	for name, body := range map[string]map[string]any{
		"an endless script":       {"kind": "evaluate", "fn": "location.hash = 'spins'; for (;;);", "sign": "#spins"},
		"a promise kept open":     {"kind": "evaluate", "fn": "new Promise(() => {})", "timeoutMs": 120000},
		"a click on endless work": {"kind": "click", "ref": spin, "timeoutMs": 60000, "sign": "#spins"},
		"a wait":                  {"kind": "wait", "text": "never", "timeoutMs": 120000},
		"a batch":                 {"kind": "batch", "actions": []any{map[string]any{"kind": "wait", "text": "never", "timeoutMs": 120000}}},
	} {
		c.leave(p, target, body)
		began := time.Now()
		a := c.do("POST", "/act", map[string]any{"kind": "evaluate", "fn": "1 + 1", "targetId": target})
		if a.status != http.StatusOK || a.body["result"] != 2.0 {
			t.Errorf("after %s the tab answers %d %s", name, a.status, a.text)
		}
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("after %s the tab took %s to answer", name, took)
		}
		c.ok("POST", "/act", map[string]any{"kind": "evaluate", "fn": "void (location.hash = '')"})
	}
}

func TestAHungTabHoldsUpNobodyElse(t *testing.T) {
	p := &fakePolicy{}
	c := guarded(t, p)
	hung := c.open("/loop")
	spin := c.ref(hung, "Spin")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		res, err := http.DefaultClient.Do(c.request(ctx, "POST", "/act", map[string]any{"kind": "click", "ref": spin, "targetId": hung, "timeoutMs": 60000}))
		if err == nil {
			_ = res.Body.Close()
		}
	}()
	eventually(t, "the tab hangs", func() bool { return p.acting(hung) })
	other := c.open("/two")
	if got := len(c.listed()); got != 2 {
		t.Errorf("%d tabs are listed, want 2", got)
	}
	if got := c.ok("GET", "/text?targetId="+other, nil).str("text"); !strings.Contains(got, "Second page") {
		t.Errorf("text: %q", got)
	}
	if got := c.ok("GET", "/tabs?profile=elsewhere", nil); got.body["running"] != false {
		t.Errorf("another profile: %s", got.text)
	}
	// One that waits for the hung tab and gives up leaves it to the one that is at work.
	waiting, giveUp := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer giveUp()
	res, err := http.DefaultClient.Do(c.request(waiting, "POST", "/act", map[string]any{"kind": "press", "key": "a", "targetId": hung}))
	if err == nil {
		_ = res.Body.Close()
		t.Error("an action in the hung tab was answered")
	}
	if !p.acting(hung) {
		t.Error("the first action has been ended")
	}
	if a := c.ok("DELETE", "/tabs/"+hung, nil); a.str("targetId") != hung {
		t.Errorf("close: %s", a.text)
	}
}
