package browsermgr

import (
	"slices"
	"sync"
	"time"
)

// TabOwners has a note for each open tab that was opened on request, or by the page of such a tab: the key of its
// [Window], and when it was last used. The zero value is empty. It is safe for concurrent use.
type TabOwners struct {
	mu       sync.Mutex
	byTarget map[string]tabOwner
}

type tabOwner struct {
	owner    string
	lastUsed time.Time
}

// Add notes a tab of an owner; "" is nobody in particular.
func (b *TabOwners) Add(target, owner string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(target, owner)
}

func (b *TabOwners) add(target, owner string) {
	if b.byTarget == nil {
		b.byTarget = map[string]tabOwner{}
	}
	b.byTarget[target] = tabOwner{owner, time.Now()}
}

// Inherit notes a tab that the page of another has opened, for the same owner. A tab of its own is left as it is.
func (b *TabOwners) Inherit(target, opener string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, own := b.byTarget[target]; own {
		return
	}
	if n, noted := b.byTarget[opener]; noted {
		b.add(target, n.owner)
	}
}

// Touch notes that a tab is used now.
func (b *TabOwners) Touch(target string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n, noted := b.byTarget[target]; noted {
		b.add(target, n.owner)
	}
}

// Forget drops the note of a tab that is gone.
func (b *TabOwners) Forget(target string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.byTarget, target)
}

// Owner returns the owner for whom a tab was opened; noted is false for a tab that nobody has asked for.
func (b *TabOwners) Owner(target string) (owner string, noted bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, noted := b.byTarget[target]
	return n.owner, noted
}

// Stale returns the targets that were not used for idleAfter, and the least recently used ones in excess of most per
// owner. It never returns tabs without an owner.
func (b *TabOwners) Stale(targets []string, idleAfter time.Duration, most int) (idle, extra []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	byOwner := map[string][]string{}
	for _, target := range targets {
		if n := b.byTarget[target]; n.owner != "" {
			byOwner[n.owner] = append(byOwner[n.owner], target)
		}
	}
	for _, list := range byOwner {
		slices.SortStableFunc(list, func(x, y string) int { return b.byTarget[x].lastUsed.Compare(b.byTarget[y].lastUsed) })
		for i, target := range list {
			switch {
			case time.Since(b.byTarget[target].lastUsed) >= idleAfter:
				idle = append(idle, target)
			case len(list)-i > most:
				extra = append(extra, target)
			}
		}
	}
	return idle, extra
}
