package mcpserver

import (
	"io"
	"sync"
)

// pump writes to a pipe from a goroutine of its own, so that a write into a
// full pipe can be given up.
type pump struct {
	out    io.WriteCloser
	work   chan write
	given  chan struct{} // closed when nobody waits for writes any more
	ended  chan struct{} // closed when the goroutine has ended
	once   sync.Once
	closed sync.Once
}

type write struct {
	data []byte
	done chan error // of capacity 1
}

func newPump(out io.WriteCloser) *pump {
	p := &pump{out: out, work: make(chan write), given: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		for {
			select {
			case w := <-p.work:
				_, err := p.out.Write(w.data)
				w.done <- err
			case <-p.given:
				return
			}
		}
	}()
	return p
}

// Write writes all of data before anything else is written, or fails.
func (p *pump) Write(data []byte) (int, error) {
	w := write{data: data, done: make(chan error, 1)}
	select {
	case p.work <- w:
	case <-p.given:
		return 0, io.ErrClosedPipe
	}
	select {
	case err := <-w.done:
		if err != nil {
			return 0, err
		}
		return len(data), nil
	case <-p.given:
		return 0, io.ErrClosedPipe
	}
}

// abandon lets go of writes that wait, and of the pipe.
func (p *pump) abandon() {
	p.once.Do(func() { close(p.given) })
	_ = p.Close()
}

// Close closes the pipe. A write under way may end with an error.
func (p *pump) Close() error {
	var err error
	p.closed.Do(func() { err = p.out.Close() })
	return err
}

// stop ends the goroutine, and waits for it where closing the pipe ends a
// write. A terminal's or a parent's pipe may not; then the process's end does.
func (p *pump) stop() {
	p.abandon()
	select {
	case <-p.ended:
	case <-grace():
	}
}
