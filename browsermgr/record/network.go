package record

import (
	"encoding/base64"
	"fmt"
	"maps"
	"strings"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/frame"
	"clank/browsermgr/page"

	"github.com/go-rod/rod/lib/proto"
)

// requestLog is the exchanges of one tab.
type requestLog struct {
	ring    ring[*exchange]
	last    int
	chains  map[string]*chain // by the protocol's id of the request
	strange []string          // ids of chains without an exchange, oldest first
}

// chain is the exchanges of one request: those that were answered with a redirect, and the last. Headers as they were on
// the wire are told apart from the rest, in the same order, sooner or later.
type chain struct {
	hops      []*exchange
	sent, got []map[string]string // headers of requests and answers
	applied   [2]int              // how many of them are taken over
}

// maxStrange bounds the chains that are kept though their request is not known (yet).
const maxStrange = 64

func newRequestLog() requestLog {
	l := requestLog{chains: map[string]*chain{}}
	l.ring = ring[*exchange]{limit: MaxRequests, budget: requestBudget, size: (*exchange).size, drop: func(x *exchange) {
		if c := l.chains[x.id]; c != nil && len(c.hops) > 0 && c.hops[len(c.hops)-1] == x {
			delete(l.chains, x.id)
		}
	}}
	return l
}

// event is what is used of the events of the Network domain.
type event struct {
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
	RedirectResponse     *answer           `json:"redirectResponse"`
	RedirectHasExtraInfo bool              `json:"redirectHasExtraInfo"`
	Response             answer            `json:"response"`
	HasExtraInfo         bool              `json:"hasExtraInfo"`
	Headers              map[string]string `json:"headers"`
	EncodedDataLength    float64           `json:"encodedDataLength"`
	DataLength           float64           `json:"dataLength"`
	ErrorText            string            `json:"errorText"`
	BlockedReason        string            `json:"blockedReason"`
	ErrorMessage         string            `json:"errorMessage"`
}

// networkEvents say what to do with an event; they return the exchanges that came to their end.
var networkEvents = map[string]func(*requestLog, *event) []*exchange{
	"Network.requestWillBeSent":                  (*requestLog).begin,
	"Network.requestWillBeSentExtraInfo":         (*requestLog).sentHeaders,
	"Network.responseReceived":                   (*requestLog).respond,
	"Network.responseReceivedExtraInfo":          (*requestLog).gotHeaders,
	"Network.dataReceived":                       (*requestLog).data,
	"Network.loadingFinished":                    (*requestLog).finish,
	"Network.loadingFailed":                      (*requestLog).fail,
	"Network.webSocketCreated":                   (*requestLog).socket,
	"Network.webSocketHandshakeResponseReceived": (*requestLog).respond,
	"Network.webSocketFrameError":                (*requestLog).fail,
	"Network.webSocketClosed":                    (*requestLog).finish,
}

func (r *Recorder) networkEvent(t *page.Tab, f *frame.Frame, ev cdp.Event, handle func(*requestLog, *event) []*exchange) {
	var p event
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
	l.serve(f, ev.Method, &p)
	watchers := r.watchers
	var notices []Notice
	if len(watchers) > 0 {
		for _, x := range ended {
			entry := x.entry(t.ID())
			notices = append(notices, Notice{
				Tab: t, Frame: f, Exchange: &entry, RequestID: proto.NetworkRequestID(x.id), Started: x.wall,
				HasBody: ev.Method == "Network.loadingFinished", DocumentID: proto.PageFrameID(x.frame),
			})
		}
	}
	r.mu.Unlock()
	for _, n := range notices {
		publish(watchers, n)
	}
}

// chain finds or makes the chain of a request.
func (l *requestLog) chain(id string) *chain {
	c := l.chains[id]
	if c == nil {
		c = &chain{}
		l.chains[id] = c
		l.strange = append(l.strange, id)
		if len(l.strange) > maxStrange {
			if old := l.chains[l.strange[0]]; old != nil && len(old.hops) == 0 {
				delete(l.chains, l.strange[0])
			}
			l.strange = l.strange[1:]
		}
	}
	return c
}

// current is the exchange that runs in the chain; nil if the request is not known.
func (l *requestLog) current(id string) *exchange {
	c := l.chains[id]
	if c == nil || len(c.hops) == 0 {
		return nil
	}
	return c.hops[len(c.hops)-1]
}

func (l *requestLog) begin(p *event) []*exchange {
	var ended []*exchange
	if x := l.current(p.RequestID); x != nil && p.RedirectResponse != nil {
		x.noExtra = !p.RedirectHasExtraInfo
		l.ring.grow(x, func() { x.setAnswer(*p.RedirectResponse, p.Timestamp) })
		x.ended = p.Timestamp
		ended = append(ended, x)
	}
	x := &exchange{id: p.RequestID, frame: p.FrameID, began: p.Timestamp, wall: time.UnixMicro(int64(p.WallTime * 1e6))}
	x.Method, x.ResourceType = p.Request.Method, strings.ToLower(p.Type)
	x.URL, x.URLTruncated = truncate(RedactURL(p.Request.URL+p.Request.URLFragment), MaxURL)
	x.RequestHeaders, x.RequestHeadersTruncated = cleanHeaders(p.Request.Headers)
	x.takeBody(p)
	l.add(x)
	return ended
}

// takeBody takes over the body of the request.
func (x *exchange) takeBody(p *event) {
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
	text, ok := RedactBody(x.RequestHeaders["content-type"], body)
	if !ok {
		x.RequestBodyOmitted = true
		return
	}
	x.RequestBody, x.RequestBodyTruncated = truncate(text, MaxRequestBody)
}

// add takes up an exchange that has just begun.
func (l *requestLog) add(x *exchange) {
	l.last++
	x.ID = fmt.Sprintf("r%d", l.last)
	x.Timestamp = stamp(x.wall)
	c := l.chain(x.id)
	c.hops = append(c.hops, x)
	l.ring.add(x)
	l.apply(c)
}

func (l *requestLog) socket(p *event) []*exchange {
	x := &exchange{id: p.RequestID, wall: time.Now()}
	x.Method, x.ResourceType = "GET", "websocket"
	x.URL, x.URLTruncated = truncate(RedactURL(p.URL), MaxURL)
	l.add(x)
	return nil
}

func (l *requestLog) respond(p *event) []*exchange {
	x := l.current(p.RequestID)
	if x == nil {
		return nil
	}
	if x.began == 0 {
		x.began = p.Timestamp // Chromium does not say when it began to open a WebSocket
	}
	l.ring.grow(x, func() { x.setAnswer(p.Response, p.Timestamp) })
	return nil
}

func (l *requestLog) data(p *event) []*exchange {
	if x := l.current(p.RequestID); x != nil {
		x.answer.decoded += p.DataLength
	}
	return nil
}

func (l *requestLog) finish(p *event) []*exchange {
	x := l.current(p.RequestID)
	if x == nil || x.ended != 0 {
		return nil
	}
	x.ended = p.Timestamp
	if p.EncodedDataLength > 0 {
		x.answer.EncodedDataLength = p.EncodedDataLength
	}
	return []*exchange{x}
}

func (l *requestLog) fail(p *event) []*exchange {
	x := l.current(p.RequestID)
	if x == nil || x.ended != 0 {
		return nil
	}
	x.ended = p.Timestamp
	x.FailureText = p.ErrorText + p.ErrorMessage
	if p.BlockedReason != "" {
		x.FailureText = strings.TrimSpace(x.FailureText + " (" + p.BlockedReason + ")")
	}
	if x.FailureText == "" {
		x.FailureText = "failed"
	}
	return []*exchange{x}
}

func (l *requestLog) sentHeaders(p *event) []*exchange {
	c := l.chain(p.RequestID)
	c.sent = append(c.sent, p.Headers)
	l.apply(c)
	return nil
}

func (l *requestLog) gotHeaders(p *event) []*exchange {
	c := l.chain(p.RequestID)
	c.got = append(c.got, p.Headers)
	l.apply(c)
	return nil
}

// apply takes over the headers of those exchanges that are known.
func (l *requestLog) apply(c *chain) {
	var hops []*exchange
	for _, x := range c.hops {
		if !x.noExtra {
			hops = append(hops, x)
		}
	}
	for ; c.applied[0] < min(len(hops), len(c.sent)); c.applied[0]++ {
		x, headers := hops[c.applied[0]], c.sent[c.applied[0]]
		c.sent[c.applied[0]] = nil
		l.ring.grow(x, func() {
			clean, truncated := cleanHeaders(headers)
			maps.Copy(clean, keep(x.RequestHeaders, clean))
			x.RequestHeaders, x.RequestHeadersTruncated = clean, truncated || x.RequestHeadersTruncated
		})
	}
	for ; c.applied[1] < min(len(hops), len(c.got)); c.applied[1]++ {
		x, headers := hops[c.applied[1]], c.got[c.applied[1]]
		c.got[c.applied[1]] = nil
		l.ring.grow(x, func() { x.ResponseHeaders, x.ResponseHeadersTruncated = cleanHeaders(headers) })
	}
}

// keep is what the page said it would send and was not seen on the wire under the same name.
func keep(said, seen map[string]string) map[string]string {
	left := map[string]string{}
	for name, value := range said {
		if _, ok := seen[name]; !ok && len(seen)+len(left) < maxHeaders {
			left[name] = value
		}
	}
	return left
}
