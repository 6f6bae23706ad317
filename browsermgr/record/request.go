package record

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"clank/browsermgr/page"

	"github.com/go-rod/rod/lib/proto"
)

// Limits of one request, in characters, and of a whole answer, in bytes of JSON.
const (
	maxURL          = 64_000
	maxRequestBody  = 64_000
	maxRequestsSize = 1 << 20
)

// Request is an HTTP exchange. Each redirect is a separate one. Header names are in lower case.
type Request struct {
	ID           string `json:"id"`        // r1, r2, … for each tab
	Timestamp    string `json:"timestamp"` // ISO 8601
	Method       string `json:"method"`
	URL          string `json:"url"`
	URLTruncated bool   `json:"urlTruncated,omitempty"`
	ResourceType string `json:"resourceType"` // document, script, xhr, fetch, …

	Status      int    `json:"status,omitempty"`
	OK          *bool  `json:"ok,omitempty"` // status 200–299; nil without a response
	StatusText  string `json:"statusText,omitempty"`
	FailureText string `json:"failureText,omitempty"` // why the response is missing or incomplete

	RequestHeaders           map[string]string `json:"requestHeaders,omitempty"`
	RequestHeadersTruncated  bool              `json:"requestHeadersTruncated,omitempty"`
	ResponseHeaders          map[string]string `json:"responseHeaders,omitempty"`
	ResponseHeadersTruncated bool              `json:"responseHeadersTruncated,omitempty"`

	RequestBody          string `json:"requestBody,omitempty"`
	RequestBodyTruncated bool   `json:"requestBodyTruncated,omitempty"`
	RequestBodyOmitted   bool   `json:"requestBodyOmitted,omitempty"` // the body is too large or not text
}

// exchange is a Request with data that only the HAR includes. Its headers are in blocks; see [exchange.request].
type exchange struct {
	Request
	sent, received headerBlock

	id       string    // CDP request id of its chain
	frameID  string    // of the requesting frame; may be empty
	wall     time.Time // when it began
	began    float64   // the same by Chromium's monotonic clock, in seconds
	answered float64   // when the response headers arrived; 0 if they did not
	ended    float64   // 0 while it runs
	noExtra  bool      // no ExtraInfo events follow
	response networkResponse
}

// networkResponse holds the fields used of Network.Response.
type networkResponse struct {
	URL               string                       `json:"url"`
	Status            int                          `json:"status"`
	StatusText        string                       `json:"statusText"`
	Headers           map[string]string            `json:"headers"`
	MimeType          string                       `json:"mimeType"`
	Protocol          string                       `json:"protocol"`
	RemoteIPAddress   string                       `json:"remoteIPAddress"`
	EncodedDataLength float64                      `json:"encodedDataLength"`
	Timing            *proto.NetworkResourceTiming `json:"timing"`

	decoded float64 // decoded length of the body
}

// request returns the Request with its headers.
func (x *exchange) request() Request {
	r := x.Request
	r.RequestHeaders, r.ResponseHeaders = x.sent.unpack(), x.received.unpack()
	return r
}

func (x *exchange) size() int {
	return 800 + len(x.URL) + len(x.RequestBody) + len(x.StatusText) + len(x.FailureText) + x.sent.size() +
		x.received.size()
}

// setResponse stores the status and headers of the response.
func (l *requestLog) setResponse(x *exchange, a networkResponse, at float64) {
	x.answered = at
	x.Status, x.StatusText = a.Status, cmp.Or(a.StatusText, http.StatusText(a.Status))
	ok := a.Status >= 200 && a.Status <= 299
	x.OK = &ok
	if x.received.names == "" {
		l.setReceived(x, a.Headers)
	}
	a.URL, a.StatusText, a.Headers = "", "", nil
	x.response = a
}

// setReceived stores the headers of the response.
func (l *requestLog) setReceived(x *exchange, headers map[string]string) {
	clean, truncated := cleanHeaders(headers)
	x.received, x.ResponseHeadersTruncated = l.pack(clean), truncated
}

// cleanHeaders redacts and limits headers, and reports whether some were omitted or truncated.
func cleanHeaders(headers map[string]string) (clean map[string]string, truncated bool) {
	clean = make(map[string]string, len(headers))
	left := maxHeaderBytes
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		if len(clean) == maxHeaders || left < len(name) {
			return clean, true
		}
		lower := strings.ToLower(name)
		value := redactHeader(lower, headers[name])
		left -= len(name)
		if len(value) > left {
			value, truncated = strings.ToValidUTF8(value[:left], ""), true
		}
		left -= len(value)
		clean[lower] = value
	}
	return clean, truncated
}

// Requests returns the tab's requests whose URL contains filter. If they exceed maxRequestsSize bytes the oldest are
// omitted. Dropped counts these and, whatever their URL, those not kept. With clear all are then discarded, including
// those in progress.
func (r *Recorder) Requests(t *page.Tab, filter string, clear bool) Kept[Request] {
	found := Kept[Request]{Entries: []Request{}}
	r.mu.Lock()
	if l := r.tabs[t]; l != nil {
		exchanges := l.requests.ring.read(clear)
		found.Dropped = exchanges.Dropped
		for _, x := range exchanges.Entries {
			if strings.Contains(x.URL, filter) {
				found.Entries = append(found.Entries, x.request())
			}
		}
	}
	r.mu.Unlock()
	size := 0
	for i, req := range slices.Backward(found.Entries) {
		data, err := json.Marshal(req)
		size += len(data) + 1
		if err != nil || size > maxHeaderEntries {
			return Kept[Request]{found.Entries[i+1:], found.Dropped + i + 1}
		}
	}
	return found
}

// maxHeaderEntries leaves room for the rest of an answer.
const maxHeaderEntries = maxRequestsSize - 4<<10
