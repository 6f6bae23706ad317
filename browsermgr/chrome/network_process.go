package chrome

import (
	"strings"
	"sync"
)

// networkRestarts tells when a browser starts its network process again. The DevTools protocol does not: each load that
// was under way fails as if it had been aborted.
type networkRestarts struct {
	mu   sync.Mutex
	next chan struct{} // nil until somebody waits
}

// handleLine looks at a line of Chromium's stderr.
func (n *networkRestarts) handleLine(line string) {
	if !strings.Contains(line, "Network service crashed or was terminated") {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.next != nil {
		close(n.next)
		n.next = nil
	}
}

func (n *networkRestarts) await() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.next == nil {
		n.next = make(chan struct{})
	}
	return n.next
}

// NetworkRestarted returns a channel that is closed when the browser next starts its network process again, because that
// has ended. Loads that were under way are lost then.
func (p *Process) NetworkRestarted() <-chan struct{} { return p.network.await() }
