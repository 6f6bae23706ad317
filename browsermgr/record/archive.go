package record

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"clank/browsermgr/page"
)

// HAR returns what is kept of the tab's requests as an HTTP archive, without bodies of responses and without secrets.
func (r *Recorder) HAR(t *page.Tab) HARArchive {
	log := HARLog{Version: HARVersion, Creator: HARTool{Name: "clank", Version: "1"}, Pages: []HARPage{}, Entries: []HAREntry{}}
	title := t.Title()
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.tabs[t]
	if l == nil {
		return HARArchive{Log: log}
	}
	for _, x := range l.requests.ring.read(false) {
		log.Entries = append(log.Entries, x.entry(t.ID()))
	}
	if len(log.Entries) > 0 {
		log.Pages = append(log.Pages, HARPage{StartedDateTime: log.Entries[0].StartedDateTime, ID: t.ID(), Title: title})
	}
	return HARArchive{Log: log}
}

// entry returns the exchange as the archive has it.
func (x *exchange) entry(pageRef string) HAREntry {
	version := httpVersion(x.response.Protocol)
	e := HAREntry{
		PageRef: pageRef, StartedDateTime: x.Timestamp, ResourceType: x.ResourceType, ServerIPAddress: x.response.RemoteIPAddress,
		Request: HARRequest{
			Method: x.Method, URL: x.URL, HTTPVersion: version, Cookies: []HARPair{}, Headers: headerPairs(x.RequestHeaders),
			QueryString: queryPairs(x.URL), HeadersSize: -1, BodySize: len(x.RequestBody),
		},
		Response: HARResponse{
			Status: x.Status, StatusText: x.StatusText, HTTPVersion: version, Cookies: []HARPair{}, Headers: headerPairs(x.ResponseHeaders),
			RedirectURL: "", HeadersSize: -1, BodySize: -1, TransferSize: int(x.response.EncodedDataLength), Error: x.FailureText,
			Content: HARContent{Size: int(x.response.decoded), MimeType: x.response.MimeType},
		},
		Timings: x.timings(),
	}
	if x.Status >= 300 && x.Status <= 399 {
		e.Response.RedirectURL = x.ResponseHeaders["location"]
	}
	e.Response.Content.MimeType = cmp.Or(e.Response.Content.MimeType, "x-unknown")
	switch {
	case x.RequestBody != "":
		e.Request.PostData = &HARPostData{MimeType: x.RequestHeaders["content-type"], Params: []HARPair{}, Text: x.RequestBody}
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

// httpVersion names Chromium's protocol as HAR does.
func httpVersion(protocol string) string {
	switch protocol {
	case "h2", "h3":
		return "HTTP/" + protocol[1:] + ".0"
	case "http/1.0":
		return "HTTP/1.0"
	}
	return "HTTP/1.1"
}

// headerPairs lists headers by name. Several of one name are joined by line breaks, as Chromium tells them, and become several.
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

// timings returns the parts of the exchange in milliseconds.
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
	if c.SSLEnd >= 0 && c.SSLStart >= 0 {
		t.SSL = c.SSLEnd - c.SSLStart
	}
	t.Blocked = max(start-began+c.SendStart-max(t.DNS, 0)-max(t.Connect, 0), 0)
	t.Send = max(c.SendEnd-c.SendStart, 0)
	t.Wait = max(c.ReceiveHeadersEnd-c.SendEnd, 0)
	t.Receive = max(ended-start-c.ReceiveHeadersEnd, 0)
	return t
}
