package record

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"
	"clank/internal/test/check"
)

// TestTabsThatReportALotTakeNoRoomFromOthers fills the logs of many tabs in two browsers.
func TestTabsThatReportALotTakeNoRoomFromOthers(t *testing.T) {
	var store Store
	recorders := []*Recorder{store.NewRecorder(), store.NewRecorder()}
	add := func(r *Recorder, messages, size int) *page.Tab {
		tab := &page.Tab{}
		l := newTabLog(&store.used)
		r.tabs[tab] = l
		for n := range messages {
			networkEvents["Network.requestWillBeSent"](&l.requests, &networkEvent{RequestID: strconv.Itoa(n)})
			r.Event(tab, nil, cdp.Event{
				Method: "Log.entryAdded", Params: fmt.Appendf(nil, `{"entry":{"text":"%s"}}`, strings.Repeat("x", size)),
			})
		}
		return tab
	}
	small := add(recorders[0], 3, 10)
	first := add(recorders[0], 130, 31_000)
	var last *page.Tab
	for n := range 24 {
		last = add(recorders[n%2], 130, 31_000)
	}
	used := func() (total int) {
		for _, r := range recorders {
			for _, l := range r.tabs {
				total += l.used()
			}
		}
		return total
	}
	if total := used(); total > totalBudget || total < totalBudget/4 || total != int(store.used.Load()) {
		t.Errorf("%d bytes are kept, %d are counted, want at most %d and not much less", total, store.used.Load(),
			totalBudget)
	}
	for _, tt := range []struct {
		name           string
		got            Kept[ConsoleEntry]
		written, least int
	}{
		{"small", recorders[0].Console(small, "", false), 3, 3},
		{"first", recorders[0].Console(first, "", false), 130, 20},
		{"last", recorders[1].Console(last, "", false), 130, 20},
	} {
		if n := len(tt.got.Entries); n < tt.least || n+tt.got.Dropped != tt.written {
			t.Errorf("of the %s tab %d messages are kept and %d dropped", tt.name, n, tt.got.Dropped)
		}
	}
	if l := recorders[1].tabs[last]; len(l.requests.chains) != len(l.requests.ring.items) {
		t.Errorf("%d chains for %d requests", len(l.requests.chains), len(l.requests.ring.items))
	}
	check.Must(t, recorders[1].Close())
	if total := used(); total == 0 || total != int(store.used.Load()) || len(store.recorders) != 1 {
		t.Errorf("%d bytes are kept in %d browsers, %d are counted", total, len(store.recorders), store.used.Load())
	}
	check.Must(t, recorders[0].Close())
	check.Equal(t, "bytes counted", store.used.Load(), 0)
}
