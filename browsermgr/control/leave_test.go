package control_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/control"
)

// abandon sends a request, goes away when begun says that it is being worked on, and waits until that has ended.
func (c *client) abandon(method, path string, body any, begun func() bool) {
	c.tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	gone := make(chan error, 1)
	go func() {
		res, err := http.DefaultClient.Do(c.request(ctx, method, path, body))
		if err == nil {
			err = errors.Join(errors.New("it was answered: "+res.Status), res.Body.Close())
		}
		gone <- err
	}()
	eventually(c.tb, method+" "+path+" is being worked on", begun)
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		c.tb.Errorf("%s %s: got %v, want that it was canceled", method, path, err)
	}
	ended := make(chan struct{})
	go func() { control.WaitIdle(c.server); close(ended) }()
	select {
	case <-ended:
	case <-time.After(45 * time.Second):
		c.tb.Fatalf("%s %s goes on without its client", method, path)
	}
}

func TestEveryKindOfWorkEndsWithItsClient(t *testing.T) {
	p := &fakePolicy{}
	c := guarded(t, p)
	huge, loop := c.open("/huge"), c.open("/loop")
	spins := func() bool { // its address says that the script of the page runs
		return slices.ContainsFunc(c.listed(), func(tab map[string]any) bool { return strings.HasSuffix(tab["url"].(string), "#spins") })
	}
	never := map[string]any{"kind": "wait", "text": "never", "timeoutMs": 120_000}
	for _, step := range []struct {
		name, target, method, path string
		body                       map[string]any
		begun                      func() bool // nil: the policy is asked
	}{
		{"navigate", huge, "POST", "/navigate", map[string]any{"url": site + "/silent", "timeoutMs": 120_000}, nil},
		{"snapshot", huge, "GET", "/snapshot?maxChars=0&timeoutMs=60000&targetId=" + huge, nil, nil},
		{"tree", huge, "GET", "/snapshot?format=aria&limit=2000&timeoutMs=60000&targetId=" + huge, nil, nil},
		{"screenshot", huge, "POST", "/screenshot", map[string]any{"fullPage": true, "labels": true, "timeoutMs": 60_000}, nil},
		{"wait", huge, "POST", "/act", maps.Clone(never), nil},
		{"batch", huge, "POST", "/act", map[string]any{"kind": "batch", "actions": []any{never}}, nil},
		{"wait for a download", huge, "POST", "/wait/download", map[string]any{"timeoutMs": 120_000}, nil},
		{"body", huge, "POST", "/response/body", map[string]any{"url": "**/never", "timeoutMs": 120_000}, nil},
		{"promise", loop, "POST", "/act", map[string]any{"kind": "evaluate", "fn": "new Promise(() => {})", "timeoutMs": 120_000}, func() bool { return p.acting(loop) }},
		{"click on endless work", loop, "POST", "/act", map[string]any{"kind": "click", "ref": c.ref(loop, "Spin"), "timeoutMs": 60_000}, spins},
		{"endless script", loop, "POST", "/act", map[string]any{"kind": "evaluate", "fn": "location.hash = 'spins'; for (;;);"}, spins},
	} {
		var body any
		if step.body != nil {
			step.body["targetId"], body = step.target, step.body
		}
		if step.begun == nil {
			step.begun = p.next()
		}
		c.abandon(step.method, step.path, body, step.begun)
		eventually(t, "the tab answers after "+step.name, func() bool {
			a := c.do("POST", "/act", map[string]any{"kind": "evaluate", "fn": "(location.hash = '', 1 + 1)", "targetId": step.target})
			return a.status == http.StatusOK && a.body["result"] == 2.0
		})
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
