package control_test

import (
	"context"
	"errors"
	"net/http"
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
	target := c.open("/huge")
	for _, step := range []struct {
		name, method, path string
		body               map[string]any
	}{
		{"navigate", "POST", "/navigate", map[string]any{"url": site + "/silent", "timeoutMs": 120_000}},
		{"snapshot", "GET", "/snapshot?maxChars=0&timeoutMs=60000&targetId=" + target, nil},
		{"tree", "GET", "/snapshot?format=aria&limit=2000&timeoutMs=60000&targetId=" + target, nil},
		{"screenshot", "POST", "/screenshot", map[string]any{"fullPage": true, "labels": true, "timeoutMs": 60_000}},
		{"wait", "POST", "/act", map[string]any{"kind": "wait", "text": "never", "timeoutMs": 120_000}},
		{"wait for a download", "POST", "/wait/download", map[string]any{"timeoutMs": 120_000}},
		{"body", "POST", "/response/body", map[string]any{"url": "**/never", "timeoutMs": 120_000}},
	} {
		var body any
		if step.body != nil {
			step.body["targetId"], body = target, step.body
		}
		c.abandon(step.method, step.path, body, p.next())
		eventually(t, "the tab answers after "+step.name, func() bool {
			a := c.do("POST", "/act", map[string]any{"kind": "evaluate", "fn": "1 + 1", "targetId": target})
			return a.status == http.StatusOK && a.body["result"] == 2.0
		})
	}
}
