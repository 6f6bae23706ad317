package record

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"clank/browsermgr/page"
)

// HARArchive is an HTTP archive (HAR 1.2).
type HARArchive struct {
	Log HARLog `json:"log"`
}

// HARLog holds the exchanges of one tab, oldest first.
type HARLog struct {
	Version string     `json:"version"` // always [harVersion]
	Creator HARTool    `json:"creator"`
	Browser *HARTool   `json:"browser,omitempty"`
	Pages   []HARPage  `json:"pages"`
	Entries []HAREntry `json:"entries"`
}

// harVersion is the version of the format.
const harVersion = "1.2"

// HARTool names a program and its version.
type HARTool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// HARPage is a page that entries refer to by id.
type HARPage struct {
	StartedDateTime string         `json:"startedDateTime"`
	ID              string         `json:"id"`
	Title           string         `json:"title"`
	PageTimings     HARPageTimings `json:"pageTimings"`
}

// HARPageTimings is empty: page loads are not timed.
type HARPageTimings struct{}

// HAREntry is one exchange. Without a response the status is 0 and Response.Error says why.
type HAREntry struct {
	PageRef         string      `json:"pageref,omitempty"`
	StartedDateTime string      `json:"startedDateTime"` // ISO 8601
	Time            float64     `json:"time"`
	Request         HARRequest  `json:"request"`
	Response        HARResponse `json:"response"`
	Cache           struct{}    `json:"cache"`
	Timings         HARTimings  `json:"timings"`
	ServerIPAddress string      `json:"serverIPAddress,omitempty"`
	ResourceType    string      `json:"_resourceType,omitempty"`
}

// HARRequest is a request.
type HARRequest struct {
	Method      string       `json:"method"`
	URL         string       `json:"url"`
	HTTPVersion string       `json:"httpVersion"`
	Cookies     []HARPair    `json:"cookies"`
	Headers     []HARPair    `json:"headers"`
	QueryString []HARPair    `json:"queryString"`
	PostData    *HARPostData `json:"postData,omitempty"`
	HeadersSize int          `json:"headersSize"`
	BodySize    int          `json:"bodySize"`
}

// HARPostData is the body of a request.
type HARPostData struct {
	MimeType string    `json:"mimeType"`
	Params   []HARPair `json:"params"`
	Text     string    `json:"text"`
}

// HARResponse is a response.
type HARResponse struct {
	Status       int        `json:"status"`
	StatusText   string     `json:"statusText"`
	HTTPVersion  string     `json:"httpVersion"`
	Cookies      []HARPair  `json:"cookies"`
	Headers      []HARPair  `json:"headers"`
	Content      HARContent `json:"content"`
	RedirectURL  string     `json:"redirectURL"`
	HeadersSize  int        `json:"headersSize"`
	BodySize     int        `json:"bodySize"`
	TransferSize int        `json:"_transferSize"`
	Error        string     `json:"_error,omitempty"`
}

// HARContent describes the body of a response.
type HARContent struct {
	Size     int    `json:"size"`
	MimeType string `json:"mimeType"`
	File     string `json:"_file,omitempty"` // file name of the body in a trace
}

// HARTimings holds the phases of an exchange in milliseconds. Wait and Receive are always set.
type HARTimings struct {
	Blocked float64 `json:"blocked"`
	DNS     float64 `json:"dns"`
	Connect float64 `json:"connect"`
	SSL     float64 `json:"ssl"`
	Send    float64 `json:"send"`
	Wait    float64 `json:"wait"`
	Receive float64 `json:"receive"`
}

// HARPair is a header, a cookie or a query parameter.
type HARPair struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// HAR returns the recorded requests of the tab as an HTTP archive, without response bodies and secrets.
func (r *Recorder) HAR(t *page.Tab) HARArchive {
	log := HARLog{
		Version: harVersion, Creator: HARTool{Name: "clank", Version: "1"}, Pages: []HARPage{},
		Entries: []HAREntry{},
	}
	title := t.Title()
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.tabs[t]
	if l == nil {
		return HARArchive{Log: log}
	}
	for _, x := range l.requests.ring.read(false).Entries {
		log.Entries = append(log.Entries, x.entry(t.ID()))
	}
	if len(log.Entries) > 0 {
		log.Pages = append(log.Pages, HARPage{StartedDateTime: log.Entries[0].StartedDateTime, ID: t.ID(), Title: title})
	}
	return HARArchive{Log: log}
}

// entry returns the HAR entry of the exchange.
func (x *exchange) entry(pageRef string) HAREntry {
	sent, received := x.sent.unpack(), x.received.unpack()
	version := httpVersion(x.response.Protocol)
	e := HAREntry{
		PageRef: pageRef, StartedDateTime: x.Timestamp, ResourceType: x.ResourceType,
		ServerIPAddress: x.response.RemoteIPAddress,
		Request: HARRequest{
			Method: x.Method, URL: x.URL, HTTPVersion: version, Cookies: []HARPair{}, Headers: headerPairs(sent),
			QueryString: queryPairs(x.URL), HeadersSize: -1, BodySize: len(x.RequestBody),
		},
		Response: HARResponse{
			Status: x.Status, StatusText: x.StatusText, HTTPVersion: version, Cookies: []HARPair{},
			Headers:     headerPairs(received),
			RedirectURL: "", HeadersSize: -1, BodySize: -1, TransferSize: int(x.response.EncodedDataLength),
			Error:   x.FailureText,
			Content: HARContent{Size: int(x.response.decoded), MimeType: x.response.MimeType},
		},
		Timings: x.timings(),
	}
	if x.Status >= 300 && x.Status <= 399 {
		e.Response.RedirectURL = received["location"]
	}
	e.Response.Content.MimeType = cmp.Or(e.Response.Content.MimeType, "x-unknown")
	switch {
	case x.RequestBody != "":
		e.Request.PostData = &HARPostData{
			MimeType: sent["content-type"], Params: []HARPair{},
			Text: x.RequestBody,
		}
	case x.RequestBodyOmitted:
		e.Request.BodySize = -1
	}
	for _, part := range []float64{
		e.Timings.Blocked, e.Timings.DNS, e.Timings.Connect, e.Timings.Send, e.Timings.Wait, e.Timings.Receive,
	} {
		e.Time += max(part, 0) // SSL is part of Connect
	}
	return e
}

// httpVersion converts Chromium's protocol name to HAR's.
func httpVersion(protocol string) string {
	switch protocol {
	case "h2", "h3":
		return "HTTP/" + protocol[1:] + ".0"
	case "http/1.0":
		return "HTTP/1.0"
	}
	return "HTTP/1.1"
}

// headerPairs lists headers by name. Several with one name, which Chromium joins by line breaks, become separate pairs.
func headerPairs(headers map[string]string) []HARPair {
	list := []HARPair{}
	for name, joined := range headers {
		for value := range strings.SplitSeq(joined, "\n") {
			list = append(list, HARPair{Name: name, Value: value})
		}
	}
	slices.SortStableFunc(list, func(a, b HARPair) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func queryPairs(address string) []HARPair {
	list := []HARPair{}
	u, err := url.Parse(address)
	if err != nil || u.RawQuery == "" {
		return list
	}
	for part := range strings.SplitSeq(u.RawQuery, "&") {
		name, value, _ := strings.Cut(part, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
		if plain, err := url.QueryUnescape(value); err == nil {
			value = plain
		}
		list = append(list, HARPair{Name: name, Value: value})
	}
	return list
}

// timings returns the phases of the exchange in milliseconds.
func (x *exchange) timings() HARTimings {
	t := HARTimings{Blocked: -1, DNS: -1, Connect: -1, SSL: -1}
	began, answered, ended := x.began*1000, x.answered*1000, x.ended*1000
	if ended == 0 {
		ended = max(answered, began)
	}
	if answered == 0 {
		t.Wait = max(ended-began, 0)
		return t
	}
	c := x.response.Timing
	if c == nil || c.RequestTime == 0 {
		t.Wait, t.Receive = max(answered-began, 0), max(ended-answered, 0)
		return t
	}
	start := c.RequestTime * 1000
	if c.DNSEnd >= 0 && c.DNSStart >= 0 {
		t.DNS = c.DNSEnd - c.DNSStart
	}
	if c.ConnectEnd >= 0 && c.ConnectStart >= 0 {
		t.Connect = c.ConnectEnd - c.ConnectStart
	}
	if c.SslEnd >= 0 && c.SslStart >= 0 {
		t.SSL = c.SslEnd - c.SslStart
	}
	t.Blocked = max(start-began+c.SendStart-max(t.DNS, 0)-max(t.Connect, 0), 0)
	t.Send = max(c.SendEnd-c.SendStart, 0)
	t.Wait = max(c.ReceiveHeadersEnd-c.SendEnd, 0)
	t.Receive = max(ended-start-c.ReceiveHeadersEnd, 0)
	return t
}
