package record

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"clank/browsermgr/page"
)

// TestTabsThatReportALotTakeNoRoomFromOthers fills the logs of many tabs.
func TestTabsThatReportALotTakeNoRoomFromOthers(t *testing.T) {
	r := NewRecorder()
	add := func(messages, size int) *page.Tab {
		tab := &page.Tab{}
		l := newTabLog()
		for n := range messages {
			l.console.add(consoleMessage{params: json.RawMessage(strings.Repeat("x", size))})
			networkEvents["Network.requestWillBeSent"](&l.requests, &networkEvent{RequestID: strconv.Itoa(n)})
		}
		r.tabs[tab] = l
		r.trim()
		return tab
	}
	small := add(3, 10)
	var last *page.Tab
	for range 40 {
		last = add(200, 20_000)
	}
	total := 0
	for _, l := range r.tabs {
		total += l.used()
	}
	if total > totalBudget || total < totalBudget/4 {
		t.Errorf("%d bytes are kept, want at most %d and not much less", total, totalBudget)
	}
	if got := len(r.Console(small, "", false)); got != 3 {
		t.Errorf("%d messages of the small tab are kept, want 3", got)
	}
	if got := len(r.Console(last, "", false)); got < 20 {
		t.Errorf("%d messages of the last tab are kept", got)
	}
	if l := r.tabs[last]; len(l.requests.chains) != len(l.requests.ring.items) {
		t.Errorf("%d chains for %d requests", len(l.requests.chains), len(l.requests.ring.items))
	}
}
