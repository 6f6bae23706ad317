package browsermgr

import (
	"strconv"
	"strings"
	"sync/atomic"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

// tabNumbers remembers the highest tab number, so that none is given twice while the program runs. It is a [page.Observer].
type tabNumbers struct{ last atomic.Int64 }

// Next returns the number of the next tab.
func (n *tabNumbers) Next() int { return int(n.last.Load()) + 1 }

// Attach implements page.Observer.
func (n *tabNumbers) Attach(t *page.Tab, _ *frame.Frame) []proto.Request {
	if number, err := strconv.ParseInt(strings.TrimPrefix(t.ID(), "t"), 10, 64); err == nil && number > n.last.Load() {
		n.last.Store(number)
	}
	return nil
}

// Event implements page.Observer.
func (*tabNumbers) Event(*page.Tab, *frame.Frame, cdp.Event) {}
