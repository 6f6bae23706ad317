package webrtc

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"clank/llm"
	"clank/voice"
)

var errEnded = errors.New("the call has ended")

// NoteKind says what a [Note] is.
type NoteKind string

// The kinds of note.
const (
	NoticeNote NoteKind = "notice" // what everybody must know: that we listen, and how to be left out. Pages that come later get the last one
	SpokenNote NoteKind = "said"   // what we say
	HeardNote  NoteKind = "heard"  // what we have understood; From is who said it
	StatusNote NoteKind = "status" // what we are at; replaces the one before; empty: nothing
	ChatNote   NoteKind = "chat"   // what is better read than heard: addresses, lists, pictures
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
		t.Images = append(t.Images, "pictures/"+c.images.add(im))
	}
	line := t.encode()
	if n.Kind == NoticeNote {
		c.notice = line
	}
	for _, p := range c.pages {
		p.sendMessage(line)
	}
}

// Show shows pictures on all pages, also those that come later, instead of what was shown before. frames begins one look at them.
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
	slices.SortFunc(people, func(a, b voice.Person) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return people
}

// sendPeople tells all pages who is there. The lock is held.
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
