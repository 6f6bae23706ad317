package api

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"clank/cancel"
	"clank/sessions"
	"clank/sessions/approval"
)

const (
	followRetryPause = 500 * time.Millisecond // between two attempts to reconnect
	followRetryLimit = 10 * time.Second       // time without a connection before giving up
	maxEvent         = 64 << 20               // maximum size of one event in bytes
)

// Follow calls watch with all events of a task from its first step until it is final, and returns its result with the
// images of the answer. It reconnects when the connection breaks, and delivers each event once. It does not stop the
// task when ctx ends.
func (c *Client) Follow(ctx context.Context, taskID string, watch func(sessions.Event)) (sessions.TaskRecord, error) {
	f := &follower{
		client: c, id: taskID, watch: watch, reportedPhases: make(map[int]sessions.Phase),
		questions: make(map[string]bool),
	}
	lost := time.Now()
	for {
		before := f.lastID
		f.opened = time.Time{}
		err := f.once(ctx)
		if f.rec.ID != "" && f.rec.State.Final() {
			return c.withPictures(ctx, f.rec)
		}
		if ctx.Err() != nil {
			return f.rec, context.Cause(ctx)
		}
		no, answered := errors.AsType[*StatusError](err)
		// the server was restarted: its secret has changed
		if answered && no.Status == http.StatusUnauthorized && f.rec.SessionID != "" {
			return f.rec, fmt.Errorf("the clank at %s was started again meanwhile: go on with session %s", c.Base,
				f.rec.SessionID)
		}
		if answered {
			return f.rec, fmt.Errorf("follow task %s: %w", taskID, err)
		}
		// the connection worked, even if no event came
		if f.lastID != before || !f.opened.IsZero() && time.Since(f.opened) > followRetryPause {
			lost = time.Now()
		}
		if time.Since(lost) > followRetryLimit {
			return f.rec, fmt.Errorf("follow task %s: the clank at %s is gone%s: %w", taskID, c.Base, f.resumeHint(), err)
		}
		_ = cancel.Sleep(ctx, followRetryPause)
	}
}

// FollowQuestions calls handle with the questions of a call that is not a task, until ctx ends or the connection
// breaks. It calls opened when the stream is open. answers means that someone can answer the questions.
func (c *Client) FollowQuestions(
	ctx context.Context, call string, answers bool, opened func(), handle func(approval.Event),
) error {
	path := "/api/calls/" + url.PathEscape(call) + "/questions"
	if answers {
		path += "?answers=1"
	}
	res, err := c.send(ctx, http.MethodGet, path, nil, http.Header{"Accept": {"text/event-stream"}})
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	told := make(map[string]bool) // by id; the value is true if its end was delivered too
	take := func(ev approval.Event) {
		if over, known := told[ev.Question.ID]; !known || ev.Resolved && !over {
			told[ev.Question.ID] = ev.Resolved
			handle(ev)
		}
	}
	return readEvents(res.Body, func(_, event string, data []byte) error {
		if event == "question" {
			return decodeTo(data, take)
		}
		return decodeTo(data, func(v TaskView) {
			for _, q := range v.Questions {
				take(approval.Event{Question: q})
			}
			opened()
		})
	})
}

// resumeHint describes how to continue after the server is back.
func (f *follower) resumeHint() string {
	if f.rec.SessionID == "" {
		return ""
	}
	return " (start it again, and go on with session " + f.rec.SessionID + ")"
}

func (c *Client) withPictures(ctx context.Context, rec sessions.TaskRecord) (sessions.TaskRecord, error) {
	for i := range rec.Images {
		im, err := c.Image(ctx, rec.ID, i)
		if err != nil {
			return rec, fmt.Errorf("fetch picture %d of the answer: %w", i+1, err)
		}
		im.Caption = rec.Images[i].Caption
		rec.Images[i] = im
	}
	return rec, nil
}

// follower tracks which events were delivered.
type follower struct {
	client         *Client
	id             string
	watch          func(sessions.Event)
	lastID         string
	opened         time.Time // when the server answered; zero if it did not
	rec            sessions.TaskRecord
	reportedPhases map[int]sessions.Phase

	questions map[string]bool // by id; the value is true if its end was delivered too
}

// once reads the events of one connection until it ends.
func (f *follower) once(ctx context.Context) error {
	header := http.Header{"Accept": {"text/event-stream"}}
	if f.lastID != "" {
		header.Set("Last-Event-ID", f.lastID)
	}
	res, err := f.client.send(ctx, http.MethodGet, "/api/tasks/"+url.PathEscape(f.id)+"/events", nil, header)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	f.opened = time.Now()
	return readEvents(res.Body, func(id, event string, data []byte) error {
		if err := f.handleEvent(event, data); err != nil {
			return fmt.Errorf("event %s was not understood: %w", event, err)
		}
		if id != "" {
			f.lastID = id
		}
		return nil
	})
}

func (f *follower) handleEvent(event string, data []byte) error {
	switch event {
	case "snapshot":
		return decodeTo(data, func(v TaskView) {
			for _, st := range v.Steps {
				f.step(st)
			}
			f.record(v.Task)
			for _, q := range v.Questions {
				f.handleQuestion(approval.Event{Question: q})
			}
		})
	case "question":
		return decodeTo(data, f.handleQuestion)
	case "task":
		return decodeTo(data, f.record)
	case "step":
		return decodeTo(data, func(s StepEvent) { f.step(s.Step) })
	}
	return nil
}

// decodeTo decodes JSON and passes it to do.
func decodeTo[T any](data []byte, do func(T)) error {
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	do(v)
	return nil
}

func (f *follower) handleQuestion(ev approval.Event) {
	over, told := f.questions[ev.Question.ID]
	if f.client.OnQuestion == nil || told && (over || !ev.Resolved) {
		return
	}
	f.questions[ev.Question.ID] = ev.Resolved
	f.client.OnQuestion(ev)
}

func (f *follower) record(r sessions.TaskRecord) {
	f.rec = r
	f.watch(sessions.Event{Record: r})
}

func (f *follower) step(st sessions.Step) {
	if was := f.reportedPhases[st.N]; was == st.Phase || was == sessions.PhaseDone {
		return
	}
	f.reportedPhases[st.N] = st.Phase
	f.watch(sessions.Event{Record: f.rec, Step: &st})
}

// readEvents reads server-sent events as the HTML standard defines them and passes each to take, until the reader
// ends or take fails. Events without data are skipped.
func readEvents(r io.Reader, take func(id, event string, data []byte) error) error {
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 64<<10), maxEvent)
	var id, event string
	var data []string
	for sc.Scan() {
		line := strings.TrimSuffix(sc.Text(), "\r")
		if line == "" {
			if data != nil {
				if err := take(id, event, []byte(strings.Join(data, "\n"))); err != nil {
					return err
				}
			}
			event, data = "", nil
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "id":
			id = value
		case "event":
			event = value
		case "data":
			data = append(data, value)
		}
	}
	if err := sc.Err(); err != nil {
		return fmt.Errorf("read events: %w", err)
	}
	return io.ErrUnexpectedEOF
}
