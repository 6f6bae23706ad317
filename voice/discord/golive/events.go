package golive

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"clank/videosource"
	"clank/voice"
	"clank/voice/discord/conn"
)

type streamDispatch struct {
	Key         string   `json:"stream_key"`
	Server      string   `json:"rtc_server_id"`
	Viewers     []string `json:"viewer_ids"`
	Token       string   `json:"token"`
	Endpoint    *string  `json:"endpoint"`
	Reason      string   `json:"reason"`
	Unavailable bool     `json:"unavailable"`
}

func (l *streamLoop) handleDispatch(ctx context.Context, kind string, d streamDispatch) error {
	switch kind {
	case "STREAM_DELETE":
		l.created = false // it is gone
		return deletedError(d.Reason, d.Unavailable)
	case "STREAM_CREATE":
		if l.server != "" && d.Server != l.server { // another one under the same key
			l.closeConn(ctx)
			l.endpoint = ""
		}
		l.server = d.Server
		l.updateState(func(st *State) { st.Server, st.Viewers = d.Server, d.Viewers })
		if l.endpoint == "" {
			l.setStatus(AwaitingCredentials, "")
			l.deadlineErr = noAnswerError(l.publisher.answerTimeout(), true)
		}
	case "STREAM_UPDATE":
		if d.Viewers != nil {
			l.updateState(func(st *State) { st.Viewers = d.Viewers })
		}
	case "STREAM_SERVER_UPDATE":
		l.closeConn(ctx)
		if d.Endpoint == nil || *d.Endpoint == "" {
			l.endpoint = ""
			l.awaitServer(errors.New("Discord moves the stream to another server")) //nolint:staticcheck // a name
			return nil
		}
		l.endpoint, l.token = *d.Endpoint, d.Token
		l.updateState(func(st *State) { st.Endpoint, st.Status, st.Reason = l.endpoint, ConnectRequested, "" })
	}
	return nil
}

// handleReconnect handles an interruption of the main gateway: pending requests are refused, and a new session has no
// stream.
func (l *streamLoop) handleReconnect(fresh bool) error {
	switch {
	case l.server == "":
		return errGatewayClosed
	case fresh:
		l.created = false
		return errNewGatewaySession
	}
	return nil
}

// handleConnEvent handles an event of the connection with a number. Events may arrive before it is open, or before
// another transport is tried.
func (l *streamLoop) handleConnEvent(number int, w connEvent) error {
	switch {
	case number != l.connNumber:
		return nil // of an older one
	case l.pending != nil:
		l.earlyEvents = append(l.earlyEvents, w)
		return nil
	case l.conn == nil || w.transport != l.transport:
		return nil // of one that did not get through
	}
	return l.handleMediaEvent(w.event)
}

func (l *streamLoop) handleMediaEvent(e conn.Event) error {
	switch e.Kind {
	case conn.Up:
		l.deadline.Stop()
		l.ready = true
		l.updateState(func(st *State) { st.Status, st.Reason = Ready, "" })
		l.subscribe()
		l.refresh()
		if !l.wasUp() {
			close(l.up)
		}
	case conn.Down:
		l.ready = false
		l.setStatus(AwaitingTransport, e.Text)
		l.unsubscribe()
	case conn.QualityWanted:
		before := l.wantedQuality
		l.wantedQuality = e.Quality
		l.updateState(func(st *State) { st.WantedQuality = e.Quality })
		if e.Quality == 0 {
			l.unsubscribe()
			return nil
		}
		l.subscribe()
		if e.Quality > before {
			l.refresh()
		}
	case conn.KeyFrameWanted:
		l.refresh()
	case conn.CodecChosen:
		if !strings.EqualFold(e.Text, "VP8") {
			err := fmt.Errorf("somebody in the call can only see %s, and clank shows VP8", e.Text)
			l.setStatus(Unsupported, err.Error())
			return err
		}
	default: // other users in it do not matter
	}
	return nil
}

// subscribe subscribes to the frames if someone can see them.
func (l *streamLoop) subscribe() {
	if l.viewer == nil && l.conn != nil && l.ready && l.wantedQuality > 0 {
		l.viewer = l.req.Source.SubscribeTo(videosource.Video)
		l.viewer.SetBitrate(l.publisher.Format.Bitrate)
	}
}

func (l *streamLoop) unsubscribe() {
	if l.viewer != nil {
		l.viewer.Close()
		l.viewer = nil
	}
}

func (l *streamLoop) refresh() {
	if l.viewer != nil {
		l.viewer.Refresh()
	}
}

func (l *streamLoop) sendFrame(f videosource.Frame) {
	if f.Width != l.width || f.Height != l.height {
		l.width, l.height = f.Width, f.Height
		format := l.publisher.Format
		format.Width, format.Height = f.Width, f.Height
		l.conn.ShowVideo(format)
	}
	err := l.conn.SendVideo(f.Data, f.Taken)
	if err != nil && !errors.Is(err, voice.ErrUnavailable) {
		l.publisher.logger().Warn("a picture could not be shown", "error", err)
	}
	l.updateState(func(st *State) {
		if err != nil {
			st.Dropped++
			return
		}
		st.Sent++
		if st.Status == Ready {
			st.Status = Playing
		}
	})
}
