package browsermgr

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"strings"
	"sync"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"

	"github.com/go-rod/rod/lib/proto"
)

// maxHistory is how many entries of a tab's history are kept, as many as Chromium does.
const maxHistory = 50

// historyEntry is a page that back or forward leads to.
type historyEntry struct{ url, title string }

// readHistory returns the history of a tab, and which entry is shown. posted says that the page came of a form that was
// sent: its address may show something else.
func readHistory(ctx context.Context, tab *page.Tab) (entries []historyEntry, at int, posted bool, err error) {
	h, err := cdp.Ask[proto.PageGetNavigationHistoryResult](ctx, tab.MainFrame().Session, proto.PageGetNavigationHistory{})
	if err != nil {
		return nil, 0, false, err
	}
	for i, e := range h.Entries {
		shown := i == h.CurrentIndex
		posted = posted || shown && e.TransitionType == proto.PageTransitionTypeFormSubmit && !strings.Contains(e.URL, "?")
		web := strings.HasPrefix(e.URL, "http://") || strings.HasPrefix(e.URL, "https://") || e.URL == "about:blank"
		same := len(entries) > 0 && entries[len(entries)-1].url == e.URL // Chromium would not make two of them
		if !shown && !web || same && !shown {
			continue
		}
		if same {
			entries = entries[:len(entries)-1]
		}
		if shown {
			at = len(entries)
		}
		entries = append(entries, historyEntry{e.URL, e.Title})
	}
	if over := len(entries) - maxHistory; over > 0 {
		cut := min(over, at)
		entries, at = entries[cut:], at-cut
		entries = entries[:min(len(entries), maxHistory)]
	}
	return entries, at, posted, nil
}

// pageSession is a session of its own to a page. What it intercepts nobody else is told of.
type pageSession struct {
	branch *cdp.Branch

	mu        sync.Mutex
	calls     int
	answers   map[int]chan sessionAnswer
	onRequest func(requestID, frameID string) (method string, params any) // called for each document that is asked for
	shown     string                                                      // the address of the present entry
	navigated chan struct{}                                               // holds a token when another is shown
}

type sessionAnswer struct {
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// openSession opens a session to a tab's page. The caller closes its branch.
func openSession(ctx context.Context, tab *page.Tab) (*pageSession, error) {
	s := &pageSession{answers: map[int]chan sessionAnswer{}, navigated: make(chan struct{}, 1)}
	branch, err := tab.Browser().Branch(ctx, tab.TargetID(), s.receive)
	s.branch = branch
	return s, err
}

// receive takes a message. It runs on the reading goroutine.
func (s *pageSession) receive(message []byte) {
	var m struct {
		ID int `json:"id"`
		sessionAnswer

		Method string `json:"method"`
		Params struct {
			RequestID string `json:"requestId"`
			FrameID   string `json:"frameId"`
			URL       string `json:"url"`
			Frame     struct {
				URL      string `json:"url"`
				Fragment string `json:"urlFragment"`
			} `json:"frame"`
		} `json:"params"`
	}
	if json.Unmarshal(message, &m) != nil {
		return
	}
	navigated := m.Method == "Page.frameNavigated" || m.Method == "Page.navigatedWithinDocument"
	s.mu.Lock()
	answer, onRequest := s.answers[m.ID], s.onRequest
	delete(s.answers, m.ID)
	if navigated {
		s.shown = cmp.Or(m.Params.URL, m.Params.Frame.URL+m.Params.Frame.Fragment)
	}
	s.mu.Unlock()
	switch {
	case answer != nil:
		answer <- m.sessionAnswer
	case m.Method == "Fetch.requestPaused":
		method, params := onRequest(m.Params.RequestID, m.Params.FrameID)
		_, _ = s.send(method, params) // what was abandoned meanwhile needs no answer
	case navigated:
		select {
		case s.navigated <- struct{}{}:
		default:
		}
	}
}

func (s *pageSession) send(method string, params any) (<-chan sessionAnswer, error) {
	s.mu.Lock()
	s.calls++
	id, answer := s.calls, make(chan sessionAnswer, 1)
	s.answers[id] = answer
	s.mu.Unlock()
	message, err := json.Marshal(map[string]any{"id": id, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	return answer, s.branch.Send(message)
}

// betweenPages is what Chromium answers while one page takes the place of another.
const betweenPages = "Not attached to an active page"

// do asks the page, for as long as ctx allows.
func (s *pageSession) do(ctx context.Context, req proto.Request, into any) error {
	for {
		err := s.ask(ctx, req, into)
		if err == nil || !strings.Contains(err.Error(), betweenPages) || !pause(ctx) {
			return err
		}
	}
}

// ask is do, which asks once.
func (s *pageSession) ask(ctx context.Context, req proto.Request, into any) error {
	answer, err := s.send(req.ProtoReq(), req)
	if err != nil {
		return err
	}
	select {
	case a := <-answer:
		if a.Error != nil {
			return fmt.Errorf("%s: %s", req.ProtoReq(), a.Error.Message)
		}
		if into == nil {
			return nil
		}
		return json.Unmarshal(a.Result, into)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// intercept has what is asked for documents answered by on, or lets them pass again if that is nil.
func (s *pageSession) intercept(ctx context.Context, on func(requestID, frameID string) (string, any)) error {
	if on == nil {
		return s.do(ctx, proto.FetchDisable{}, nil)
	}
	s.mu.Lock()
	s.onRequest = on
	s.mu.Unlock()
	documents := []*proto.FetchRequestPattern{{URLPattern: "*", ResourceType: proto.NetworkResourceTypeDocument}}
	return s.do(ctx, proto.FetchEnable{Patterns: documents}, nil)
}

// emptyPage answers for a document of the history that is only passed by. Its status keeps Chromium from showing it again
// when somebody goes back to it.
func emptyPage(title string) (status int, body string) {
	return http.StatusNonAuthoritativeInfo, base64.StdEncoding.EncodeToString([]byte("<!doctype html><title>" + html.EscapeString(title) + "</title>"))
}

// makeHistory gives a new tab a history without asking the network for any of its pages: CDP cannot write one. The tab
// then shows an empty page in place of the entry at.
func (s *pageSession) makeHistory(ctx context.Context, entries []historyEntry, at int) error {
	title := ""
	var mu sync.Mutex
	err := s.intercept(ctx, func(requestID, _ string) (string, any) {
		mu.Lock()
		defer mu.Unlock()
		status, body := emptyPage(title)
		return "Fetch.fulfillRequest", map[string]any{
			"requestId": requestID, "responseCode": status, "body": body,
			"responseHeaders": []map[string]string{{"name": "Content-Type", "value": "text/html; charset=utf-8"}, {"name": "Cache-Control", "value": "no-store"}},
		}
	})
	if err != nil {
		return err
	}
	for _, req := range []proto.Request{proto.PageEnable{}, proto.NetworkEnable{}, proto.NetworkSetBypassServiceWorker{Bypass: true}} {
		if err := s.do(ctx, req, nil); err != nil {
			return err
		}
	}
	for i, e := range entries {
		if i == 0 && e.url == "about:blank" {
			continue // every tab begins so
		}
		mu.Lock()
		title = e.title
		mu.Unlock()
		if err := s.show(ctx, e.url, proto.PageNavigate{URL: e.url}); err != nil {
			return err
		}
	}
	if at == len(entries)-1 {
		return nil
	}
	var h proto.PageGetNavigationHistoryResult
	if err := s.do(ctx, proto.PageGetNavigationHistory{}, &h); err != nil {
		return err
	}
	more := len(h.Entries) - len(entries) // the empty page before that of another tab
	if more < 0 || more > 1 {
		return fmt.Errorf("the history has %d entries, not %d", len(h.Entries), len(entries))
	}
	return s.show(ctx, entries[at].url, proto.PageNavigateToHistoryEntry{EntryID: h.Entries[at+more].ID})
}

// show brings the page to an entry with another address, and returns when it is shown.
func (s *pageSession) show(ctx context.Context, url string, req proto.Request) error {
	var res struct{ ErrorText string }
	if err := s.do(ctx, req, &res); err != nil {
		return err
	}
	if res.ErrorText != "" {
		return errors.New(res.ErrorText)
	}
	for {
		s.mu.Lock()
		shown := s.shown == url
		s.mu.Unlock()
		if shown {
			return nil
		}
		select {
		case <-s.navigated:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
