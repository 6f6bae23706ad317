package cdp_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/cdp"
	"clank/internal/test/check"

	"github.com/go-rod/rod/lib/proto"
)

// pipes returns our transport to a fake browser, and the browser's ends of the pipes.
func pipes(t *testing.T) (transport *cdp.Pipe, requests, answers *os.File) {
	t.Helper()
	requests, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, answers, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = requests.Close()
		_ = answers.Close()
	})
	return cdp.NewPipe(from, to), requests, answers
}

// opened returns a started connection over a pipe.
func opened(t *testing.T, onEvent func(cdp.Event)) (c *cdp.Conn, requests, answers *os.File) {
	t.Helper()
	transport, requests, answers := pipes(t)
	c = cdp.New(transport, cdp.Options{CallTimeout: time.Minute})
	c.Start(onEvent)
	t.Cleanup(c.Close)
	return c, requests, answers
}

// request is a request as the browser receives it.
type request struct {
	ID        int             `json:"id"`
	SessionID string          `json:"sessionId"`
	Method    string          `json:"method"`
	Params    json.RawMessage `json:"params"`
}

// next reads a request at the browser's end.
func next(t *testing.T, from io.Reader) (r request) {
	t.Helper()
	var text []byte
	for one := []byte{1}; ; {
		check.Must(t, check.Err(io.ReadFull(from, one)))
		if one[0] == 0 {
			break
		}
		text = append(text, one[0])
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return r
}

func say(t *testing.T, to io.Writer, messages ...string) {
	t.Helper()
	for _, m := range messages {
		if _, err := io.WriteString(to, m+"\x00"); err != nil {
			t.Error(err)
		}
	}
}

func TestMessagesOverAPipeAreWholeHoweverTheyArrive(t *testing.T) {
	events := make(chan cdp.Event, 3)
	c, requests, answers := opened(t, func(ev cdp.Event) { events <- ev })
	call := c.Session("", cdp.ErrGone).Begin(proto.BrowserGetVersion{})
	if r := next(t, requests); r.Method != "Browser.getVersion" {
		t.Fatalf("asked %+v", r)
	}
	long := strings.Repeat("x", 3<<20)
	go say(t, answers, `{"method":"a","params":{}}`, `{"method":"b","params":{"text":"`+long+`"}}`,
		`{"id":1,"result":{"product":"`+long+`"}}`)
	var got proto.BrowserGetVersionResult
	if err := call.Wait(t.Context(), &got); err != nil || got.Product != long {
		t.Errorf("answer of %d bytes, %v", len(got.Product), err)
	}
	if a, b := <-events, <-events; a.Method != "a" || b.Method != "b" || len(b.Params) < len(long) {
		t.Errorf("events %s, %s of %d bytes", a.Method, b.Method, len(b.Params))
	}
}

func TestABrowserThatDiesInTheMiddleOfAMessageIsGone(t *testing.T) {
	c, requests, answers := opened(t, quiet)
	call := c.Session("", cdp.ErrGone).Begin(proto.BrowserGetVersion{})
	next(t, requests)
	_, _ = io.WriteString(answers, `{"id":1,"resu`)
	_ = answers.Close()
	check.Fails(t, call.Wait(t.Context(), nil), cdp.ErrGone)
}

func TestCloseEndsAPipeThatNobodyReads(t *testing.T) {
	c, _, _ := opened(t, quiet)
	for range 100 { // more than fits into the pipe
		c.Session("", cdp.ErrGone).Post(proto.RuntimeEvaluate{Expression: strings.Repeat("x", 4<<10)})
	}
	c.Close()
	check.Fails(t, c.Session("", cdp.ErrGone).Do(t.Context(), proto.BrowserGetVersion{}), cdp.ErrGone)
}

// TestABranchHasSessionsOfItsOwn plays the browser for an owner and another client.
func TestABranchHasSessionsOfItsOwn(t *testing.T) {
	owner := make(chan string, 10)
	c, requests, answers := opened(t, func(ev cdp.Event) { owner <- ev.Method })
	client := make(chan []byte, 10)
	branched := make(chan *cdp.Branch, 1)
	go func() {
		b, err := c.Branch(t.Context(), "", func(m []byte) { client <- bytes.Clone(m) })
		if err != nil {
			t.Error(err)
		}
		branched <- b
	}()
	if r := next(t, requests); r.Method != "Target.attachToBrowserTarget" {
		t.Fatalf("asked %+v", r)
	}
	say(t, answers, `{"method":"Target.attachedToTarget","params":{"sessionId":"B","targetInfo":{"type":"browser"}}}`,
		`{"id":1,"result":{"sessionId":"B"}}`)
	b := <-branched
	if b == nil {
		t.FailNow()
	}
	told := func(want string) {
		t.Helper()
		check.Diff(t, "the client reads", string(<-client), want)
	}
	sent := func(message string, want request) {
		t.Helper()
		check.Must(t, b.Send([]byte(message)))
		check.Diff(t, "the browser reads", next(t, requests), want)
	}
	sent(`{"id":1,"method":"Target.attachToTarget","params":{"flatten":true}}`,
		request{2, "B", "Target.attachToTarget", json.RawMessage(`{"flatten":true}`)})
	say(t, answers, `{"method":"Target.attachedToTarget","params":{"sessionId":"P","targetInfo":{"type":"page"}},"sessionId":"B"}`, `{"id":2,"result":{"sessionId":"P"},"sessionId":"B"}`)
	told(`{"method":"Target.attachedToTarget","params":{"sessionId":"P","targetInfo":{"type":"page"}}}`)
	told(`{"id":1,"result":{"sessionId":"P"}}`)
	sent(`{"id":7,"method":"Page.enable","sessionId":"P"}`, request{ID: 3, SessionID: "P", Method: "Page.enable"})
	say(t, answers, `{"id":3,"error":{"code":-1,"message":"no"},"sessionId":"P"}`,
		`{"method":"Page.x","params":{},"sessionId":"P"}`, `{"method":"ours","params":{}}`)
	told(`{"id":7,"error":{"code":-1,"message":"no"},"sessionId":"P"}`)
	told(`{"method":"Page.x","params":{},"sessionId":"P"}`)
	check.Equal(t, "the owner is told", <-owner, "ours")
	check.Must(t, b.Send([]byte(`{"id":8,"method":"Page.enable","sessionId":"OWNERS"}`)))
	told(`{"id":8,"error":{"code":-32001,"message":"Session with given id not found."},"sessionId":"OWNERS"}`)
	b.Close()
	if r := next(t, requests); r.Method != "Target.detachFromTarget" || string(r.Params) != `{"sessionId":"B"}` {
		t.Errorf("at the end %s %s", r.Method, r.Params)
	}
	if len(client)+len(owner) != 0 {
		t.Errorf("%d messages more for the client, %d for the owner", len(client), len(owner))
	}
}
