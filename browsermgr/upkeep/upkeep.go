// Package upkeep says what of a browser can be cleared away: it counts who uses the browser, and remembers for whom its tabs
// were opened and when each was used last. It closes nothing, and knows tabs by their target ids only.
package upkeep

import (
	"slices"
	"sync"
	"time"
)

// Book has a note for each tab that was opened on request, or by the page of such a tab. The zero value is empty. It is
// safe for concurrent use.
type Book struct {
	mu    sync.Mutex
	notes map[string]note
}

type note struct {
	owner string
	used  time.Time
}

// Add notes a tab of an owner; "" is nobody in particular.
func (b *Book) Add(target, owner string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(target, owner)
}

func (b *Book) add(target, owner string) {
	if b.notes == nil {
		b.notes = map[string]note{}
	}
	b.notes[target] = note{owner, time.Now()}
}

// Inherit notes a tab that the page of another has opened, for the same owner. A tab of its own is left as it is.
func (b *Book) Inherit(target, opener string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, own := b.notes[target]; own {
		return
	}
	if n, noted := b.notes[opener]; noted {
		b.add(target, n.owner)
	}
}

// Touch notes that a tab is used now.
func (b *Book) Touch(target string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n, noted := b.notes[target]; noted {
		b.add(target, n.owner)
	}
}

// Forget drops the note of a tab that is gone.
func (b *Book) Forget(target string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.notes, target)
}

// Owner is for whom a tab was opened; noted is false for a tab that nobody has asked for.
func (b *Book) Owner(target string) (owner string, noted bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, noted := b.notes[target]
	return n.owner, noted
}

// Forgotten are those of the targets that belong to somebody and were not used for so long, and those that are more than
// their owner may have, the ones unused the longest. Tabs of nobody in particular are never among them.
func (b *Book) Forgotten(targets []string, idleAfter time.Duration, most int) (idle, extra []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	byOwner := map[string][]string{}
	for _, target := range targets {
		if n := b.notes[target]; n.owner != "" {
			byOwner[n.owner] = append(byOwner[n.owner], target)
		}
	}
	for _, list := range byOwner {
		slices.SortStableFunc(list, func(x, y string) int { return b.notes[x].used.Compare(b.notes[y].used) })
		for i, target := range list {
			switch {
			case time.Since(b.notes[target].used) >= idleAfter:
				idle = append(idle, target)
			case len(list)-i > most:
				extra = append(extra, target)
			}
		}
	}
	return idle, extra
}
