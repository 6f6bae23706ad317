package api_test

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"clank/dashboard/api"
	"clank/internal/test/check"
	"clank/sessions"
	"clank/sessions/approval"
)

// line is a server that says the streams one after the other, each after a
// silence, and cannot be reached any more after the last.
type line struct {
	silence time.Duration
	streams []string
	refuses bool // after the last, it answers that nobody is signed in
}

func (l *line) RoundTrip(*http.Request) (*http.Response, error) {
	switch {
	case len(l.streams) == 0 && l.refuses:
		return &http.Response{
			StatusCode: http.StatusUnauthorized,
			Body:       io.NopCloser(strings.NewReader(`{"error":"sign in first"}`)),
		}, nil
	case len(l.streams) == 0:
		return nil, errors.New("connection refused")
	}
	said := l.streams[0]
	l.streams = l.streams[1:]
	return &http.Response{
		StatusCode: http.StatusOK,
		Body:       io.NopCloser(io.MultiReader(strings.NewReader(said), (*pause)(&l.silence))),
	}, nil
}

// pause is read for a while and ends then.
type pause time.Duration

func (p *pause) Read([]byte) (int, error) {
	<-time.After(time.Duration(*p))
	return 0, io.EOF
}

const (
	running = `event: task` + "\n" + `data: {"id":"t1","session_id":"s1","state":"running"}` + "\n\n"
	done    = `event: task` + "\n" + `data: {"id":"t1","session_id":"s1","state":"done","answer":"39"}` + "\n\n"
)

func TestFollowReconnectsAfterALongSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &api.Client{
			Base: "http://clank",
			HTTP: &http.Client{Transport: &line{silence: time.Minute, streams: []string{running, done}}},
		}
		rec, err := c.Follow(t.Context(), "t1", func(sessions.Event) {})
		if err != nil || rec.State != sessions.TaskDone || rec.Answer != "39" {
			t.Errorf("got %+v, %v; want the answer", rec, err)
		}
	})
}

func TestAQuestionIsDeliveredOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const (
			snapshot = "event: snapshot\n" + `data: {"task":{"id":"t1","state":"running"},"questions":[{"id":"q1"}]}` + "\n\n"
			asked    = "event: question\n" + `data: {"question":{"id":"q1"}}` + "\n\n"
			over     = "event: question\n" + `data: {"question":{"id":"q1"},"over":true}` + "\n\n"
		)
		var got []bool
		c := &api.Client{
			Base: "http://clank", HTTP: &http.Client{
				Transport: &line{streams: []string{snapshot + asked, snapshot + over + over, snapshot + done}},
			},
			OnQuestion: func(ev approval.Event) { got = append(got, ev.Resolved) },
		}
		check.Must(t, check.Err(c.Follow(t.Context(), "t1", func(sessions.Event) {})))
		if want := []bool{false, true}; !slices.Equal(got, want) {
			t.Errorf("told of the question, and whether it is over: %v, want %v", got, want)
		}
	})
}

func TestFollowReportsARestartedServerWithAHint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &api.Client{
			Base: "http://clank",
			HTTP: &http.Client{Transport: &line{silence: time.Minute, streams: []string{running}, refuses: true}},
		}
		_, err := c.Follow(t.Context(), "t1", func(sessions.Event) {})
		check.Fails(t, err, nil, "the clank at http://clank was started again meanwhile: go on with session s1")
	})
}

func TestFollowGivesUpOnAStoppedServerWithAHint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &api.Client{
			Base: "http://clank",
			HTTP: &http.Client{Transport: &line{silence: time.Minute, streams: []string{running}}},
		}
		begun := time.Now()
		_, err := c.Follow(t.Context(), "t1", func(sessions.Event) {})
		check.Fails(t, err, nil, "the clank at http://clank is gone (start it again, and go on with session s1)")
		if took := time.Since(begun) - time.Minute; took < 10*time.Second || took > 11*time.Second {
			t.Errorf("it was given up after %s, want 10 s", took)
		}
	})
}

func TestAClientIsToldThatNoServerAnswers(t *testing.T) {
	c := &api.Client{Base: "http://127.0.0.1:1"} // a reserved port, at which nothing listens
	_, err := c.Task(t.Context(), "t1")
	if err == nil || !strings.Contains(err.Error(), `no clank answers at http://127.0.0.1:1 `) ||
		!strings.Contains(err.Error(), `start it again with "clank serve"`) || strings.Contains(err.Error(), "Get ") {
		t.Errorf("got %v", err)
	}
}
