package cdp_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"clank/browsermgr/cdp"
	"clank/internal/test/check"

	"github.com/go-rod/rod/lib/proto"
)

// line is a transport to a fake browser that answers only the listed methods, and counts the requests.
type line struct {
	answers map[string]bool
	heard   chan []byte
	ended   chan struct{}
	parts   atomic.Int64
	asked   atomic.Int64
}

func newLine(answers ...string) *line {
	l := &line{answers: map[string]bool{}, heard: make(chan []byte, 100), ended: make(chan struct{})}
	for _, method := range answers {
		l.answers[method] = true
	}
	return l
}

func (l *line) Read(context.Context) ([]byte, error) {
	select {
	case m := <-l.heard:
		l.parts.Add(1)
		return m, nil
	case <-l.ended:
		return nil, io.EOF
	}
}

func (l *line) Write(_ context.Context, message []byte) error {
	var r request
	if err := json.Unmarshal(message, &r); err != nil {
		return err
	}
	l.asked.Add(1)
	if l.answers[r.Method] {
		answer, err := json.Marshal(map[string]any{"id": r.ID, "result": map[string]any{}})
		if err != nil {
			return err
		}
		l.heard <- answer
	}
	return nil
}

func (l *line) Close() error { close(l.ended); return nil }

func (l *line) Parts() int64 { return l.parts.Load() }

func TestASilentBrowserIsGivenUpAndABusyPageIsNot(t *testing.T) {
	idle, busy := func() bool { return false }, func() bool { return true }
	for name, tc := range map[string]struct {
		answers []string
		works   func() bool
		want    error
		least   time.Duration
		most    time.Duration
	}{
		"the browser hangs":         {nil, idle, cdp.ErrSilent, time.Second, 3 * time.Second},
		"the browser may be slow":   {nil, busy, cdp.ErrSilent, 7 * time.Second, 10 * time.Second},
		"a browser elsewhere hangs": {nil, nil, cdp.ErrSilent, 7 * time.Second, 10 * time.Second},
		"a page hangs, the browser answers": {
			[]string{"Browser.getVersion"}, idle, cdp.ErrNoAnswer, time.Minute, time.Minute,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				transport := newLine(tc.answers...)
				c := cdp.New(transport, cdp.Options{CallTimeout: time.Minute, UsedCPU: tc.works})
				c.Start(quiet)
				defer c.Close()
				<-time.After(time.Hour) // nobody asks anything: silence is no fault
				if asked := transport.asked.Load(); asked != 0 || c.Err() != nil {
					t.Fatalf("asked %d times, %v", asked, c.Err())
				}
				begun := time.Now()
				check.Fails(t, c.Session("page", errors.New("lost")).Do(t.Context(), proto.RuntimeEvaluate{Expression: "for(;;);"}),
					tc.want)
				if took := time.Since(begun); took < tc.least || took > tc.most {
					t.Errorf("it was given up after %v, want %v to %v", took, tc.least, tc.most)
				}
			})
		})
	}
}
