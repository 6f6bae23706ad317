package browsertool

import (
	"io"
	"sync"
)

// pipeWriter writes to a pipe from a goroutine of its own, so that a write into a
// full pipe can be given up.
type pipeWriter struct {
	out       io.WriteCloser
	work      chan pendingWrite
	abandoned chan struct{} // closed when nobody waits for writes any more
	ended     chan struct{} // closed when the goroutine has ended
	once      sync.Once
	closed    sync.Once
}

type pendingWrite struct {
	data []byte
	done chan error // of capacity 1
}

func newPipeWriter(out io.WriteCloser) *pipeWriter {
	p := &pipeWriter{out: out, work: make(chan pendingWrite), abandoned: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		for {
			select {
			case w := <-p.work:
				_, err := p.out.Write(w.data)
				w.done <- err
			case <-p.abandoned:
				return
			}
		}
	}()
	return p
}

// Write writes all of data before anything else is written, or fails.
func (p *pipeWriter) Write(data []byte) (int, error) {
	w := pendingWrite{data: data, done: make(chan error, 1)}
	select {
	case p.work <- w:
	case <-p.abandoned:
		return 0, io.ErrClosedPipe
	}
	select {
	case err := <-w.done:
		if err != nil {
			return 0, err
		}
		return len(data), nil
	case <-p.abandoned:
		return 0, io.ErrClosedPipe
	}
}

// abandon lets go of writes that wait, and of the pipe.
func (p *pipeWriter) abandon() {
	p.once.Do(func() { close(p.abandoned) })
	_ = p.Close()
}

// Close closes the pipe. A write under way may end with an error.
func (p *pipeWriter) Close() error {
	var err error
	p.closed.Do(func() { err = p.out.Close() })
	return err
}

// stop ends the goroutine, and waits for it where closing the pipe ends a
// write. A terminal's or a parent's pipe may not; then the process's end does.
func (p *pipeWriter) stop() {
	p.abandon()
	select {
	case <-p.ended:
	case <-writeGrace():
	}
}
