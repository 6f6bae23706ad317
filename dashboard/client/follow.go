package client

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

	"clank/consent"
	"clank/dashboard/wire"
	"clank/sessions"
)

const (
	followPause = 500 * time.Millisecond // between two attempts to come back
	followGives = 10 * time.Second       // without the server, until it is given up
	maxEvent    = 64 << 20               // bytes of one event
)

// Follow calls watch with all that happens to a task, from its first step on,
// until it is final, and returns what became of it, with the pictures of its
// answer. It comes back when the connection breaks, and tells nothing twice. It
// does not stop the task when ctx ends.
func (c *Client) Follow(ctx context.Context, taskID string, watch func(sessions.Event)) (sessions.Record, error) {
	f := &follower{client: c, id: taskID, watch: watch, told: make(map[int]sessions.Phase), questions: make(map[string]bool)}
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
		if _, no := errors.AsType[*StatusError](err); no {
			return f.rec, fmt.Errorf("follow task %s: %w", taskID, err)
		}
		if f.lastID != before || !f.opened.IsZero() && time.Since(f.opened) > followPause { // it was there, if only in silence
			lost = time.Now()
		}
		if time.Since(lost) > followGives {
			return f.rec, fmt.Errorf("follow task %s: the clank at %s is gone%s: %w", taskID, c.Base, f.wayOut(), err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(followPause):
		}
	}
}

// wayOut tells how to go on once the server is there again.
func (f *follower) wayOut() string {
	if f.rec.SessionID == "" {
		return ""
	}
	return " (start it again, and go on with session " + f.rec.SessionID + ")"
}

func (c *Client) withPictures(ctx context.Context, rec sessions.Record) (sessions.Record, error) {
	for i := range rec.Images {
		im, err := c.Image(ctx, rec.ID, i)
		if err != nil {
			return rec, fmt.Errorf("fetch picture %d of the answer: %w", i+1, err)
		}
		rec.Images[i] = im
	}
	return rec, nil
}

// follower remembers what was told already.
type follower struct {
	client *Client
	id     string
	watch  func(sessions.Event)
	lastID string
	opened time.Time // when the server answered; zero if it did not
	rec    sessions.Record
	told   map[int]sessions.Phase

	questions map[string]bool // by id, whether their end was told, too
}

// once reads one connection's events until it ends.
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
		if err := f.take(event, data); err != nil {
			return fmt.Errorf("event %s was not understood: %w", event, err)
		}
		if id != "" {
			f.lastID = id
		}
		return nil
	})
}

func (f *follower) take(event string, data []byte) error {
	switch event {
	case "snapshot":
		var v wire.TaskView
		if err := json.Unmarshal(data, &v); err != nil {
			return err
		}
		for _, st := range v.Steps {
			f.step(st)
		}
		f.record(v.Task)
		for _, q := range v.Questions {
			f.asked(consent.Event{Question: q})
		}
	case "question":
		var q consent.Event
		if err := json.Unmarshal(data, &q); err != nil {
			return err
		}
		f.asked(q)
	case "task":
		var r sessions.Record
		if err := json.Unmarshal(data, &r); err != nil {
			return err
		}
		f.record(r)
	case "step":
		var s wire.StepEvent
		if err := json.Unmarshal(data, &s); err != nil {
			return err
		}
		f.step(s.Step)
	}
	return nil
}

func (f *follower) asked(ev consent.Event) {
	over, told := f.questions[ev.Question.ID]
	if f.client.Asked == nil || told && (over || !ev.Over) {
		return
	}
	f.questions[ev.Question.ID] = ev.Over
	f.client.Asked(ev)
}

func (f *follower) record(r sessions.Record) {
	f.rec = r
	f.watch(sessions.Event{Record: r})
}

func (f *follower) step(st sessions.Step) {
	if was := f.told[st.N]; was == st.Phase || was == sessions.Done {
		return
	}
	f.told[st.N] = st.Phase
	f.watch(sessions.Event{Record: f.rec, Step: &st})
}

// readEvents reads server-sent events as the HTML standard defines them, and
// hands each to take, until the reader ends or take fails. Events without data
// are none.
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
