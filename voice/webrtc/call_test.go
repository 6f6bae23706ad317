package webrtc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"clank/internal/test/browsertest"
	"clank/internal/test/check"
	"clank/internal/test/rtctest"
	"clank/llm"
	"clank/voice"
	"clank/voice/webrtc"
)

// rig is a host with its calls and the stops that were asked for.
type rig struct {
	*webrtc.CallHost

	calls chan *webrtc.PageCall
	stops chan voice.Person
}

func start(t *testing.T, linger time.Duration) *rig {
	t.Helper()
	r := &rig{calls: make(chan *webrtc.PageCall, 4), stops: make(chan voice.Person, 4)}
	r.CallHost = &webrtc.CallHost{
		Engine: rtctest.OpenEngine(t, new(webrtc.Engine)), Linger: linger, Calls: r,
	}
	t.Cleanup(func() { r.close(t) })
	return r
}

func (r *rig) Begin(c *webrtc.PageCall)                 { r.calls <- c }
func (r *rig) Stop(_ *webrtc.PageCall, p voice.Person)  { r.stops <- p }
func (*rig) Share(*webrtc.PageCall, voice.Person, bool) {}

func (r *rig) close(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), rtctest.Patience)
	defer cancel()
	if err := r.Close(ctx); err != nil {
		t.Error(err)
	}
}

// join lets a page join.
func (r *rig) join(t *testing.T, name, key string) *rtctest.Page {
	t.Helper()
	page, offer := rtctest.NewPage(t, rtctest.PageOptions{})
	got, err := r.Join(t.Context(), webrtc.JoinRequest{SDP: offer, Name: name, Key: key})
	check.Must(t, err)
	page.Accept(t, got.SDP)
	rtctest.Next(t, page.Up)
	return page
}

// events reads the next events that are no packets, as "kind name".
func events(t *testing.T, call *webrtc.PageCall, n int) []string {
	t.Helper()
	var got []string
	for len(got) < n {
		e := rtctest.Next(t, call.Events())
		if e.Kind == "" {
			t.Fatalf("the call ended after %v: %v", got, call.Err())
		}
		if e.Kind != voice.PacketReceived {
			got = append(got, strings.TrimSpace(string(e.Kind)+" "+e.Person.Name))
		}
	}
	return got
}

func wantEvents(t *testing.T, call *webrtc.PageCall, want ...string) {
	t.Helper()
	check.Diff(t, "events", events(t, call, len(want)), want)
}

// joined returns a host with a call that Ada's page has joined.
func joined(t *testing.T, linger time.Duration) (*rig, *webrtc.PageCall, *rtctest.Page) {
	t.Helper()
	r := start(t, linger)
	page := r.join(t, "Ada", "a")
	call := rtctest.Next(t, r.calls)
	wantEvents(t, call, "connected", "joined Ada")
	return r, call, page
}

// told waits until a page is told a message of a type.
func told(t *testing.T, page *rtctest.Page, kind string) map[string]any {
	t.Helper()
	for {
		var m map[string]any
		check.Must(t, json.Unmarshal([]byte(rtctest.Next(t, page.Said)), &m))
		if m["type"] == kind {
			return m
		}
	}
}

func TestSeveralPagesAreInOneCall(t *testing.T) {
	r, call, ada := joined(t, time.Minute)
	bob := r.join(t, " Bob\n\x00 the  second "+strings.Repeat("x", 100), "b")
	if got := events(t, call, 1)[0]; !strings.HasPrefix(got, "joined Bob the second x") || len(got) > 50 {
		t.Errorf("event = %q", got)
	}
	people := call.People()
	if len(people) != 2 || people[0].ID == people[1].ID {
		t.Fatalf("people = %+v", people)
	}
	bob.SendOpus(t, 2, []byte("hi"))
	for range 2 {
		if got := rtctest.Next(t, call.Events()); got.Packet.From != people[1].ID || string(got.Packet.Opus) != "hi" {
			t.Errorf("heard %+v", got)
		}
	}
	check.Must(t, call.Play([]byte("hello")))
	check.Must(t, call.EndSpeech())
	for _, page := range []*rtctest.Page{ada, bob} {
		check.Equal(t, "a page hears", string(rtctest.Next(t, page.Sounds).Payload), "hello")
	}
	ada.SendText(t, `{"type":"leave"}`)
	wantEvents(t, call, "left Ada")
	rtctest.Next(t, ada.Ended)
	if r.Current() != call {
		t.Error("the call does not go on")
	}
}

func TestWhatThePageWishesIsDone(t *testing.T) {
	r, call, page := joined(t, time.Minute)
	page.SendText(t, `garbage`)
	page.SendText(t, `{"type":"stop"}`)
	if got := rtctest.Next(t, r.stops); got.Name != "Ada" {
		t.Errorf("%+v has pressed stop", got)
	}
	_ = page.PC.GracefulClose()
	if e := rtctest.Next(t, call.Events()); e.Kind != voice.Left {
		t.Errorf("event = %+v", e)
	}
	check.Fails(t, call.Play([]byte("x")), voice.ErrUnavailable)
}

func TestTheSameBrowserIsTheSamePerson(t *testing.T) {
	r, call, first := joined(t, time.Minute)
	before := call.People()
	r.join(t, "Ada L.", "a")
	wantEvents(t, call, "joined Ada L.")
	if got := told(t, first, "ended")["text"]; got != "The call goes on in another page of yours." {
		t.Errorf("the first page is told %q", got)
	}
	rtctest.Next(t, first.Ended)
	if after := call.People(); len(after) != 1 || after[0].ID != before[0].ID {
		t.Errorf("people = %+v, before %+v", after, before)
	}
}

func TestWhatIsWrittenAndShown(t *testing.T) {
	r, call, ada := joined(t, time.Minute)
	var screen rtctest.FrameSource
	screen.Show(rtctest.Red())
	call.Write(webrtc.Note{Kind: webrtc.NoticeNote, Text: "I listen."})
	call.Write(webrtc.Note{
		Kind: webrtc.ChatNote, Text: strings.Repeat("ä", 9000),
		Images: []llm.Image{{MediaType: "image/png", Data: []byte("png")}, {MediaType: "text/html", Data: []byte("no")}},
	})
	call.Show("Lamps", screen.Watch)
	chat := told(t, ada, "chat")
	check.Equal(t, "characters came", len([]rune(chat["text"].(string))), 8000)
	if got := rtctest.Next(t, ada.Frames); !bytes.Equal(got, rtctest.Red().Data) {
		t.Error("not the red frame came")
	}
	late := r.join(t, "Bob", "b")
	check.Equal(t, "who comes later reads", told(t, late, "notice")["text"], "I listen.")
	if got := told(t, late, "share"); got["on"] != true || got["text"] != "Lamps" {
		t.Errorf("who comes later is told %v", got)
	}
	rtctest.Next(t, late.Frames)
	pictures := chat["images"].([]any)
	for i, want := range []int{http.StatusOK, http.StatusNotFound} {
		res := httptest.NewRecorder()
		r.Handler().ServeHTTP(res, httptest.NewRequest(http.MethodGet, "/"+pictures[i].(string), nil))
		if res.Code != want || want == http.StatusOK && res.Body.String() != "png" {
			t.Errorf("picture %v: %d %s", pictures[i], res.Code, res.Body)
		}
	}
	call.StopShowing()
	if got := told(t, late, "share"); got["on"] != nil {
		t.Errorf("at the end of the showing the page is told %v", got)
	}
	browsertest.Eventually(t, "nobody looks", func() bool { return screen.Viewers() == 0 })
}

func TestACallEndsWhenNobodyIsThere(t *testing.T) {
	r := start(t, 50*time.Millisecond)
	before := runtime.NumGoroutine()
	page := r.join(t, "Ada", "a")
	call := rtctest.Next(t, r.calls)
	wantEvents(t, call, "connected", "joined Ada")
	_ = page.PC.GracefulClose()
	var kinds []voice.EventKind
	for e := range call.Events() {
		kinds = append(kinds, e.Kind)
	}
	if !slices.Equal(kinds, []voice.EventKind{voice.Left}) || call.Err() == nil || r.Current() != nil {
		t.Errorf("events %v, then %v", kinds, call.Err())
	}
	check.Must(t, call.Close(t.Context()))
	browsertest.Eventually(t, "nothing is left of it", func() bool { return runtime.NumGoroutine() <= before })
	r.join(t, "Ada", "a")
	if next := rtctest.Next(t, r.calls); next == call {
		t.Error("the call that has ended goes on")
	}
}

func TestTheEndOfTheHostEndsTheCall(t *testing.T) {
	r, call, page := joined(t, time.Minute)
	r.close(t)
	check.Equal(t, "the page is told", told(t, page, "ended")["text"], "The call has ended: clank is ending.")
	for range call.Events() {
	}
	check.Fails(t, call.Err(), nil, "clank is ending")
	_, offer := rtctest.NewPage(t, rtctest.PageOptions{})
	check.Fails(t, check.Err(r.Join(t.Context(), webrtc.JoinRequest{SDP: offer})), nil, "clank is ending")
}

func TestWhoCannotJoinIsToldWhy(t *testing.T) {
	r := start(t, time.Minute)
	_, offer := rtctest.NewPage(t, rtctest.PageOptions{})
	data, _ := json.Marshal(webrtc.JoinRequest{SDP: offer})
	post := func(body string) *httptest.ResponseRecorder {
		res := httptest.NewRecorder()
		r.Handler().ServeHTTP(res, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/join",
			strings.NewReader(body)))
		return res
	}
	for body, want := range map[string]int{"": 400, "{}": 400, `{"sdp":"x"}`: 400, `{"sdp":"` +
		strings.Repeat("x", 1<<18) + `"}`: 400} {
		if got := post(body); got.Code != want || !strings.Contains(got.Body.String(), `"error"`) {
			t.Errorf("%.20s: %d %s", body, got.Code, got.Body)
		}
	}
	for range webrtc.MaxPages {
		if got := post(string(data)); got.Code != http.StatusOK {
			t.Fatalf("%d %s", got.Code, got.Body)
		}
	}
	if got := post(string(data)); got.Code != http.StatusTooManyRequests ||
		!strings.Contains(got.Body.String(), "8 pages") {
		t.Errorf("one too many: %d %s", got.Code, got.Body)
	}
	if r.Current() != nil {
		t.Error("a call has begun that nobody is in")
	}
}
