package videosource

import "time"

// Viewer is somebody who watches a [Source].
type Viewer struct {
	source *Source
	frames chan Frame // holds the newest one that was not taken yet

	// The source's lock guards these.
	noFrameYet    bool      // has not been given a frame yet
	refreshWanted bool      // lost the picture
	sent          time.Time // when it was given a frame
}

// Subscribe begins to watch. The first frame comes at once, or as soon as a picture can be taken. The caller closes the viewer.
func (s *Source) Subscribe() *Viewer {
	v := &Viewer{source: s, frames: make(chan Frame, 1), noFrameYet: true}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		close(v.frames)
		return v
	}
	if s.viewers == nil {
		s.viewers = map[*Viewer]struct{}{}
	}
	s.viewers[v] = struct{}{}
	if now := time.Now(); s.lastFrame.Data != nil && now.Sub(s.lastFrame.Taken) < maxReuseAge {
		s.send(now, s.lastFrame, Initial, v)
	}
	s.signal()
	return v
}

// Frames gives the newest frame: one that comes while another waits to be taken replaces it. The channel is closed when the
// viewer or the source has ended.
func (v *Viewer) Frames() <-chan Frame { return v.frames }

// Refresh says that the picture was lost on the way (RTCP's PLI or FIR): the last frame is sent again, at once or shortly after
// the one that has just gone out, however often this is called.
func (v *Viewer) Refresh() {
	s := v.source
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, there := s.viewers[v]; !there || v.noFrameYet {
		return
	}
	if now := time.Now(); now.Sub(v.sent) >= refreshPause {
		s.send(now, s.lastFrame, Requested, v)
		return
	}
	v.refreshWanted = true
	s.signal()
}

// Close ends watching. Closing twice is no error.
func (v *Viewer) Close() {
	s := v.source
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, there := s.viewers[v]; there {
		delete(s.viewers, v)
		close(v.frames)
	}
}

// send gives a frame to some viewers. s.mu is held.
func (s *Source) send(now time.Time, f Frame, why Reason, to ...*Viewer) {
	s.stats.Frames++
	f.Sequence = s.stats.Frames
	for _, v := range to {
		if f.Reason = why; v.noFrameYet {
			f.Reason = Initial
		}
		select {
		case <-v.frames:
		default:
		}
		v.frames <- f // there is room: nobody else puts anything in
		v.noFrameYet, v.refreshWanted, v.sent = false, false, now
	}
}
