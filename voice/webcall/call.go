package webcall

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"clank/voice"
	"clank/voice/rtc"
)

// Call is one call with pages in it: a [voice.Line]. It ends when it is closed, when nobody has been there for a while, or with its
// [Host].
type Call struct {
	host  *Host
	queue *queue
	gone  chan struct{} // it is to end
	work  sync.WaitGroup

	mu     sync.Mutex
	err    error
	ending bool
	pages  map[string]*page // by the id of their person
	silent map[*page]bool   // pages that cannot be reached for now
	empty  *time.Timer      // runs while nobody is there
	notice string           // JSON of the last notice, for pages that come later
	shown  *picture         // what is shown; nil: nothing
	images images
}

var _ voice.Line = (*Call)(nil)

// picture is what pages are shown.
type picture struct {
	title  string
	frames func() rtc.Frames
}

func newCall(h *Host) *Call {
	c := &Call{host: h, queue: newQueue(), gone: make(chan struct{}), pages: make(map[string]*page), silent: make(map[*page]bool)}
	c.work.Go(func() { c.queue.pump(c.gone) })
	c.empty = time.AfterFunc(h.linger(), func() { c.finish(errEmpty) })
	return c
}

// Events implements [voice.Line].
func (c *Call) Events() <-chan voice.Event { return c.queue.out }

// Play implements [voice.Line]: all pages hear it.
func (c *Call) Play(opus []byte) error {
	return c.all(func(p *page) error { return p.conn.Play(opus) })
}

// Hush implements [voice.Line].
func (c *Call) Hush() error { return c.all(func(p *page) error { return p.conn.Hush() }) }

// all does something for each page. It fails where no page could be reached.
func (c *Call) all(do func(*page) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	reached := false
	for _, p := range c.pages {
		reached = do(p) == nil || reached // why a page cannot be reached is told by its connection
	}
	if !reached {
		return voice.ErrMute
	}
	return nil
}

// Err implements [voice.Line].
func (c *Call) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Close implements [voice.Line]. The pages are told that the call is over.
func (c *Call) Close(ctx context.Context) error {
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
func (c *Call) finish(why error) {
	c.mu.Lock()
	if c.ending || errors.Is(why, errEmpty) && len(c.pages) > 0 {
		c.mu.Unlock()
		return
	}
	c.ending, c.err = true, why
	c.empty.Stop()
	pages := c.pages
	c.pages = nil
	c.mu.Unlock()
	c.host.ended(c)
	text, end := "The call has ended.", errEnded
	if why != nil {
		text, end = "The call has ended: "+why.Error()+".", why
	}
	for _, p := range pages {
		p.say(told{Type: "ended", Text: text}.json())
		p.conn.End(end)
	}
	close(c.gone)
}

func (c *Call) over() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ending
}

// join puts a page into the call that can be reached now; false: the call is over.
func (c *Call) join(p *page) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ending {
		return false
	}
	c.empty.Stop()
	before := c.pages[p.person.ID]
	first := c.heardBy() == 0
	c.pages[p.person.ID] = p
	if before != nil {
		delete(c.silent, before)
		before.say(told{Type: "ended", Text: "The call goes on in another page of yours."}.json())
		before.conn.End(errReplaced)
	}
	if first {
		c.queue.push(voice.Event{Kind: voice.Connected})
	}
	c.queue.push(voice.Event{Kind: voice.Joined, Person: p.person})
	if c.notice != "" {
		p.say(c.notice)
	}
	if c.shown != nil {
		p.say(told{Type: "share", On: true, Text: c.shown.title}.json())
		p.conn.Show(c.shown.frames())
	}
	c.tellPeople()
	c.host.log().Info("somebody has joined the call", "person", p.person.ID, "people", len(c.pages))
	return true
}

// leave takes a page out of the call whose connection has ended.
func (c *Call) leave(p *page) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.silent, p)
	if c.ending || c.pages[p.person.ID] != p {
		return
	}
	delete(c.pages, p.person.ID)
	c.queue.push(voice.Event{Kind: voice.Left, Person: p.person})
	c.tellPeople()
	if len(c.pages) == 0 {
		c.empty.Reset(c.host.linger())
	}
	c.host.log().Info("somebody has left the call", "person", p.person.ID, "people", len(c.pages))
}

// reachable notes whether a page can be reached.
func (c *Call) reachable(p *page, yes bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ending || c.pages[p.person.ID] != p {
		return
	}
	before := c.heardBy()
	if yes {
		delete(c.silent, p)
	} else {
		c.silent[p] = true
	}
	switch after := c.heardBy(); {
	case before == 0 && after > 0:
		c.queue.push(voice.Event{Kind: voice.Connected})
	case before > 0 && after == 0:
		c.queue.push(voice.Event{Kind: voice.Trouble, Text: "the connection to the page is interrupted"})
	}
}

// heardBy is how many pages can be reached. The lock is held.
func (c *Call) heardBy() int { return len(c.pages) - len(c.silent) }
