package intercept

import (
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

// maxOpen bounds how many requests of a connection are remembered.
const maxOpen = 4096

// Witness is a [page.Observer] that tells whose requests a proxy has refused.
type Witness struct {
	gate    Attributor
	profile string

	mu   sync.Mutex
	open map[string]request // by session and request id
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
		w.begun(ev)
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

func (w *Witness) begun(ev cdp.Event) {
	var p struct {
		RequestID string `json:"requestId"`
		Type      string `json:"type"`
		Request   struct {
			URL string `json:"url"`
		} `json:"request"`
	}
	if ev.Decode(&p) && strings.HasPrefix(p.Request.URL, "http") {
		w.keep(ev.Session+p.RequestID, request{p.Request.URL, p.Type == "Document"})
	}
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

		Response answer `json:"response"`
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
			}
		}
	}
}

// failed tells of requests that got no connection: a refused tunnel looks like that.
func (w *Witness) failed(t *page.Tab, ev cdp.Event) {
	r, known := w.take(ev)
	var p struct {
		Error string `json:"errorText"`
	}
	if known && ev.Decode(&p) && p.Error == "net::ERR_TUNNEL_CONNECTION_FAILED" {
		w.gate.Attribute(w.profile, t.TargetID(), r.address, r.document)
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
