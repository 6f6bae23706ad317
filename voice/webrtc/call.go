package webrtc

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"clank/cancel"
	"clank/llm"
	"clank/voice"
)

// PageCall is one call of pages; it implements [voice.Line]. It ends when it is closed, when it has been empty for a
// while, or with its [CallHost].
type PageCall struct {
	host    *CallHost
	queue   *voice.EventQueue
	closing chan struct{} // it is to end
	work    sync.WaitGroup

	mu          sync.Mutex
	err         error
	ending      bool
	pages       map[string]*callPage // by the id of their person
	unreachable map[*callPage]bool   // pages that cannot be reached for now
	emptyTimer  *time.Timer          // runs while the call is empty
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
	c := &PageCall{
		host: h, queue: voice.NewEventQueue(), closing: make(chan struct{}), pages: make(map[string]*callPage),
		unreachable: make(map[*callPage]bool),
	}
	c.work.Go(func() { c.queue.Run(c.closing) })
	c.emptyTimer = time.AfterFunc(h.linger(), func() { c.finish(errCallEmpty) })
	return c
}

// Events implements [voice.Line].
func (c *PageCall) Events() <-chan voice.Event { return c.queue.Events }

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
		reached = do(p) == nil || reached // its connection reports why a page cannot be reached
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

// Close implements [voice.Line]. It tells the pages that the call is over.
func (c *PageCall) Close(ctx context.Context) error {
	c.finish(nil)
	if err := cancel.WaitFor(ctx, &c.work); err != nil {
		return fmt.Errorf("close the call: it has not ended: %w", err)
	}
	return nil
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
		c.queue.Push(voice.Event{Kind: voice.Connected})
	}
	c.queue.Push(voice.Event{Kind: voice.Joined, Person: p.person})
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

// removePage removes a page whose connection has ended. An empty call is no interruption; a call with only unreachable
// pages is one.
func (c *PageCall) removePage(p *callPage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ending || c.pages[p.person.ID] != p {
		delete(c.unreachable, p)
		return
	}
	reached := !c.unreachable[p]
	delete(c.unreachable, p)
	delete(c.pages, p.person.ID)
	c.queue.Push(voice.Event{Kind: voice.Left, Person: p.person})
	c.sendPeople()
	switch {
	case len(c.pages) == 0:
		c.emptyTimer.Reset(c.host.linger())
	case reached && c.reachablePages() == 0:
		c.pushInterrupted()
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
		c.queue.Push(voice.Event{Kind: voice.Connected})
	case before > 0 && after == 0:
		c.pushInterrupted()
	}
}

func (c *PageCall) pushInterrupted() {
	c.queue.Push(voice.Event{Kind: voice.Interrupted, Text: "the connection to the page is interrupted"})
}

// reachablePages returns how many pages can be reached. The lock is held.
func (c *PageCall) reachablePages() int { return len(c.pages) - len(c.unreachable) }

var errEnded = errors.New("the call has ended")

// NoteKind is the kind of a [Note].
type NoteKind string

// The kinds of note.
const (
	// what everybody must know: that we listen, and how to be left out. Pages that come later get the last one
	NoticeNote NoteKind = "notice"
	SpokenNote NoteKind = "said"   // what we say
	HeardNote  NoteKind = "heard"  // what we have understood; From is the speaker
	StatusNote NoteKind = "status" // what we are at; replaces the one before; empty: nothing
	ChatNote   NoteKind = "chat"   // what should be read rather than heard: addresses, lists, pictures
)

// Note is something to read on the pages of a call.
type Note struct {
	Kind   NoteKind
	From   string
	Text   string
	Images []llm.Image // image/png, image/jpeg or image/webp; at most four are shown
}

// pageUpdate is a message to a page's script.
type pageUpdate struct {
	Type   string       `json:"type"`
	Text   string       `json:"text,omitempty"`
	From   string       `json:"from,omitempty"`
	On     bool         `json:"on,omitempty"`
	People []pageMember `json:"people,omitempty"`
	Images []string     `json:"images,omitempty"` // where the pictures are, below what serves the host
	Alts   []string     `json:"alts,omitempty"`   // what they show
}

type pageMember struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

const (
	maxNoteText   = 8000 // characters of a note
	maxNoteImages = 4    // pictures in one
	maxKeptImages = 12   // pictures that can still be had
)

func (t pageUpdate) encode() string {
	data, _ := json.Marshal(t) // strings always marshal
	return string(data)
}

// Write shows a note on all pages.
func (c *PageCall) Write(n Note) {
	text := []rune(n.Text)
	t := pageUpdate{Type: string(n.Kind), From: n.From, Text: string(text[:min(len(text), maxNoteText)])}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, im := range n.Images[:min(len(n.Images), maxNoteImages)] {
		t.Images, t.Alts = append(t.Images, "pictures/"+c.images.add(im)), append(t.Alts, im.Caption)
	}
	line := t.encode()
	if n.Kind == NoticeNote {
		c.notice = line
	}
	for _, p := range c.pages {
		p.sendMessage(line)
	}
}

// Show shows video on all pages, including those that join later, and replaces what was shown before. frames opens one
// view of it.
func (c *PageCall) Show(title string, frames func() FrameSource) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.video = &sharedVideo{title, frames}
	for _, p := range c.pages {
		p.sendMessage(pageUpdate{Type: "share", On: true, Text: title}.encode())
		p.conn.ShowVideo(frames())
	}
}

// StopShowing ends the showing.
func (c *PageCall) StopShowing() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.video = nil
	for _, p := range c.pages {
		p.sendMessage(pageUpdate{Type: "share"}.encode())
		p.conn.ShowVideo(nil)
	}
}

// People returns the people in the call, sorted by name.
func (c *PageCall) People() []voice.Person {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.people()
}

func (c *PageCall) people() []voice.Person {
	people := make([]voice.Person, 0, len(c.pages))
	for _, p := range c.pages {
		people = append(people, p.person)
	}
	slices.SortFunc(people, func(a, b voice.Person) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
	return people
}

// sendPeople sends the people in the call to all pages. The caller holds the lock.
func (c *PageCall) sendPeople() {
	t := pageUpdate{Type: "people"}
	for _, p := range c.people() {
		t.People = append(t.People, pageMember{p.ID, p.Name})
	}
	line := t.encode()
	for _, p := range c.pages {
		p.sendMessage(line)
	}
}

// noteImages are the pictures of notes that pages can still ask for.
type noteImages struct {
	next   int
	images map[string]llm.Image
}

// add keeps a picture, and returns under which name.
func (s *noteImages) add(im llm.Image) string {
	if s.images == nil {
		s.images = make(map[string]llm.Image)
	}
	delete(s.images, strconv.Itoa(s.next-maxKeptImages))
	name := strconv.Itoa(s.next)
	s.images[name] = im
	s.next++
	return name
}

// callPage is one page in a call, or about to be.
type callPage struct {
	host   *CallHost
	person voice.Person

	conn *Conn // set before the page is known to anybody else

	mu    sync.Mutex
	call  *PageCall // it has joined
	muted bool
}

func (p *callPage) handleUp(conn *Conn) {
	p.mu.Lock()
	first := p.call == nil
	if first {
		p.conn = conn
		p.call = p.host.currentOrNew()
	}
	call := p.call
	p.mu.Unlock()
	switch {
	case call == nil || first && !call.addPage(p):
		conn.End(errClosing)
	case !first:
		call.setReachable(p, true)
	}
}

func (p *callPage) handleDown() {
	if call := p.currentCall(); call != nil {
		call.setReachable(p, false)
	}
}

func (p *callPage) handleLeft() {
	if call := p.currentCall(); call != nil {
		call.removePage(p)
	}
}

func (p *callPage) currentCall() *PageCall {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.call
}

func (p *callPage) handlePacket(packet voice.Packet) {
	p.mu.Lock()
	call, muted := p.call, p.muted
	p.mu.Unlock()
	if call == nil || muted {
		return
	}
	packet.From = p.person.ID
	call.queue.Push(voice.Event{Kind: voice.PacketReceived, Packet: packet})
}

// pageCommand is what a page's script asks for.
type pageCommand struct {
	Type string `json:"type"` // stop, share, mute, leave
	On   bool   `json:"on"`
}

func (p *callPage) handleMessage(data []byte) {
	var w pageCommand
	call := p.currentCall()
	if call == nil || json.Unmarshal(data, &w) != nil {
		return // not sent by a page of ours
	}
	switch w.Type {
	case "stop":
		p.host.Calls.Stop(call, p.person)
	case "share":
		p.host.Calls.Share(call, p.person, w.On)
	case "mute":
		p.mu.Lock()
		p.muted = w.On
		p.mu.Unlock()
	case "leave":
		p.conn.End(ErrPageLeft)
	}
}

// sendMessage sends a message to the page's script. It disconnects a page that does not read.
func (p *callPage) sendMessage(text string) {
	if err := p.conn.SendMessage(text); err != nil {
		p.conn.End(err)
	}
}
