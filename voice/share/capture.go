package share

import (
	"context"
	"slices"

	"clank/videosource"
)

// capture is the pictures of one session, for all calls that show it: each is taken once.
type capture struct {
	source *videosource.Source
	cancel context.CancelFunc
	done   chan struct{} // closed when no more frames are taken

	shares []*share // the Manager's lock guards it
}

// startCapture gives a share the pictures of its session, which are taken until the last such share has cut them off.
// ctx gives them its values.
func (m *Manager) startCapture(ctx context.Context, sh *share, screen videosource.Screenshotter) *capture {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.captures[sh.session.ID]; f != nil {
		f.shares = append(f.shares, sh)
		return f
	}
	src := &videosource.Source{}
	if m.NewSource != nil {
		src = m.NewSource()
	}
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	f := &capture{source: src, cancel: cancel, done: make(chan struct{}), shares: []*share{sh}}
	src.Screen, src.Log, src.OnTrouble = screen, m.logger(), func(err error) { m.reportTroubles(f, err) }
	if m.captures == nil {
		m.captures = map[string]*capture{}
	}
	m.captures[sh.session.ID] = f
	go func() { // the last share waits for it
		defer close(f.done)
		_ = src.Run(run) // ends with that share, whose cause everybody knows
	}()
	return f
}

// releaseCapture removes a share from its capture. If no other share needs the capture, it waits for its end, and
// reports whether it ended before ctx did.
func (m *Manager) releaseCapture(ctx context.Context, sh *share) bool {
	m.mu.Lock()
	f := sh.capture
	f.shares = slices.DeleteFunc(f.shares, func(other *share) bool { return other == sh })
	last := len(f.shares) == 0
	if last && m.captures[sh.session.ID] == f {
		delete(m.captures, sh.session.ID)
	}
	m.mu.Unlock()
	if !last {
		return true
	}
	f.cancel()
	select {
	case <-f.done:
		return true
	case <-ctx.Done():
		return false
	}
}

// reportTroubles reports to all shares that the picture is frozen, or with nil that it moves again.
func (m *Manager) reportTroubles(f *capture, err error) {
	m.mu.Lock()
	shares := slices.Clone(f.shares)
	m.mu.Unlock()
	for _, sh := range shares {
		m.reportTrouble(sh, err)
	}
}
