package watchestest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"clank/internal/watches"
)

// Memory is a [watches.Store] that forgets everything at its end. The zero value
// is ready to use.
type Memory struct {
	mu   sync.Mutex
	list []watches.Watch // oldest first
}

// AddWatch implements [watches.Store].
func (m *Memory) AddWatch(ctx context.Context, w watches.Watch, perOwner, total int) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	own, all := 0, 0
	for _, x := range m.list {
		if x.ID == w.ID {
			return fmt.Errorf("add watch %s: it is there already", w.ID)
		}
		if x.State != watches.StateActive {
			continue
		}
		all++
		if watches.OwnerOf(x.Origin) == watches.OwnerOf(w.Origin) {
			own++
		}
	}
	if own >= perOwner || all >= total {
		return watches.ErrTooMany
	}
	m.list = append(m.list, copied(w))
	return nil
}

// Watch implements [watches.Store].
func (m *Memory) Watch(ctx context.Context, id string) (watches.Watch, error) {
	return m.UpdateWatch(ctx, id, func(*watches.Watch) error { return nil })
}

// Watches implements [watches.Store].
func (m *Memory) Watches(ctx context.Context, q watches.Query) ([]watches.Watch, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	limit := q.Limit
	if limit == 0 {
		limit = watches.DefaultQueryLimit
	}
	var out []watches.Watch
	for _, w := range slices.Backward(m.list) {
		if q.Owner != nil && watches.OwnerOf(w.Origin) != *q.Owner || q.Guild != "" && w.Origin.Guild != q.Guild || q.Active && w.State != watches.StateActive {
			continue
		}
		out = append(out, copied(w))
	}
	slices.SortStableFunc(out, func(a, b watches.Watch) int { return b.Created.Compare(a.Created) })
	return out[:min(limit, len(out))], nil
}

// UpdateWatch implements [watches.Store].
func (m *Memory) UpdateWatch(ctx context.Context, id string, change func(*watches.Watch) error) (watches.Watch, error) {
	if ctx.Err() != nil {
		return watches.Watch{}, context.Cause(ctx)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.list, func(w watches.Watch) bool { return w.ID == id })
	if i < 0 {
		return watches.Watch{}, watches.ErrNotFound
	}
	w := copied(m.list[i])
	if err := change(&w); err != nil {
		return watches.Watch{}, err
	}
	m.list[i] = copied(w)
	return w, nil
}

// PruneWatches implements [watches.Store].
func (m *Memory) PruneWatches(ctx context.Context, before time.Time) (int, error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	n := len(m.list)
	m.list = slices.DeleteFunc(m.list, func(w watches.Watch) bool {
		return w.State == watches.StateEnded && w.Created.Before(before) && w.CheckedAt.Before(before)
	})
	return n - len(m.list), nil
}

// copied shares no memory with w.
func copied(w watches.Watch) watches.Watch {
	w.Seen.Lines, w.Seen.Noise = slices.Clone(w.Seen.Lines), slices.Clone(w.Seen.Noise)
	w.PendingNotice, w.LastNotice = copiedNotice(w.PendingNotice), copiedNotice(w.LastNotice)
	return w
}

func copiedNotice(n *watches.Notice) *watches.Notice {
	if n == nil {
		return nil
	}
	c := *n
	c.Diff = slices.Clone(n.Diff)
	return &c
}
