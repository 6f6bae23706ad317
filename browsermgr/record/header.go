package record

import (
	"maps"
	"slices"
	"strings"
)

// headerBlock holds headers in a fraction of the memory of a map: their names, sorted, and their values, each joined by
// headerSeparator. Exchanges with equal names or values share them.
type headerBlock struct{ names, values string }

// headerSeparator occurs in no header.
const headerSeparator = "\x00"

// sharedHeaders is how many exchanges before one are compared with it.
const sharedHeaders = 16

// pack returns the block of headers. It shares memory with those of the last exchanges.
func (l *requestLog) pack(headers map[string]string) headerBlock {
	names := slices.Sorted(maps.Keys(headers))
	values := make([]string, len(names))
	for i, name := range names {
		values[i] = strings.ReplaceAll(headers[name], headerSeparator, "")
	}
	b := headerBlock{strings.Join(names, headerSeparator), strings.Join(values, headerSeparator)}
	items := l.ring.items
	for _, x := range items[max(0, len(items)-sharedHeaders):] {
		for _, other := range []headerBlock{x.sent, x.received} {
			if b.names == other.names {
				b.names = other.names
			}
			if b.values == other.values {
				b.values = other.values
			}
		}
	}
	return b
}

// unpack returns the headers; nil if there are none.
func (b headerBlock) unpack() map[string]string {
	if b.names == "" {
		return nil
	}
	values := strings.Split(b.values, headerSeparator)
	headers := make(map[string]string, len(values))
	for i, name := range strings.Split(b.names, headerSeparator) {
		headers[name] = values[i]
	}
	return headers
}

func (b headerBlock) size() int { return len(b.names) + len(b.values) }
