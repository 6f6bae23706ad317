package golive

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"clank/videosource"
	"clank/voice"
	"clank/voice/discord/media"
)

// dispatch is what the main gateway says about a stream.
type dispatch struct {
	Key         string   `json:"stream_key"`
	Server      string   `json:"rtc_server_id"`
	Viewers     []string `json:"viewer_ids"`
	Paused      *bool    `json:"paused"`
	Token       string   `json:"token"`
	Endpoint    *string  `json:"endpoint"`
	Reason      string   `json:"reason"`
	Unavailable bool     `json:"unavailable"`
}

// dispatched takes what the main gateway says about this stream.
func (l *loop) dispatched(ctx context.Context, kind string, d dispatch) error {
	switch kind {
	case "STREAM_DELETE":
		l.asked = false // it is gone
		return deleted(d.Reason, d.Unavailable)
	case "STREAM_CREATE":
		if l.server != "" && d.Server != l.server { // another one under the same key
			l.part(ctx)
			l.endpoint = ""
		}
		l.server = d.Server
		l.note(func(st *State) { st.Server, st.Viewers, st.Agreed = d.Server, d.Viewers, time.Now() })
		if l.endpoint == "" {
			l.set(AwaitingCredential, "")
			l.late = silent(l.pub.patience(), true)
		}
	case "STREAM_UPDATE":
		if d.Viewers != nil {
			l.note(func(st *State) { st.Viewers = d.Viewers })
		}
	case "STREAM_SERVER_UPDATE":
		l.part(ctx)
		if d.Endpoint == nil || *d.Endpoint == "" {
			l.endpoint = ""
			l.await(errors.New("Discord moves the stream to another server")) //nolint:staticcheck // a name
			return nil
		}
		l.endpoint, l.token = *d.Endpoint, d.Token
		l.note(func(st *State) { st.Endpoint, st.Status, st.Reason = l.endpoint, ConnectRequested, "" })
	}
	return nil
}

// reconnected takes a break of the main gateway: what is asked when it breaks is refused, and a new session has no stream.
func (l *loop) reconnected(fresh bool) error {
	switch {
	case l.server == "":
		return errBroken
	case fresh:
		l.asked = false
		return errNewLife
	}
	return nil
}

// told takes what a leg of a number tells. It may do so before it is open, or before another way is tried.
func (l *loop) told(number int, w word) error {
	switch {
	case number != l.number:
		return nil // of an older one
	case l.pending != nil:
		l.early = append(l.early, w)
		return nil
	case l.leg == nil || w.way != l.way:
		return nil // of one that did not get through
	}
	return l.heard(w.event)
}

// heard takes what the leg that is open tells.
func (l *loop) heard(e media.Event) error {
	switch e.Kind {
	case media.Up:
		l.deadline.Stop()
		l.ready = true
		l.note(func(st *State) { st.Status, st.Reason, st.Up = Ready, "", time.Now() })
		if l.paused {
			l.set(Paused, "")
		}
		l.watch()
		l.refresh()
		if !l.played() {
			close(l.up)
		}
	case media.Down:
		l.ready = false
		l.set(AwaitingTransport, e.Text)
		l.unwatch()
	case media.Wanted:
		before := l.wanted
		l.wanted = e.Quality
		l.note(func(st *State) { st.Wanted = e.Quality })
		if e.Quality == 0 {
			l.unwatch()
			return nil
		}
		l.watch()
		if e.Quality > before {
			l.refresh()
		}
	case media.Refresh:
		l.refresh()
	case media.Codec:
		if !strings.EqualFold(e.Text, "VP8") {
			err := fmt.Errorf("somebody in the call can only see %s, and clank shows VP8", e.Text)
			l.set(Unsupported, err.Error())
			return err
		}
	default: // who else is there is no business of ours
	}
	return nil
}

// pause stops the pictures, or lets them go on.
func (l *loop) pause(ctx context.Context, paused bool) {
	if l.paused == paused {
		return
	}
	l.paused = paused
	ctx, cancel := context.WithTimeout(ctx, closeLimit)
	defer cancel()
	if err := l.tellPaused(ctx); err != nil {
		l.pub.logger().Warn("a pause of the stream was not told to Discord", "error", err)
	}
	switch {
	case paused:
		l.unwatch()
		l.set(Paused, "")
	case l.ready:
		l.set(ResumeRequested, "")
		l.watch()
	default:
		l.set(AwaitingTransport, "")
	}
}

// watch takes pictures, if somebody can see them.
func (l *loop) watch() {
	if l.viewer == nil && l.leg != nil && l.ready && !l.paused && l.wanted > 0 {
		l.viewer = l.req.Source.Subscribe()
	}
}

func (l *loop) unwatch() {
	if l.viewer != nil {
		l.viewer.Close()
		l.viewer = nil
	}
}

func (l *loop) refresh() {
	if l.viewer != nil {
		l.viewer.Refresh()
	}
}

// show sends one picture.
func (l *loop) show(f videosource.Frame) {
	if f.Width != l.width || f.Height != l.height {
		l.width, l.height = f.Width, f.Height
		format := l.pub.Format
		format.Width, format.Height = f.Width, f.Height
		l.leg.ShowVideo(format)
	}
	err := l.leg.SendVideo(f.Data, f.Taken)
	if err != nil && !errors.Is(err, voice.ErrMute) {
		l.pub.logger().Warn("a picture could not be shown", "error", err)
	}
	l.note(func(st *State) {
		if err != nil {
			st.Dropped++
			return
		}
		st.Sent++
		if st.Played.IsZero() {
			st.Played = time.Now()
		}
		if st.Status == Ready || st.Status == ResumeRequested {
			st.Status = Playing
		}
	})
}
