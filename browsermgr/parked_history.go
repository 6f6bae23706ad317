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

// maxHistory is how many entries of a tab's history are kept, the same number as in Chromium.
const maxHistory = 50

// historyEntry is an entry of a tab's session history.
type historyEntry struct{ url, title string }

// readHistory returns the history of a tab and the index of its current entry. posted reports that the page is the
// result of a form submission, so that its address alone may load something else.
func readHistory(ctx context.Context, tab *page.Tab) (entries []historyEntry, at int, posted bool, err error) {
	h, err := cdp.Ask[proto.PageGetNavigationHistoryResult](ctx, tab.MainFrame().Session, proto.PageGetNavigationHistory{})
	if err != nil {
		return nil, 0, false, err
	}
	for i, e := range h.Entries {
		shown := i == h.CurrentIndex
		posted = posted || shown && e.TransitionType == proto.PageTransitionTypeFormSubmit && !strings.Contains(e.URL, "?")
		web := strings.HasPrefix(e.URL, "http://") || strings.HasPrefix(e.URL, "https://") || e.URL == "about:blank"
		same := len(entries) > 0 && entries[len(entries)-1].url == e.URL // Chromium would merge the two
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

// pageSession is a separate CDP session with a page, so that its Fetch events do not reach other clients.
type pageSession struct {
	branch *cdp.Branch

	mu        sync.Mutex
	calls     int
	answers   map[int]chan sessionAnswer
	onRequest func(requestID, frameID string) (method string, params any) // called for each document request
	shown     string                                                      // the address of the current entry
	navigated chan struct{}                                               // holds a token when another entry is shown
}

type sessionAnswer struct {
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// openSession opens a session with a tab's page. The caller closes its branch.
func openSession(ctx context.Context, tab *page.Tab) (*pageSession, error) {
	s := &pageSession{answers: map[int]chan sessionAnswer{}, navigated: make(chan struct{}, 1)}
	branch, err := tab.Browser().Branch(ctx, tab.TargetID(), s.receive)
	s.branch = branch
	return s, err
}

// receive handles a message. It runs on the connection's reading goroutine.
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
		_, _ = s.send(method, params) // a request abandoned meanwhile needs no answer
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

// betweenPages is Chromium's error while one page replaces another.
const betweenPages = "Not attached to an active page"

// do sends a command and waits for its result until ctx ends, repeating it while one page replaces another.
func (s *pageSession) do(ctx context.Context, req proto.Request, into any) error {
	for {
		err := s.ask(ctx, req, into)
		if err == nil || !strings.Contains(err.Error(), betweenPages) || !pause(ctx) {
			return err
		}
	}
}

// ask is do without repetition.
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

// intercept passes document requests to on, which returns the CDP command that answers each. nil stops intercepting.
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

// emptyPage returns the response for history entries that are only passed through. Its status, 203, keeps Chromium from
// showing it again when somebody navigates back to it.
func emptyPage(title string) (status int, body string) {
	return http.StatusNonAuthoritativeInfo,
		base64.StdEncoding.EncodeToString([]byte("<!doctype html><title>" + html.EscapeString(title) + "</title>"))
}

// makeHistory gives a new tab a history by loading an empty page for each entry, since CDP cannot write one. Nothing is
// requested from the network. The tab then shows the empty page of entry at.
func (s *pageSession) makeHistory(ctx context.Context, entries []historyEntry, at int) error {
	title := ""
	var mu sync.Mutex
	err := s.intercept(ctx, func(requestID, _ string) (string, any) {
		mu.Lock()
		defer mu.Unlock()
		status, body := emptyPage(title)
		return "Fetch.fulfillRequest", map[string]any{
			"requestId": requestID, "responseCode": status, "body": body,
			"responseHeaders": []map[string]string{
				{"name": "Content-Type", "value": "text/html; charset=utf-8"},
				{"name": "Cache-Control", "value": "no-store"},
			},
		}
	})
	if err != nil {
		return err
	}
	for _, req := range []proto.Request{
		proto.PageEnable{},
		proto.NetworkEnable{},
		proto.NetworkSetBypassServiceWorker{Bypass: true},
	} {
		if err := s.do(ctx, req, nil); err != nil {
			return err
		}
	}
	for i, e := range entries {
		if i == 0 && e.url == "about:blank" {
			continue // every tab begins with about:blank
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
	for behind := true; behind; { // the page says that it is shown before it is in the history
		if err := s.do(ctx, proto.PageGetNavigationHistory{}, &h); err != nil {
			return err
		}
		behind = h.Entries[len(h.Entries)-1].URL != entries[len(entries)-1].url && pause(ctx)
	}
	more := len(h.Entries) - len(entries) // a tab's initial empty page
	if more < 0 || more > 1 {
		return fmt.Errorf("the history has %d entries, not %d", len(h.Entries), len(entries))
	}
	return s.show(ctx, entries[at].url, proto.PageNavigateToHistoryEntry{EntryID: h.Entries[at+more].ID})
}

// show runs req, which navigates to url, and returns when that entry is shown.
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
