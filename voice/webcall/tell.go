package webcall

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"clank/voice"
	"clank/voice/rtc"
)

var errEnded = errors.New("the call has ended")

// Kind says what a [Note] is.
type Kind string

// The kinds of note.
const (
	Notice Kind = "notice" // what everybody must know: that we listen, and how to be left out. Pages that come later get the last one
	Said   Kind = "said"   // what we say
	Heard  Kind = "heard"  // what we have understood; From is who said it
	Status Kind = "status" // what we are at; replaces the one before; empty: nothing
	Chat   Kind = "chat"   // what is better read than heard: addresses, lists, pictures
)

// Note is something to read on the pages of a call.
type Note struct {
	Kind   Kind
	From   string
	Text   string
	Images []Image // at most four are shown
}

// Image is a picture in a note.
type Image struct {
	MediaType string // image/png, image/jpeg or image/webp
	Data      []byte
}

// told is a message to a page's script.
type told struct {
	Type   string   `json:"type"`
	Text   string   `json:"text,omitempty"`
	From   string   `json:"from,omitempty"`
	On     bool     `json:"on,omitempty"`
	People []member `json:"people,omitempty"`
	Images []string `json:"images,omitempty"` // where the pictures are, below what serves the host
}

type member struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

const (
	maxText  = 8000 // characters of a note
	maxShown = 4    // pictures in one
	maxKept  = 12   // pictures that can still be had
)

func (t told) json() string {
	data, _ := json.Marshal(t) // strings always marshal
	return string(data)
}

// Write shows a note on all pages.
func (c *Call) Write(n Note) {
	text := []rune(n.Text)
	t := told{Type: string(n.Kind), From: n.From, Text: string(text[:min(len(text), maxText)])}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, im := range n.Images[:min(len(n.Images), maxShown)] {
		t.Images = append(t.Images, "pictures/"+c.images.keep(im))
	}
	line := t.json()
	if n.Kind == Notice {
		c.notice = line
	}
	for _, p := range c.pages {
		p.say(line)
	}
}

// Show shows pictures on all pages, also those that come later, instead of what was shown before. frames begins one look at them.
func (c *Call) Show(title string, frames func() rtc.Frames) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shown = &picture{title, frames}
	for _, p := range c.pages {
		p.say(told{Type: "share", On: true, Text: title}.json())
		p.conn.Show(frames())
	}
}

// Unshow ends the showing.
func (c *Call) Unshow() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shown = nil
	for _, p := range c.pages {
		p.say(told{Type: "share"}.json())
		p.conn.Show(nil)
	}
}

// People are those in the call, by name.
func (c *Call) People() []voice.Person {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.people()
}

func (c *Call) people() []voice.Person {
	people := make([]voice.Person, 0, len(c.pages))
	for _, p := range c.pages {
		people = append(people, p.person)
	}
	slices.SortFunc(people, func(a, b voice.Person) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return people
}

// tellPeople tells all pages who is there. The lock is held.
func (c *Call) tellPeople() {
	t := told{Type: "people"}
	for _, p := range c.people() {
		t.People = append(t.People, member{p.ID, p.Name})
	}
	line := t.json()
	for _, p := range c.pages {
		p.say(line)
	}
}

// images are the pictures of notes that pages can still ask for.
type images struct {
	next int
	kept map[string]Image
}

// keep keeps a picture, and returns under which name.
func (s *images) keep(im Image) string {
	if s.kept == nil {
		s.kept = make(map[string]Image)
	}
	delete(s.kept, strconv.Itoa(s.next-maxKept))
	name := strconv.Itoa(s.next)
	s.kept[name] = im
	s.next++
	return name
}
