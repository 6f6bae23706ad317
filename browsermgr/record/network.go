package record

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

// requestLog holds the exchanges of one tab.
type requestLog struct {
	ring      entryRing[*exchange]
	last      int
	chains    map[string]*redirectChain // by CDP request id
	unmatched []string                  // ids of chains without an exchange, oldest first
}

// redirectChain holds the exchanges of one request: those answered with a redirect, and the last. The headers actually
// sent arrive in separate events (ExtraInfo), in the same order but earlier or later.
type redirectChain struct {
	hops                            []*exchange
	requestHeaders, responseHeaders []map[string]string // headers from ExtraInfo events
	applied                         [2]int              // how many of them have been applied
}

// maxUnmatched bounds the chains kept for requests not seen (yet).
const maxUnmatched = 64

func newRequestLog(total *atomic.Int64) requestLog {
	l := requestLog{chains: map[string]*redirectChain{}}
	l.ring = entryRing[*exchange]{
		limit: MaxRequests, budget: requestBudget, size: (*exchange).size, total: total,
		drop: func(x *exchange) {
			if c := l.chains[x.id]; c != nil && len(c.hops) > 0 && c.hops[len(c.hops)-1] == x {
				delete(l.chains, x.id)
			}
		},
	}
	return l
}

// networkEvent holds the fields used of Network events.
type networkEvent struct {
	RequestID string  `json:"requestId"`
	FrameID   string  `json:"frameId"`
	Timestamp float64 `json:"timestamp"`
	WallTime  float64 `json:"wallTime"`
	Type      string  `json:"type"`
	URL       string  `json:"url"`
	Request   struct {
		Method          string            `json:"method"`
		URL             string            `json:"url"`
		URLFragment     string            `json:"urlFragment"`
		Headers         map[string]string `json:"headers"`
		HasPostData     bool              `json:"hasPostData"`
		PostData        string            `json:"postData"`
		PostDataEntries []struct {
			Bytes string `json:"bytes"`
		} `json:"postDataEntries"`
	} `json:"request"`
	RedirectResponse     *networkResponse  `json:"redirectResponse"`
	RedirectHasExtraInfo bool              `json:"redirectHasExtraInfo"`
	Response             networkResponse   `json:"response"`
	HasExtraInfo         bool              `json:"hasExtraInfo"`
	Headers              map[string]string `json:"headers"`
	EncodedDataLength    float64           `json:"encodedDataLength"`
	DataLength           float64           `json:"dataLength"`
	ErrorText            string            `json:"errorText"`
	BlockedReason        string            `json:"blockedReason"`
	ErrorMessage         string            `json:"errorMessage"`
}

// networkEvents maps events to their handlers, which return the exchanges that ended.
var networkEvents = map[string]func(*requestLog, *networkEvent) []*exchange{
	"Network.requestWillBeSent":                  (*requestLog).handleRequest,
	"Network.requestWillBeSentExtraInfo":         (*requestLog).handleRequestHeaders,
	"Network.responseReceived":                   (*requestLog).handleResponse,
	"Network.responseReceivedExtraInfo":          (*requestLog).handleResponseHeaders,
	"Network.dataReceived":                       (*requestLog).handleData,
	"Network.loadingFinished":                    (*requestLog).handleFinished,
	"Network.loadingFailed":                      (*requestLog).handleFailed,
	"Network.webSocketCreated":                   (*requestLog).handleWebSocket,
	"Network.webSocketHandshakeResponseReceived": (*requestLog).handleResponse,
	"Network.webSocketFrameError":                (*requestLog).handleFailed,
	"Network.webSocketClosed":                    (*requestLog).handleFinished,
}

func (r *Recorder) handleNetwork(t *page.Tab, f *frame.Frame, ev cdp.Event,
	handle func(*requestLog, *networkEvent) []*exchange,
) {
	var p networkEvent
	if !ev.Decode(&p) || strings.HasPrefix(p.Request.URL, "data:") {
		return
	}
	r.mu.Lock()
	l := r.tabs[t]
	if l == nil {
		r.mu.Unlock()
		return
	}
	ended := handle(&l.requests, &p)
	l.matchWaiters(f, ev.Method, &p)
	watchers := r.watchers
	var notices []Recorded
	if len(watchers) > 0 {
		for _, x := range ended {
			entry := x.entry(t.ID())
			notices = append(notices, Recorded{
				Tab: t, Frame: f, Exchange: &entry, RequestID: proto.NetworkRequestID(x.id), Started: x.wall,
				HasBody: ev.Method == "Network.loadingFinished", DocumentID: proto.PageFrameID(x.frameID),
			})
		}
	}
	r.mu.Unlock()
	for _, n := range notices {
		publishRecorded(watchers, n)
	}
}

// chain returns the chain of a request, creating it if necessary.
func (l *requestLog) chain(id string) *redirectChain {
	c := l.chains[id]
	if c == nil {
		c = &redirectChain{}
		l.chains[id] = c
		l.unmatched = append(l.unmatched, id)
		if len(l.unmatched) > maxUnmatched {
			if old := l.chains[l.unmatched[0]]; old != nil && len(old.hops) == 0 {
				delete(l.chains, l.unmatched[0])
			}
			l.unmatched = l.unmatched[1:]
		}
	}
	return c
}

// current returns the running exchange of a chain; nil if the request is unknown.
func (l *requestLog) current(id string) *exchange {
	c := l.chains[id]
	if c == nil || len(c.hops) == 0 {
		return nil
	}
	return c.hops[len(c.hops)-1]
}

func (l *requestLog) handleRequest(p *networkEvent) []*exchange {
	var ended []*exchange
	if x := l.current(p.RequestID); x != nil && p.RedirectResponse != nil {
		x.noExtra = !p.RedirectHasExtraInfo
		l.ring.grow(x, func() { l.setResponse(x, *p.RedirectResponse, p.Timestamp) })
		x.ended = p.Timestamp
		ended = append(ended, x)
	}
	x := &exchange{id: p.RequestID, frameID: p.FrameID, began: p.Timestamp, wall: time.UnixMicro(int64(p.WallTime * 1e6))}
	x.Method, x.ResourceType = p.Request.Method, strings.ToLower(p.Type)
	x.URL, x.URLTruncated = truncateText(RedactURL(p.Request.URL+p.Request.URLFragment), maxURL)
	headers, truncated := cleanHeaders(p.Request.Headers)
	x.sent, x.RequestHeadersTruncated = l.pack(headers), truncated
	x.setRequestBody(p, headers["content-type"])
	l.add(x)
	return ended
}

// setRequestBody stores the body of the request.
func (x *exchange) setRequestBody(p *networkEvent, contentType string) {
	body := p.Request.PostData
	if n := len(p.Request.PostDataEntries); n > 0 {
		var raw strings.Builder
		for _, part := range p.Request.PostDataEntries {
			data, err := base64.StdEncoding.DecodeString(part.Bytes)
			if err != nil || part.Bytes == "" {
				x.RequestBodyOmitted = true // a file
				return
			}
			raw.Write(data)
		}
		body = raw.String()
	}
	if body == "" {
		x.RequestBodyOmitted = p.Request.HasPostData
		return
	}
	text, ok := RedactBody(contentType, body)
	if !ok {
		x.RequestBodyOmitted = true
		return
	}
	x.RequestBody, x.RequestBodyTruncated = truncateText(text, maxRequestBody)
}

// add adds an exchange that has begun.
func (l *requestLog) add(x *exchange) {
	l.last++
	x.ID = fmt.Sprintf("r%d", l.last)
	x.Timestamp = formatTime(x.wall)
	c := l.chain(x.id)
	c.hops = append(c.hops, x)
	l.ring.add(x)
	l.applyHeaders(c)
}

func (l *requestLog) handleWebSocket(p *networkEvent) []*exchange {
	x := &exchange{id: p.RequestID, wall: time.Now()}
	x.Method, x.ResourceType = "GET", "websocket"
	x.URL, x.URLTruncated = truncateText(RedactURL(p.URL), maxURL)
	l.add(x)
	return nil
}

func (l *requestLog) handleResponse(p *networkEvent) []*exchange {
	x := l.current(p.RequestID)
	if x == nil {
		return nil
	}
	if x.began == 0 {
		x.began = p.Timestamp // for a WebSocket there is no event for the beginning
	}
	l.ring.grow(x, func() { l.setResponse(x, p.Response, p.Timestamp) })
	return nil
}

func (l *requestLog) handleData(p *networkEvent) []*exchange {
	if x := l.current(p.RequestID); x != nil {
		x.response.decoded += p.DataLength
	}
	return nil
}

func (l *requestLog) handleFinished(p *networkEvent) []*exchange {
	x := l.current(p.RequestID)
	if x == nil || x.ended != 0 {
		return nil
	}
	x.ended = p.Timestamp
	if p.EncodedDataLength > 0 {
		x.response.EncodedDataLength = p.EncodedDataLength
	}
	return []*exchange{x}
}

func (l *requestLog) handleFailed(p *networkEvent) []*exchange {
	x := l.current(p.RequestID)
	if x == nil || x.ended != 0 {
		return nil
	}
	x.ended = p.Timestamp
	x.FailureText = p.ErrorText + p.ErrorMessage
	if p.BlockedReason != "" {
		x.FailureText = strings.TrimSpace(x.FailureText + " (" + p.BlockedReason + ")")
	}
	x.FailureText = cmp.Or(x.FailureText, "failed")
	return []*exchange{x}
}

func (l *requestLog) handleRequestHeaders(p *networkEvent) []*exchange {
	c := l.chain(p.RequestID)
	c.requestHeaders = append(c.requestHeaders, p.Headers)
	l.applyHeaders(c)
	return nil
}

func (l *requestLog) handleResponseHeaders(p *networkEvent) []*exchange {
	c := l.chain(p.RequestID)
	c.responseHeaders = append(c.responseHeaders, p.Headers)
	l.applyHeaders(c)
	return nil
}

// applyHeaders copies received headers to the exchanges they belong to.
func (l *requestLog) applyHeaders(c *redirectChain) {
	var hops []*exchange
	for _, x := range c.hops {
		if !x.noExtra {
			hops = append(hops, x)
		}
	}
	for ; c.applied[0] < min(len(hops), len(c.requestHeaders)); c.applied[0]++ {
		x, headers := hops[c.applied[0]], c.requestHeaders[c.applied[0]]
		c.requestHeaders[c.applied[0]] = nil
		l.ring.grow(x, func() {
			clean, truncated := cleanHeaders(headers)
			maps.Copy(clean, mergeHeaders(x.sent.unpack(), clean))
			x.sent, x.RequestHeadersTruncated = l.pack(clean), truncated || x.RequestHeadersTruncated
		})
	}
	for ; c.applied[1] < min(len(hops), len(c.responseHeaders)); c.applied[1]++ {
		x, headers := hops[c.applied[1]], c.responseHeaders[c.applied[1]]
		c.responseHeaders[c.applied[1]] = nil
		l.ring.grow(x, func() { l.setReceived(x, headers) })
	}
}

// mergeHeaders returns the headers in said, which the page requested, without those in seen, which were sent.
func mergeHeaders(said, seen map[string]string) map[string]string {
	left := map[string]string{}
	for name, value := range said {
		if _, ok := seen[name]; !ok && len(seen)+len(left) < maxHeaders {
			left[name] = value
		}
	}
	return left
}
