package page_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"
	"clank/browsermgr/page/frame"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"

	"github.com/coder/websocket"
	"github.com/go-rod/rod/lib/proto"
)

// patience is much longer than anything here takes.
const patience = time.Minute

// peer is a fake browser that knows the frames of processes, whose sessions are named after their roots. Each query for
// a process is a channel that takes the answer: names of frames, with the frames below each in parentheses behind it,
// capital letters for cross-origin ones.
type peer struct{ asked chan chan string }

// connect returns a tree whose browser is the peer, and a frame that may be in it, embedded in the frame c.
func connect(t *testing.T) (tree *page.FrameTree, main, far *frame.Frame, p peer) {
	t.Helper()
	p = peer{asked: make(chan chan string, 100)}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = ws.CloseNow() }()
		p.serve(r.Context(), ws)
	}))
	t.Cleanup(srv.Close)
	c, err := cdp.Dial(t.Context(), "ws"+strings.TrimPrefix(srv.URL, "http"), cdp.Options{CallTimeout: patience})
	check.Must(t, err)
	c.Start(func(cdp.Event) {})
	var wg sync.WaitGroup
	t.Cleanup(func() {
		c.Close()
		wg.Wait()
	})
	main = frame.New(c.Session("main", errors.New("gone")), "main", nil, "")
	far = frame.New(c.Session("far", errors.New("gone")), "far", main, "c")
	return page.NewFrameTree(main, wg.Go), main, far, p
}

func (p peer) serve(ctx context.Context, ws *websocket.Conn) {
	ctx, cancel := context.WithCancel(ctx)
	var answers sync.WaitGroup
	defer answers.Wait()
	defer cancel()
	say := func(id int, session, result string) {
		_ = ws.Write(ctx, websocket.MessageText, fmt.Appendf(nil, `{"id":%d,"sessionId":%q,"result":%s}`, id, session,
			result))
	}
	for {
		_, data, err := ws.Read(ctx)
		if err != nil {
			return
		}
		var req struct {
			ID      int    `json:"id"`
			Session string `json:"sessionId"`
			Method  string `json:"method"`
			Params  struct {
				FrameID string `json:"frameId"`
				Context int    `json:"contextId"`
			} `json:"params"`
		}
		if json.Unmarshal(data, &req) != nil {
			return
		}
		switch req.Method {
		case "Page.getFrameTree":
			answer := make(chan string, 1)
			p.asked <- answer
			answers.Go(func() {
				select {
				case frames := <-answer:
					say(req.ID, req.Session, `{"frameTree":`+described(req.Session, frames)+`}`)
				case <-ctx.Done():
				}
			})
		case "Page.createIsolatedWorld": // the context tells the frame
			say(req.ID, req.Session, fmt.Sprintf(`{"executionContextId":%d}`, req.Params.FrameID[0]))
		case "Runtime.evaluate":
			say(req.ID, req.Session, fmt.Sprintf(`{"result":{"type":"boolean","value":%v}}`, req.Params.Context < 'a'))
		}
	}
}

// described returns the frame tree of a root with frames below it, each of a different origin.
func described(root, frames string) string {
	var children []string
	for i := 0; i < len(frames); i++ {
		name, inner := frames[i:i+1], ""
		if rest, ok := strings.CutPrefix(frames[i+1:], "("); ok {
			end, open := 0, 1
			for ; open > 0; end++ {
				switch rest[end] {
				case '(':
					open++
				case ')':
					open--
				}
			}
			inner = rest[:end-1]
			i += end + 1
		}
		children = append(children, described(name, inner))
	}
	return fmt.Sprintf(`{"frame":{"id":%[1]q,"url":"http://%[1]s/","securityOrigin":"http://%[1]s"},"childFrames":[%[2]s]}`, root, strings.Join(children, ","))
}

// known waits until the frames are known and returns each with its parent.
func known(t *testing.T, tree *page.FrameTree) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	check.Must(t, tree.AwaitDiscovery(ctx))
	var list []string
	for _, f := range tree.Frames() {
		around := ""
		if f.Parent() != nil {
			around = string(f.Parent().ID()) + ">"
		}
		list = append(list, around+string(f.ID()))
	}
	return list
}

func want(t *testing.T, tree *page.FrameTree, frames ...string) {
	t.Helper()
	browsertest.WantEqual(t, known(t, tree), frames)
}

func TestInProcessCrossOriginFramesAreFound(t *testing.T) {
	tree, main, _, p := connect(t)
	tree.DiscoverCrossOrigin(main)
	<-p.asked <- "aB(cD(e))F"
	want(t, tree, "main", "main>B", "main>F", "B>D")
	for id, around := range map[string]string{
		"a": "main", "B": "B", "c": "B", "D": "D", "e": "D", "F": "F",
		"unknown": "main",
	} {
		if got := tree.FrameOf(main, proto.PageFrameID(id)).ID(); string(got) != around {
			t.Errorf("the document of %s belongs to %s, want %s", id, got, around)
		}
	}
	browsertest.WantEqual(t, len(tree.ProcessRoots()), 1)
}

func TestAnOutOfProcessFrameMovesToTheCrossOriginFrameAroundIt(t *testing.T) {
	tree, main, far, p := connect(t)
	tree.Add(far)
	tree.DiscoverCrossOrigin(main)
	<-p.asked <- "B(c)"
	want(t, tree, "main", "main>B", "B>far")
	tree.Remove(far)
	want(t, tree, "main", "main>B")
}

func TestOnlyPossibleCrossOriginFramesAreQueried(t *testing.T) {
	tree, main, _, p := connect(t)
	tree.Navigated(main, page.FrameDocument{Frame: "main", URL: "http://main/", Origin: "http://main"})
	tree.Navigated(main, page.FrameDocument{Frame: "a", URL: "http://main/a", Origin: "http://main"})
	tree.Navigated(main, page.FrameDocument{Frame: "b", URL: "about:srcdoc", Origin: "://"})
	tree.Detached(main, "a")
	if want(t, tree, "main"); len(p.asked) != 0 {
		t.Errorf("asked %d times", len(p.asked))
	}
	tree.Navigated(main, page.FrameDocument{Frame: "C", URL: "http://C/", Origin: "http://C"})
	<-p.asked <- "abC"
	want(t, tree, "main", "main>C")
}

func TestACrossOriginFrameStaysTheSameUntilItIsGone(t *testing.T) {
	tree, main, _, p := connect(t)
	tree.DiscoverCrossOrigin(main)
	<-p.asked <- "BC"
	want(t, tree, "main", "main>B", "main>C")
	before := tree.Frames()[1]
	tree.Navigated(main, page.FrameDocument{Frame: "C", URL: "http://other/", Origin: "http://other"})
	<-p.asked <- "BC"
	if want(t, tree, "main", "main>B", "main>C"); tree.Frames()[1] != before {
		t.Error("the frame beside it is another one")
	}
	tree.Detached(main, "B")
	<-p.asked <- "C"
	want(t, tree, "main", "main>C")
	tree.Navigated(main, page.FrameDocument{Frame: "main", URL: "http://main/", Origin: "http://main"})
	want(t, tree, "main")
	tree.Navigated(main, page.FrameDocument{Frame: "main", URL: "http://main/", Origin: "http://main", Restored: true})
	<-p.asked <- "BC"
	want(t, tree, "main", "main>B", "main>C")
}

func TestALateAnswerIsIgnored(t *testing.T) {
	tree, main, _, p := connect(t)
	tree.DiscoverCrossOrigin(main)
	first := <-p.asked
	tree.DiscoverCrossOrigin(main)
	<-p.asked <- "BC"
	want(t, tree, "main", "main>B", "main>C")
	first <- "B"

	tree.DiscoverCrossOrigin(main)
	third := <-p.asked
	tree.Navigated(main, page.FrameDocument{Frame: "main", URL: "http://main/", Origin: "http://main"})
	want(t, tree, "main")
	third <- "BC"
	tree.DiscoverCrossOrigin(main) // its answer comes after the others
	<-p.asked <- "D"
	want(t, tree, "main", "main>D")
}

func TestWaitingForFramesEndsInTimeAndWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		main := frame.New(nil, "main", nil, "")
		tree := page.NewFrameTree(main, func(func()) {})
		tree.AddOpenRequest(main)
		stop := errors.New("nobody waits")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(stop)
		check.Fails(t, tree.AwaitDiscovery(ctx), stop)
		start := time.Now()
		if want(t, tree, "main"); time.Since(start) != 3*time.Second {
			t.Errorf("waited %s for a process that does not answer", time.Since(start))
		}
	})
}

func TestFramesThatKeepChangingAreNotWaitedFor(t *testing.T) {
	tree, main, _, p := connect(t)
	tree.DiscoverCrossOrigin(main)
	last, done := <-p.asked, make(chan []string)
	go func() { done <- known(t, tree) }()
	for {
		tree.DiscoverCrossOrigin(main) // so that there is always a question
		next := <-p.asked
		last <- "B"
		last = next
		select {
		case got := <-done:
			browsertest.WantEqual(t, got, []string{"main", "main>B"})
			return
		case <-time.After(time.Millisecond):
		}
	}
}

func TestTheFramesOfAProcessGoWithIt(t *testing.T) {
	tree, _, far, p := connect(t)
	tree.Add(far)
	tree.DiscoverCrossOrigin(far)
	<-p.asked <- "B"
	want(t, tree, "main", "main>far", "far>B")
	tree.DiscoverCrossOrigin(far)
	question := <-p.asked
	tree.Remove(far)
	want(t, tree, "main")
	question <- "BC"
}
