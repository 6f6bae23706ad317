package dave

// replayWindow is by how many numbers something may come late.
const replayWindow = 1024

// ReplayWindow knows which numbers of a counter came before. Its zero value knows none. It is not safe for concurrent use.
type ReplayWindow struct {
	newest uint64
	seen   [replayWindow / 64]uint64
	begun  bool
}

// Seen reports whether a number came before, or is so old that nobody knows.
func (w *ReplayWindow) Seen(count uint64) bool {
	switch {
	case !w.begun || count > w.newest:
		return false
	case w.newest-count >= replayWindow:
		return true
	}
	at := count % replayWindow
	return w.seen[at/64]&(1<<(at%64)) != 0
}

// Mark notes a number that was not seen.
func (w *ReplayWindow) Mark(count uint64) {
	if !w.begun || count > w.newest {
		from := w.newest + 1
		if !w.begun || count-w.newest > replayWindow {
			from = count - min(count, replayWindow-1)
		}
		for c := from; c <= count; c++ {
			w.seen[c%replayWindow/64] &^= 1 << (c % 64)
		}
		w.newest, w.begun = count, true
	}
	w.seen[count%replayWindow/64] |= 1 << (count % 64)
}
