package browsermgr

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"clank/browsermgr/page"
)

// windowTabs is the tabs of one window. The zero value is empty. It is not safe for concurrent use; the Window's mutex
// guards it.
type windowTabs struct {
	tabs     []*page.Tab
	selected []*page.Tab // in the order of last selection; the last one is current
	lastURL  string      // address of the last tab when it closed
	notes    []string
	swept    map[string]string // why cleanup closed tabs, by tab id; not all are kept
	switched chan struct{}     // closed when another tab becomes current; nil if nobody waits
}

// Add adds a tab and makes it current.
func (s *windowTabs) Add(tab *page.Tab) {
	if !s.Has(tab) {
		s.tabs = append(s.tabs, tab)
	}
	s.Select(tab)
}

// Select makes one of the tabs current. One that has closed meanwhile is passed over.
func (s *windowTabs) Select(tab *page.Tab) {
	if !s.Has(tab) {
		return
	}
	s.selected = append(slices.DeleteFunc(s.selected, func(t *page.Tab) bool { return t == tab }), tab)
	s.announce()
}

// Switched returns a channel that is closed when another tab may have become current.
func (s *windowTabs) Switched() <-chan struct{} {
	if s.switched == nil {
		s.switched = make(chan struct{})
	}
	return s.switched
}

func (s *windowTabs) announce() {
	if s.switched != nil {
		close(s.switched)
		s.switched = nil
	}
}

// Has reports whether tab is one of the tabs.
func (s *windowTabs) Has(tab *page.Tab) bool { return slices.Contains(s.tabs, tab) }

// All returns the tabs in the order in which they were added.
func (s *windowTabs) All() []*page.Tab { return slices.Clone(s.tabs) }

// Current returns the current tab; nil if there is none. Closed tabs for which Remove has not been called yet are
// skipped.
func (s *windowTabs) Current() *page.Tab {
	for len(s.selected) > 0 {
		tab := s.selected[len(s.selected)-1]
		if !errors.Is(tab.Err(), page.ErrTabGone) {
			return tab
		}
		s.selected = s.selected[:len(s.selected)-1]
		s.lastURL = tab.URL()
	}
	return nil
}

// Remove removes a closed tab and adds a note about it. The tab selected before it becomes current again.
func (s *windowTabs) Remove(tab *page.Tab) {
	if !s.Has(tab) {
		return
	}
	was := s.lastSelected() == tab
	isTab := func(t *page.Tab) bool { return t == tab }
	s.tabs = slices.DeleteFunc(s.tabs, isTab)
	s.selected = slices.DeleteFunc(s.selected, isTab)
	s.announce()
	if len(s.selected) == 0 {
		s.lastURL = tab.URL()
		s.AddNotes("the last tab was closed: " + TabLine(tab))
		return
	}
	text := "a tab was closed: " + TabLine(tab)
	if why := s.swept[tab.ID()]; why != "" {
		text += " (" + why + ")"
	}
	if was {
		text += "; the current one is " + TabLine(s.lastSelected())
	}
	s.AddNotes(text)
}

// NoteSweep records why cleanup closes the tab with that id.
func (s *windowTabs) NoteSweep(id, why string) {
	if s.swept == nil || len(s.swept) >= maxClosedTabs {
		s.swept = map[string]string{}
	}
	s.swept[id] = why
}

// BrowserGone removes all tabs because their browser has ended, and remembers the current tab's address.
func (s *windowTabs) BrowserGone() {
	if n := len(s.tabs); n == 2 {
		s.AddNotes("the other tab was closed with the browser")
	} else if n > 2 {
		s.AddNotes(fmt.Sprintf("%d other tabs were closed with the browser", n-1))
	}
	if tab := s.lastSelected(); tab != nil {
		s.lastURL = tab.URL()
	}
	s.Clear()
}

// Clear removes all tabs.
func (s *windowTabs) Clear() {
	s.tabs, s.selected = nil, nil
	s.announce()
}

// lastSelected returns the current tab, even if it is closed.
func (s *windowTabs) lastSelected() *page.Tab {
	if len(s.selected) == 0 {
		return nil
	}
	return s.selected[len(s.selected)-1]
}

// SetStartURL sets the address of a window without tabs.
func (s *windowTabs) SetStartURL(url string) { s.lastURL = url }

// LastURL returns the address at which a window without tabs reopens.
func (s *windowTabs) LastURL() string { return s.lastURL }

// State returns the address and title of the current page and a line for each tab; the current tab's begins with "*".
// Without tabs, or if gone is set because the browser has ended, it returns only the address at which the window
// reopens.
func (s *windowTabs) State(gone bool) (url, title string, lines []string) {
	current := s.lastSelected()
	switch {
	case current == nil:
		return s.lastURL, "", nil
	case gone:
		return current.URL(), "", nil
	}
	for _, tab := range s.tabs {
		mark := "  "
		if tab == current {
			mark = "* "
		}
		lines = append(lines, mark+TabLine(tab))
	}
	return current.URL(), current.Title(), lines
}

// Find returns a tab by its id, such as "t3" or "3".
func (s *windowTabs) Find(id string) (*page.Tab, error) {
	var have []string
	for _, tab := range s.tabs {
		if tab.ID() == id || tab.ID() == "t"+id {
			return tab, nil
		}
		have = append(have, tab.ID())
	}
	why := cmp.Or(s.swept[id], s.swept["t"+id])
	if why != "" {
		why = " was closed (" + why + ")"
	}
	return nil, fmt.Errorf("tab not found: %q%s; the tabs of this window are %s", id, why, strings.Join(have, ", "))
}

// IsOnly reports whether tab is the only one.
func (s *windowTabs) IsOnly(tab *page.Tab) bool { return len(s.tabs) == 1 && s.tabs[0] == tab }

// AddNotes adds sentences to the notes of the next action.
func (s *windowTabs) AddNotes(sentences ...string) { s.notes = append(s.notes, sentences...) }

// TakeNotes returns and clears the notes.
func (s *windowTabs) TakeNotes() []string {
	news := s.notes
	s.notes = nil
	return news
}

// TabLine describes a tab: id, title and address.
func TabLine(tab *page.Tab) string {
	parts := []string{tab.ID()}
	if title := strings.Join(strings.Fields(tab.Title()), " "); title != "" && title != tab.URL() {
		parts = append(parts, title)
	}
	if url := tab.URL(); url != "" {
		parts = append(parts, url)
	}
	return strings.Join(parts, " ")
}

// explainGone adds to the error of a closed tab why cleanup closed it, if it did.
func (w *Window) explainGone(tab *page.Tab, err error) error {
	if !errors.Is(err, page.ErrTabGone) {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if why := w.tabs.swept[tab.ID()]; why != "" {
		return fmt.Errorf("%w (%s)", err, why)
	}
	return err
}
