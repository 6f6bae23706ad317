package frame_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page/frame"
	"clank/internal/test/check"
)

// slowFrames is a transport to a fake browser: a page in one process, and all its frames in a second one, which takes
// 3 ms for each request. The frame named silent does not answer.
type slowFrames struct {
	page, frames, answers chan []byte
	silent                string
	ended                 chan struct{}
}

func (s *slowFrames) Read(context.Context) ([]byte, error) {
	select {
	case m := <-s.answers:
		return m, nil
	case <-s.ended:
		return nil, io.EOF
	}
}

func (s *slowFrames) Close() error { close(s.ended); return nil }

func (s *slowFrames) Parts() int64 { return 0 }

func (s *slowFrames) Write(_ context.Context, message []byte) error {
	var r struct {
		ID      int    `json:"id"`
		Session string `json:"sessionId"`
		Method  string `json:"method"`
		Params  struct {
			Expression string `json:"expression"`
			FrameID    string `json:"frameId"`
			Node       int    `json:"backendNodeId"`
			Object     string `json:"objectId"`
		} `json:"params"`
	}
	if err := json.Unmarshal(message, &r); err != nil || r.Session == s.silent {
		return err
	}
	result := "{}"
	switch r.Method {
	case "Page.createIsolatedWorld":
		result = `{"executionContextId": 1}`
	case "DOM.getFrameOwner":
		result = fmt.Sprintf(`{"backendNodeId": %s}`, r.Params.FrameID)
	case "DOM.resolveNode":
		result = fmt.Sprintf(`{"object": {"type": "object", "objectId": "%d"}}`, r.Params.Node)
	case "Runtime.callFunctionOn":
		result = fmt.Sprintf(`{"result": {"value": {"value": "e%s"}}}`, r.Params.Object)
	case "Runtime.evaluate":
		result = `{"result": {"objectId": "document", "value": {"value": true}}}`
		if said := regexp.MustCompile(`__clank\("(\w+)", "snapshot"`).FindStringSubmatch(r.Params.Expression); said != nil {
			result = fmt.Sprintf(`{"result": {"value": {"value": %s}}}`, piece(r.Session, said[1]))
		}
	}
	queue := s.frames
	if r.Session == "0" {
		queue = s.page
	}
	queue <- fmt.Appendf(nil, `{"id": %d, "sessionId": %q, "result": %s}`, r.ID, r.Session, result)
	return nil
}

// manyFrames is the number of frames of the page.
const manyFrames = 400

// piece returns what the script says of a document: a button, or in the page all frames.
func piece(session, token string) string {
	if session != "0" {
		return fmt.Sprintf(`{"text": "- button \"%s\" [ref=e1]", "found": true, "token": %q}`, session, token)
	}
	var lines, slots []string
	for i := range manyFrames {
		lines = append(lines, fmt.Sprintf("- Iframe [ref=e%d]", i+1))
		slots = append(slots, fmt.Sprintf(`{"ref": "e%d", "line": %d, "depth": 1}`, i+1, i))
	}
	return fmt.Sprintf(`{"text": %q, "found": true, "token": %q, "frames": [%s]}`, strings.Join(lines, "\n"), token,
		strings.Join(slots, ","))
}

// answer passes answers of a process on, one after another.
func (s *slowFrames) answer(queue chan []byte, pace time.Duration) {
	for {
		select {
		case m := <-queue:
			time.Sleep(pace) //nolint:forbidigo // the clock of synctest
			s.answers <- m
		case <-s.ended:
			return
		}
	}
}

func TestAPageWithHundredsOfFramesIsReadWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const room = 100 * manyFrames
		browser := &slowFrames{
			page: make(chan []byte, room), frames: make(chan []byte, room), answers: make(chan []byte, room),
			silent: "7", ended: make(chan struct{}),
		}
		var processes sync.WaitGroup
		processes.Go(func() { browser.answer(browser.page, 0) })
		processes.Go(func() { browser.answer(browser.frames, 3*time.Millisecond) })
		conn := cdp.New(browser, cdp.Options{CallTimeout: time.Minute})
		conn.Start(func(cdp.Event) {})
		frames := []*frame.Frame{frame.New(conn.Session("0", cdp.ErrDocumentGone), "0", nil, "")}
		for i := range manyFrames {
			id := strconv.Itoa(i + 1)
			frames = append(frames, frame.New(conn.Session(id, cdp.ErrDocumentGone), id, frames[0], "0"))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		source := frame.SnapshotSource{Frames: frames, Refs: &frame.RefRegistry{}}
		snap, err := frame.TakeSnapshot(ctx, source, frame.SnapshotOptions{})
		check.Must(t, err)
		check.Equal(t, "frames were read", strings.Count(snap.Text, "button"), manyFrames-1)
		check.Contains(t, snap.Text, "- Iframe [ref=e7]:\n  - text: (this frame did not answer)\n")
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for _, f := range frames {
			f.ForgetDocument()
		}
		snap, err = frame.TakeSnapshot(short, source, frame.SnapshotOptions{})
		check.Must(t, err)
		read, named := strings.Count(snap.Text, "button"), strings.Count(snap.Text, "text: (this frame ")
		if read == 0 || named == 0 || read+named != manyFrames {
			t.Errorf("in a short time %d frames were read and %d named, want some of each, and %d", read, named, manyFrames)
		}
		conn.Close()
		processes.Wait()
	})
}
