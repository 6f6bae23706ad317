package page

import "clank/browsermgr/page/frame"

// AddOpenRequest has a question about a process open that is never answered.
func (t *FrameTree) AddOpenRequest(host *frame.Frame) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.crossOriginIn(host).requested++
}
