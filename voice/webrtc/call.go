package webrtc

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"clank/voice"
)

// PageCall is one call with pages in it: a [voice.Line]. It ends when it is closed, when nobody has been there for a while, or with its
// [CallHost].
type PageCall struct {
	host    *CallHost
	queue   *eventQueue
	closing chan struct{} // it is to end
	work    sync.WaitGroup

	mu          sync.Mutex
	err         error
	ending      bool
	pages       map[string]*callPage // by the id of their person
	unreachable map[*callPage]bool   // pages that cannot be reached for now
	emptyTimer  *time.Timer          // runs while nobody is there
	notice      string               // JSON of the last notice, for pages that come later
	video       *sharedVideo         // what is shown; nil: nothing
	images      noteImages
}

var _ voice.Line = (*PageCall)(nil)

// sharedVideo is what pages are shown.
type sharedVideo struct {
	title  string
	frames func() FrameSource
}

func newPageCall(h *CallHost) *PageCall {
	c := &PageCall{host: h, queue: newEventQueue(), closing: make(chan struct{}), pages: make(map[string]*callPage), unreachable: make(map[*callPage]bool)}
	c.work.Go(func() { c.queue.pump(c.closing) })
	c.emptyTimer = time.AfterFunc(h.linger(), func() { c.finish(errCallEmpty) })
	return c
}

// Events implements [voice.Line].
func (c *PageCall) Events() <-chan voice.Event { return c.queue.events }

// Play implements [voice.Line]: all pages hear it.
func (c *PageCall) Play(opus []byte) error {
	return c.all(func(p *callPage) error { return p.conn.Play(opus) })
}

// EndSpeech implements [voice.Line].
func (c *PageCall) EndSpeech() error {
	return c.all(func(p *callPage) error { return p.conn.EndSpeech() })
}

// all does something for each page. It fails where no page could be reached.
func (c *PageCall) all(do func(*callPage) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	reached := false
	for _, p := range c.pages {
		reached = do(p) == nil || reached // why a page cannot be reached is told by its connection
	}
	if !reached {
		return voice.ErrUnavailable
	}
	return nil
}

// Err implements [voice.Line].
func (c *PageCall) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Close implements [voice.Line]. The pages are told that the call is over.
func (c *PageCall) Close(ctx context.Context) error {
	c.finish(nil)
	ended := make(chan struct{})
	go func() { c.work.Wait(); close(ended) }()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("close the call: it has not ended: %w", context.Cause(ctx))
	}
}

// finish ends the call for the given reason, nil for ours.
func (c *PageCall) finish(why error) {
	c.mu.Lock()
	if c.ending || errors.Is(why, errCallEmpty) && len(c.pages) > 0 {
		c.mu.Unlock()
		return
	}
	c.ending, c.err = true, why
	c.emptyTimer.Stop()
	pages := c.pages
	c.pages = nil
	c.mu.Unlock()
	c.host.forgetCall(c)
	text, end := "The call has ended.", errEnded
	if why != nil {
		text, end = "The call has ended: "+why.Error()+".", why
	}
	for _, p := range pages {
		p.sendMessage(pageUpdate{Type: "ended", Text: text}.encode())
		p.conn.End(end)
	}
	close(c.closing)
}

func (c *PageCall) isEnded() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ending
}

// addPage puts a page into the call that can be reached now; false: the call is over.
func (c *PageCall) addPage(p *callPage) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ending {
		return false
	}
	c.emptyTimer.Stop()
	before := c.pages[p.person.ID]
	first := c.reachablePages() == 0
	c.pages[p.person.ID] = p
	if before != nil {
		delete(c.unreachable, before)
		before.sendMessage(pageUpdate{Type: "ended", Text: "The call goes on in another page of yours."}.encode())
		before.conn.End(errOtherPage)
	}
	if first {
		c.queue.push(voice.Event{Kind: voice.Connected})
	}
	c.queue.push(voice.Event{Kind: voice.Joined, Person: p.person})
	if c.notice != "" {
		p.sendMessage(c.notice)
	}
	if c.video != nil {
		p.sendMessage(pageUpdate{Type: "share", On: true, Text: c.video.title}.encode())
		p.conn.ShowVideo(c.video.frames())
	}
	c.sendPeople()
	c.host.log().Info("somebody has joined the call", "person", p.person.ID, "people", len(c.pages))
	return true
}

// removePage takes a page out of the call whose connection has ended.
func (c *PageCall) removePage(p *callPage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.unreachable, p)
	if c.ending || c.pages[p.person.ID] != p {
		return
	}
	delete(c.pages, p.person.ID)
	c.queue.push(voice.Event{Kind: voice.Left, Person: p.person})
	c.sendPeople()
	if len(c.pages) == 0 {
		c.emptyTimer.Reset(c.host.linger())
	}
	c.host.log().Info("somebody has left the call", "person", p.person.ID, "people", len(c.pages))
}

// setReachable notes whether a page can be reached.
func (c *PageCall) setReachable(p *callPage, yes bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ending || c.pages[p.person.ID] != p {
		return
	}
	before := c.reachablePages()
	if yes {
		delete(c.unreachable, p)
	} else {
		c.unreachable[p] = true
	}
	switch after := c.reachablePages(); {
	case before == 0 && after > 0:
		c.queue.push(voice.Event{Kind: voice.Connected})
	case before > 0 && after == 0:
		c.queue.push(voice.Event{Kind: voice.Interrupted, Text: "the connection to the page is interrupted"})
	}
}

// reachablePages returns how many pages can be reached. The lock is held.
func (c *PageCall) reachablePages() int { return len(c.pages) - len(c.unreachable) }
