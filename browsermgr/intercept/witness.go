package intercept

import (
	"slices"
	"strings"
	"sync"

	"clank/browsermgr/cdp"
	"clank/browsermgr/frame"
	"clank/browsermgr/page"

	"github.com/go-rod/rod/lib/proto"
)

// RefusedHeader is the header by which the proxy marks an answer that is a refusal; its value names the rule. FailedHeader
// marks one that says that the server was not reached.
const (
	RefusedHeader = "X-Clank-Refused"
	FailedHeader  = "X-Clank-Failed"
)

// Attributor is told which tab a refused request came from. Its methods must not block.
type Attributor interface {
	// Attribute says that the tab with that CDP target id has asked for the address, as a document of its own or of a frame
	// or not, and was refused or could not connect.
	Attribute(profile, target, address string, document bool)
}

const (
	// maxOpen bounds how many requests of a connection are remembered.
	maxOpen = 4096
	// maxLate bounds how many of them have ended without the headers of their answer, and how many headers are known
	// without their request: Chromium tells the two from different processes, in any order.
	maxLate = 64
)

// Witness is a [page.Observer] that tells whose requests a proxy has refused.
type Witness struct {
	gate    Attributor
	profile string

	mu    sync.Mutex
	open  map[string]request // by session and request id
	late  []string           // keys of those that failed before their headers were told, oldest first
	early []string           // keys of refusals whose request was not told yet, oldest first
}

type request struct {
	address  string
	document bool
}

// NewWitness makes one for a connection to the browser of a profile.
func NewWitness(gate Attributor, profile string) *Witness {
	return &Witness{gate: gate, profile: profile, open: map[string]request{}}
}

// Attach asks nothing of new sessions.
func (*Witness) Attach(*page.Tab, *frame.Frame) []proto.Request { return nil }

// Event implements [page.Observer].
func (w *Witness) Event(t *page.Tab, _ *frame.Frame, ev cdp.Event) {
	if t == nil {
		return
	}
	switch ev.Method {
	case "Network.requestWillBeSent":
		w.begun(t, ev)
	case "Network.responseReceived", "Network.responseReceivedExtraInfo":
		w.answered(t, ev)
	case "Network.loadingFailed":
		w.failed(t, ev)
	case "Network.loadingFinished":
		w.take(ev)
	case "Network.webSocketCreated", "Network.webSocketFrameError", "Network.webSocketClosed":
		w.socket(t, ev)
	}
}

func (w *Witness) begun(t *page.Tab, ev cdp.Event) {
	var p struct {
		RequestID string `json:"requestId"`
		Type      string `json:"type"`
		Request   struct {
			URL string `json:"url"`
		} `json:"request"`
	}
	if !ev.Decode(&p) || !strings.HasPrefix(p.Request.URL, "http") {
		return
	}
	if r := (request{p.Request.URL, p.Type == "Document"}); w.judged(ev.Session + p.RequestID) {
		w.gate.Attribute(w.profile, t.TargetID(), r.address, r.document)
	} else {
		w.keep(ev.Session+p.RequestID, r)
	}
}

// judged reports whether the refusal of a request was told before the request itself, and forgets it.
func (w *Witness) judged(key string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.early, key)
	if i < 0 {
		return false
	}
	w.early = slices.Delete(w.early, i, i+1)
	return true
}

func (w *Witness) keep(key string, r request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.open) >= maxOpen {
		clear(w.open)
	}
	w.open[key] = r
}

// answered looks for answers that are the proxy's own. Those to requests across origins are told as extra information only.
func (w *Witness) answered(t *page.Tab, ev cdp.Event) {
	type answer struct {
		Headers map[string]string `json:"headers"`
	}
	var p struct {
		answer

		RequestID string `json:"requestId"`
		Response  answer `json:"response"`
	}
	if !ev.Decode(&p) {
		return
	}
	for _, headers := range []map[string]string{p.Headers, p.Response.Headers} {
		for name := range headers {
			if !strings.EqualFold(name, RefusedHeader) && !strings.EqualFold(name, FailedHeader) {
				continue
			}
			if r, known := w.take(ev); known {
				w.gate.Attribute(w.profile, t.TargetID(), r.address, r.document)
			} else if ev.Method == "Network.responseReceivedExtraInfo" {
				w.mu.Lock()
				w.early = append(w.early, ev.Session+p.RequestID)
				w.early = w.early[max(0, len(w.early)-maxLate):]
				w.mu.Unlock()
			}
		}
	}
}

// failed tells of requests that got no connection: a refused tunnel looks like that. What fails because it crosses origins
// may have had an answer, whose headers are told before or after.
func (w *Witness) failed(t *page.Tab, ev cdp.Event) {
	var p struct {
		RequestID string    `json:"requestId"`
		Error     string    `json:"errorText"`
		Cross     *struct{} `json:"corsErrorStatus"`
	}
	if !ev.Decode(&p) {
		return
	}
	if p.Cross != nil {
		w.expect(ev.Session + p.RequestID)
		return
	}
	if r, known := w.take(ev); known && p.Error == "net::ERR_TUNNEL_CONNECTION_FAILED" {
		w.gate.Attribute(w.profile, t.TargetID(), r.address, r.document)
	}
}

// expect keeps a request whose headers may still be told.
func (w *Witness) expect(key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, known := w.open[key]; !known {
		return
	}
	if w.late = append(w.late, key); len(w.late) > maxLate {
		delete(w.open, w.late[0])
		w.late = w.late[1:]
	}
}

// socket follows WebSockets, whose tunnels are refused without a word to the page.
func (w *Witness) socket(t *page.Tab, ev cdp.Event) {
	if ev.Method != "Network.webSocketCreated" {
		if r, known := w.take(ev); known && ev.Method == "Network.webSocketFrameError" {
			w.gate.Attribute(w.profile, t.TargetID(), r.address, false)
		}
		return
	}
	var p struct {
		RequestID string `json:"requestId"`
		URL       string `json:"url"`
	}
	if ev.Decode(&p) {
		w.keep(ev.Session+p.RequestID, request{p.URL, false})
	}
}

// take forgets a request that has ended.
func (w *Witness) take(ev cdp.Event) (request, bool) {
	var p struct {
		RequestID string `json:"requestId"`
	}
	if !ev.Decode(&p) {
		return request{}, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	r, known := w.open[ev.Session+p.RequestID]
	delete(w.open, ev.Session+p.RequestID)
	return r, known
}
