// Package tabset keeps the tabs of one window: which there are, which is the current one, and what has happened to them
// that is still to be told. It opens, closes and asks none.
package tabset

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"clank/browsermgr/page"
)

// Set is the tabs of one window. The zero value is empty. Its owner guards it: it is not safe for concurrent use.
type Set struct {
	tabs    []*page.Tab
	visited []*page.Tab // in the order in which they were last current; the last one is current
	last    string      // where the last tab was when it went
	news    []string
}

// Add makes a tab of the window's the current one.
func (s *Set) Add(tab *page.Tab) {
	if !s.Has(tab) {
		s.tabs = append(s.tabs, tab)
	}
	s.Visit(tab)
}

// Visit makes one of the tabs the current one.
func (s *Set) Visit(tab *page.Tab) {
	s.visited = append(slices.DeleteFunc(s.visited, func(t *page.Tab) bool { return t == tab }), tab)
}

// Has reports whether it is one of the tabs.
func (s *Set) Has(tab *page.Tab) bool { return slices.Contains(s.tabs, tab) }

// All are the tabs, as they were added.
func (s *Set) All() []*page.Tab { return slices.Clone(s.tabs) }

// Current is the current tab, or nil if none is left. Tabs that are gone are passed over; Drop is still to be called for
// them.
func (s *Set) Current() *page.Tab {
	for len(s.visited) > 0 {
		tab := s.visited[len(s.visited)-1]
		if !errors.Is(tab.Err(), page.ErrTabGone) {
			return tab
		}
		s.visited = s.visited[:len(s.visited)-1]
		s.last = tab.URL()
	}
	return nil
}

// Drop forgets a tab that was closed, and has that told. The one that was current before it is current again.
func (s *Set) Drop(tab *page.Tab) {
	if !s.Has(tab) {
		return
	}
	was := s.shown() == tab
	isTab := func(t *page.Tab) bool { return t == tab }
	s.tabs = slices.DeleteFunc(s.tabs, isTab)
	s.visited = slices.DeleteFunc(s.visited, isTab)
	if len(s.visited) == 0 {
		s.last = tab.URL()
		s.Tell("the last tab was closed: " + Line(tab))
		return
	}
	text := "a tab was closed: " + Line(tab)
	if was {
		text += "; the current one is " + Line(s.shown())
	}
	s.Tell(text)
}

// Lose forgets all tabs: their browser is gone. Where the current one was is remembered.
func (s *Set) Lose() {
	if n := len(s.tabs); n > 1 {
		s.Tell(fmt.Sprintf("%d other tabs were closed with the browser", n-1))
	}
	if tab := s.shown(); tab != nil {
		s.last = tab.URL()
	}
	s.Clear()
}

// Clear forgets all tabs.
func (s *Set) Clear() { s.tabs, s.visited = nil, nil }

// shown is the current tab, be it gone or not.
func (s *Set) shown() *page.Tab {
	if len(s.visited) == 0 {
		return nil
	}
	return s.visited[len(s.visited)-1]
}

// Start sets where the window is while it has no tab.
func (s *Set) Start(url string) { s.last = url }

// Last is where a window without a tab opens again.
func (s *Set) Last() string { return s.last }

// State is the address and title of the current page, and a line for each tab, the current one's beginning with "*".
// Without tabs it is the address at which the window opens again; and that of the lost page alone if gone.
func (s *Set) State(gone bool) (url, title string, lines []string) {
	current := s.shown()
	switch {
	case current == nil:
		return s.last, "", nil
	case gone:
		return current.URL(), "", nil
	}
	for _, tab := range s.tabs {
		mark := "  "
		if tab == current {
			mark = "* "
		}
		lines = append(lines, mark+Line(tab))
	}
	return current.URL(), current.Title(), lines
}

// Find returns a tab by its id: "t3", or "3".
func (s *Set) Find(id string) (*page.Tab, error) {
	var have []string
	for _, tab := range s.tabs {
		if tab.ID() == id || tab.ID() == "t"+id {
			return tab, nil
		}
		have = append(have, tab.ID())
	}
	return nil, fmt.Errorf("tab not found: %q; the tabs of this window are %s", id, strings.Join(have, ", "))
}

// Only reports whether it is the only tab.
func (s *Set) Only(tab *page.Tab) bool { return len(s.tabs) == 1 && s.tabs[0] == tab }

// Tell keeps sentences for the next action.
func (s *Set) Tell(sentences ...string) { s.news = append(s.news, sentences...) }

// News returns what happened since it was last asked.
func (s *Set) News() []string {
	news := s.news
	s.news = nil
	return news
}

// Line describes a tab: id, title, address.
func Line(tab *page.Tab) string {
	parts := []string{tab.ID()}
	if title := strings.Join(strings.Fields(tab.Title()), " "); title != "" && title != tab.URL() {
		parts = append(parts, title)
	}
	if url := tab.URL(); url != "" {
		parts = append(parts, url)
	}
	return strings.Join(parts, " ")
}
