package record

// entryRing holds the last entries, at most limit of them and at most budget bytes. The newest is always kept.
type entryRing[T any] struct {
	limit  int
	budget int
	size   func(T) int
	drop   func(T) // may be nil
	items  []T
	used   int
}

func (r *entryRing[T]) add(item T) {
	r.items = append(r.items, item)
	r.used += r.size(item)
	r.trim()
}

// trim drops the oldest entries until the bounds are kept.
func (r *entryRing[T]) trim() {
	for len(r.items) > 1 && (len(r.items) > r.limit || r.used > r.budget) {
		var zero T
		oldest := r.items[0]
		r.items[0] = zero
		r.items = r.items[1:]
		r.used -= r.size(oldest)
		if r.drop != nil {
			r.drop(oldest)
		}
	}
}

// grow changes an entry and counts what that did to its size.
func (r *entryRing[T]) grow(item T, change func()) {
	before := r.size(item)
	change()
	r.used += r.size(item) - before
	r.trim()
}

// read returns the entries, oldest first, and with clear forgets them.
func (r *entryRing[T]) read(clear bool) []T {
	items := append([]T(nil), r.items...)
	if clear {
		for _, item := range r.items {
			if r.drop != nil {
				r.drop(item)
			}
		}
		r.items, r.used = nil, 0
	}
	return items
}
