package golive

import (
	"context"
	"time"
)

const (
	previewDelay   = 2 * time.Second  // the first pictures have the machine for themselves
	previewEvery   = 5 * time.Minute  // as Discord's own apps do it
	previewTimeout = 30 * time.Second // for a picture of the page
	maxPreviewAge  = 10 * time.Second // what was taken longer ago is not shown
)

// preview shows those who do not watch what the stream is about: soon after pictures can go, and again from time to time, until ctx ends.
// It is a frame of the stream, with all that is covered there. Without it the stream is what it was, so a failure is only noted.
func (s *Stream) preview(ctx context.Context) {
	select {
	case <-s.up:
	case <-ctx.Done():
		return
	}
	noted := false
	for wait := previewDelay; ; wait = previewEvery {
		next := time.NewTimer(wait)
		select {
		case <-next.C:
		case <-ctx.Done():
			next.Stop()
			return
		}
		err := s.previewOnce(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !noted:
			s.publisher.logger().Warn("the preview of a stream could not be shown; the stream goes on without", "stream", s.key, "error", err)
			noted = true
		case err != nil:
			s.publisher.logger().Debug("the preview of a stream could not be shown", "stream", s.key, "error", err)
		}
	}
}

// previewOnce shows a frame, if the stream is shown and there is one soon.
func (s *Stream) previewOnce(ctx context.Context) error {
	if st := s.State().Status; st != Ready && st != Playing {
		return nil
	}
	late := time.NewTimer(previewTimeout)
	defer late.Stop()
	viewer := s.req.Source.Subscribe()
	defer viewer.Close()
	for {
		select {
		case f, ok := <-viewer.Frames():
			switch {
			case !ok:
				return nil
			case time.Since(f.Taken) > maxPreviewAge:
				continue
			}
			viewer.Close()
			return s.publisher.Preview(ctx, s.key, f.Data)
		case <-late.C:
			return nil // the page hides something, or cannot be drawn
		case <-ctx.Done():
			return nil
		}
	}
}
