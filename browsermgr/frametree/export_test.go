package frametree

import "clank/browsermgr/frame"

// AskNobody has a question about a process open that is never answered.
func (t *Tree) AskNobody(host *frame.Frame) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lodging(host).asked++
}
