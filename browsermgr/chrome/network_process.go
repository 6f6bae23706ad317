package chrome

import (
	"strings"
	"sync"
)

// networkRestarts detects from stderr when a browser restarts its network process. CDP has no event for that: loads in
// progress fail as if they had been aborted.
type networkRestarts struct {
	mu   sync.Mutex
	next chan struct{} // nil until a caller waits
}

// handleLine examines a line of Chromium's stderr.
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

// NetworkRestarted returns a channel that is closed the next time the browser's network process has ended and is
// restarted. Loads in progress are lost then.
func (p *Process) NetworkRestarted() <-chan struct{} { return p.network.await() }
