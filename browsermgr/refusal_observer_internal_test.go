package browsermgr

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"
)

// noted are the refusals reported for one tab.
type noted []string

func (n *noted) AttributeRefusal(_, _, address string, document bool) {
	*n = append(*n, fmt.Sprint(address, " ", document))
}

func event(method, params string) cdp.Event {
	return cdp.Event{Session: "S", Method: "Network." + method, Params: json.RawMessage(params)}
}

const (
	refusal = `{"requestId":"1","headers":{"x-clank-refused":"host-blocked"},"response":{"headers":{"x-clank-refused":"host-blocked"}}}`
	crossed = `{"requestId":"1","errorText":"net::ERR_FAILED","corsErrorStatus":{"corsError":"MissingAllowOriginHeader"}}`
)

func TestRefusalsAreToldOnceInWhateverOrderChromiumTells(t *testing.T) {
	tab := new(page.Tab)
	sent := event("requestWillBeSent", `{"requestId":"1","type":"Fetch","request":{"url":"http://a.test/"}}`)
	extra, received, failed := event("responseReceivedExtraInfo", refusal), event("responseReceived", refusal),
		event("loadingFailed", crossed)
	for name, order := range map[string][]cdp.Event{
		"in order":                {sent, extra, received},
		"headers alone":           {sent, extra, failed},
		"headers after the end":   {sent, failed, extra},
		"headers before all else": {extra, sent, failed},
		"headers first and again": {extra, sent, received, event("loadingFinished", `{"requestId":"1"}`)},
		"no connection": {
			sent,
			event("loadingFailed", `{"requestId":"1","errorText":"net::ERR_TUNNEL_CONNECTION_FAILED"}`),
		},
	} {
		var got noted
		w := newRefusalObserver(&got, "clank")
		for _, ev := range order {
			w.Event(tab, nil, ev)
		}
		if want := []string{"http://a.test/ false"}; !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func TestWhatIsNoRefusalIsNotTold(t *testing.T) {
	tab := new(page.Tab)
	var got noted
	w := newRefusalObserver(&got, "clank")
	for _, ev := range []cdp.Event{
		event("requestWillBeSent", `{"requestId":"1","type":"Document","request":{"url":"http://a.test/"}}`),
		event("responseReceivedExtraInfo", `{"requestId":"1","headers":{"server":"x"}}`),
		event("loadingFailed", `{"requestId":"1","errorText":"net::ERR_ABORTED"}`),
		event("responseReceivedExtraInfo", refusal), // of a request that has ended
		event("loadingFailed", `{"requestId":"2","errorText":"net::ERR_TUNNEL_CONNECTION_FAILED"}`),
		event("requestWillBeSent", `garbage`), event("loadingFailed", `[]`), event("responseReceived", `{"headers":1}`),
	} {
		w.Event(tab, nil, ev)
	}
	if len(got) > 0 {
		t.Errorf("got %q", got)
	}
}

func TestRequestsWithoutAnEndAreForgotten(t *testing.T) {
	tab := new(page.Tab)
	var got noted
	w := newRefusalObserver(&got, "clank")
	for i := range 1000 {
		id := fmt.Sprintf(`{"requestId":"r%d","type":"Fetch","request":{"url":"http://a.test/"},"errorText":"net::ERR_FAILED","corsErrorStatus":{},"headers":{"X-Clank-Refused":"x"}}`, i)
		w.Event(tab, nil, event("requestWillBeSent", id))
		w.Event(tab, nil, event("loadingFailed", id))
	}
	w.Event(tab, nil, event("responseReceivedExtraInfo", `{"requestId":"r0","headers":{"X-Clank-Refused":"x"}}`))
	if len(got) > 0 {
		t.Error("the first of a thousand is still known")
	}
	w.Event(tab, nil, event("responseReceivedExtraInfo", `{"requestId":"r999","headers":{"X-Clank-Refused":"x"}}`))
	if len(got) != 1 {
		t.Errorf("the last of a thousand is not known: %q", got)
	}
}
