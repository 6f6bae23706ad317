package chrome

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"sync"
)

// tailSize is how much of a browser's stderr is kept; quotedTail is how much of it an error quotes.
const (
	tailSize   = 64 << 10
	quotedTail = 2000
)

// stderrTail keeps the end of what a browser says on stderr. It is safe for concurrent use.
type stderrTail struct {
	mu   sync.Mutex
	data []byte
}

func (t *stderrTail) add(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, line...)
	if over := len(t.data) - tailSize; over > 0 {
		t.data = append(t.data[:0], t.data[over:]...)
	}
}

func (t *stderrTail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.data)
}

// quote returns the end of the tail as an error shows it, without the lines about the desktop's message bus that each
// browser without a desktop writes.
func (t *stderrTail) quote() string {
	var lines []string
	for line := range strings.Lines(t.String()) {
		if line = strings.TrimSpace(line); line != "" && !strings.Contains(line, ":dbus/") {
			lines = append(lines, line)
		}
	}
	text := strings.Join(lines, "\n")
	if over := len(text) - quotedTail; over > 0 {
		text = "…" + strings.ToValidUTF8(text[over:], "")
	}
	return text
}

// maxLine bounds a line of stderr; longer ones are taken in pieces.
const maxLine = 8 << 10

// follow copies r to the tail until it ends, and shows each line to see.
func (t *stderrTail) follow(r io.Reader, see func(line string)) {
	lines := bufio.NewReaderSize(r, maxLine)
	for {
		line, err := lines.ReadSlice('\n')
		if len(line) > 0 {
			t.add(string(line))
			see(string(line))
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}
