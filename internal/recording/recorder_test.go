package recording_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"clank/browseagent"
	"clank/internal/recording"
	"clank/internal/test/check"
	"clank/llm"
	"clank/sessions"

	"github.com/google/go-cmp/cmp"
)

func TestARunIsRecordedCompletely(t *testing.T) {
	t.Parallel()
	rec := &recording.Recorder{
		Dir: t.TempDir(), Versions: map[string]string{"clank": "1"},
		Settings: func() map[string]any { return map[string]any{"max_steps": 9} },
	}
	m := &script{replies: []llm.Reply{
		use("browser_open", `{"url":"http://shop.test/"}`), use("browser_click", `{"ref":"e6"}`),
		use("browser_screenshot", `{"show":true}`), say("Lamps."),
	}}
	check.Must(t, work(t, agent(rec, m), "t1", "look for lamps"))
	b := open(t, filepath.Join(rec.Dir, "t1"))
	if b.Cut {
		t.Error("the record of an ended run is cut")
	}
	begin := b.Start()
	got := fmt.Sprint(begin.Task.Prompt, begin.Runtime, begin.Session, begin.Versions, begin.Settings)
	check.Equal(t, "beginning", got, "look for lampslocal_browser_agentst1map[clank:1] map[max_steps:9]")
	var labels []string
	for _, s := range b.Steps() {
		labels = append(labels, fmt.Sprintf("%d %s %t", s.N, s.Label, s.Failed))
	}
	want := []string{
		"1 think false", "2 open shop.test false", "3 think false", `4 click "Buy" true`, "5 think false",
		"6 take a screenshot false", "7 think false", "8 answer false",
	}
	equal(t, "steps", want, labels)
	last := b.Steps()[len(b.Steps())-1]
	_, file, _ := strings.Cut(last.Images[0].MediaType, ";file=")
	if shown, err := os.ReadFile(filepath.Join(rec.Dir, "t1", "pictures", file)); err != nil ||
		string(shown) != string(screen) {
		t.Errorf("the picture of the answer: %q, %v", shown, err)
	}
}

func TestRequestsAreRecordedIncrementally(t *testing.T) {
	t.Parallel()
	rec := &recording.Recorder{Dir: t.TempDir()}
	m := &script{replies: []llm.Reply{
		use("browser_open", `{"url":"http://shop.test/"}`), use("browser_snapshot", `{}`),
		say("Lamps."),
	}}
	check.Must(t, work(t, agent(rec, m), "t1", "look for lamps"))
	b := open(t, filepath.Join(rec.Dir, "t1"))
	var asked [][]int
	var said []string
	var tools, systems int
	for _, e := range b.Entries {
		switch e.Kind {
		case recording.KindCall:
			asked = append(asked, e.Call.Messages)
			if e.Call.System != nil {
				systems++
			}
		case recording.KindMessage:
			said = append(said, e.Message.Text())
		case recording.KindTools:
			tools++
		}
	}
	equal(t, "messages of the calls", [][]int{{0}, {0, 1, 2}, {0, 1, 2, 3, 4}}, asked)
	if len(said) != 5 || said[0] != "look for lamps" {
		t.Errorf("messages %q", said)
	}
	if tools != 1 || systems != 1 {
		t.Errorf("tools were written %d times and the system prompt %d times, want once each", tools, systems)
	}
	check.Lacks(t, everything(t, rec.Dir), "sealed")
}

func TestFailuresAreRecorded(t *testing.T) {
	t.Parallel()
	rec := &recording.Recorder{Dir: t.TempDir()}
	m := &script{err: &llm.Error{Kind: llm.ErrRateLimited, Model: "test:script", Message: "too many"}}
	check.Fails(t, work(t, agent(rec, m), "t1", "look"), m.err)
	b := open(t, filepath.Join(rec.Dir, "t1"))
	last := b.Entries[len(b.Entries)-1]
	if last.Kind != recording.KindEnd || !strings.Contains(last.End.Error, "too many") {
		t.Errorf("the end: %+v", last.End)
	}
	for _, e := range b.Entries {
		if e.Kind == recording.KindCall && e.Call.Error.Kind != llm.ErrRateLimited {
			t.Errorf("the call: %+v", e.Call.Error)
		}
	}
}

func TestConcurrentRunsAreRecordedSeparately(t *testing.T) {
	t.Parallel()
	rec := &recording.Recorder{Dir: t.TempDir()}
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			m := &script{replies: []llm.Reply{
				use("browser_open", `{"url":"http://shop.test/"}`),
				say(fmt.Sprintf("answer %d", i)),
			}}
			if err := work(t, agent(rec, m), fmt.Sprintf("t%d", i), fmt.Sprintf("task %d", i)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for i := range 4 {
		b := open(t, filepath.Join(rec.Dir, fmt.Sprintf("t%d", i)))
		steps := b.Steps()
		check.Equal(t, fmt.Sprintf("run %d: answer", i), steps[len(steps)-1].Text, fmt.Sprintf("answer %d", i))
	}
}

func TestRunThatIsLeftOrStoppedEndsWithTheReason(t *testing.T) {
	t.Parallel()
	rec := &recording.Recorder{Dir: t.TempDir()}
	m := &script{replies: []llm.Reply{use("browser_open", `{"url":"http://shop.test/"}`)}}
	for range agent(rec, m).Run(t.Context(), sessions.Session{ID: "s"}, sessions.Task{ID: "left", Prompt: "x"}) {
		break
	}
	if rec.Running("left") {
		t.Error("it is still being recorded")
	}
	ctx, stop := context.WithCancelCause(t.Context())
	stop(errors.New("@ada said stop"))
	for range agent(rec, m).Run(ctx, sessions.Session{ID: "s"}, sessions.Task{ID: "stopped", Prompt: "x"}) {
		continue
	}
	for id, want := range map[string]string{"left": "nobody followed", "stopped": "@ada said stop"} {
		b := open(t, filepath.Join(rec.Dir, id))
		if last := b.Entries[len(b.Entries)-1]; last.End == nil || !strings.Contains(last.End.Error, want) {
			t.Errorf("%s ends with %+v, want %q", id, last.End, want)
		}
	}
}

func TestATaskContinuesWhenItsRecordCannotBeWritten(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	check.Must(t, os.WriteFile(file, nil, 0o600))
	rec := &recording.Recorder{Dir: file}
	m := &script{replies: []llm.Reply{use("browser_open", `{"url":"http://shop.test/"}`), say("Lamps.")}}
	check.Must(t, work(t, agent(rec, m), "t1", "look"))
	m = &script{replies: []llm.Reply{say("Lamps.")}}
	check.Must(t, work(t, agent(&recording.Recorder{Dir: t.TempDir()}, m), "../t1", "look"))
}

func TestASecondBackendContinuesTheBundle(t *testing.T) {
	t.Parallel()
	rec := &recording.Recorder{Dir: t.TempDir()}
	for _, answer := range []string{"first", "second"} {
		check.Must(t, work(t, agent(rec, &script{replies: []llm.Reply{use("browser_screenshot", `{}`), say(answer)}}), "t1",
			"look"))
	}
	b := open(t, filepath.Join(rec.Dir, "t1"))
	var answers []string
	for _, s := range b.Steps() {
		if s.Kind == sessions.StepAnswer {
			answers = append(answers, s.Text)
		}
	}
	equal(t, "answers", []string{"first", "second"}, answers)
	if pictures, err := os.ReadDir(filepath.Join(rec.Dir, "t1", "pictures")); err != nil || len(pictures) != 1 {
		t.Errorf("%d pictures, %v; the same one is kept once", len(pictures), err)
	}
}

func TestBundleStaysWithinItsSizeLimit(t *testing.T) {
	t.Parallel()
	rec := &recording.Recorder{Dir: t.TempDir(), MaxBytes: 40 << 10}
	m := &script{}
	for i := range 60 {
		m.replies = append(m.replies,
			use("browser_type", fmt.Sprintf(`{"ref":"e2","text":%q}`, strings.Repeat(strconv.Itoa(i), 500))))
	}
	task := sessions.Task{ID: "t1", Prompt: "look", MaxSteps: 50}
	for range agent(rec, m).Run(t.Context(), sessions.Session{ID: "s"}, task) {
		continue
	}
	size := int64(len(everything(t, rec.Dir)))
	b := open(t, filepath.Join(rec.Dir, "t1"))
	end := b.Entries[len(b.Entries)-1].End
	if end == nil || !end.Full || end.Dropped == 0 {
		t.Errorf("the end says %+v, want that something was left out", end)
	}
	if steps := len(b.Steps()); steps < 90 {
		t.Errorf("%d steps: they are kept in any case", steps)
	}
	if size > 200<<10 {
		t.Errorf("the bundle has %d bytes", size)
	}
}

func TestAFullDiskGetsNoPictures(t *testing.T) {
	t.Parallel()
	for _, full := range []bool{false, true} {
		rec := &recording.Recorder{Dir: filepath.Join(t.TempDir(), "runs"), DiskFull: func() bool { return full }}
		model := &script{replies: []llm.Reply{use("browser_screenshot", `{}`), say("x")}}
		check.Must(t, work(t, agent(rec, model), "t1", "look"))
		b := open(t, filepath.Join(rec.Dir, "t1"))
		pictures, err := filepath.Glob(filepath.Join(rec.Dir, "t1", "*", "*"))
		dropped := b.Entries[len(b.Entries)-1].End.Dropped
		if err != nil || (len(pictures) == 0) != full || (dropped > 0) != full {
			t.Errorf("disk full %t: %d pictures are kept and %d dropped", full, len(pictures), dropped)
		}
	}
}

func TestFilesAreForTheirOwnerAlone(t *testing.T) {
	t.Parallel()
	rec := &recording.Recorder{Dir: filepath.Join(t.TempDir(), "runs")}
	check.Must(t, work(t, agent(rec, &script{replies: []llm.Reply{use("browser_screenshot", `{}`), say("x")}}), "t1",
		"look"))
	err := filepath.WalkDir(rec.Dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %s", name, info.Mode())
		}
		return err
	})
	check.Must(t, err)
}

const state = `- heading "Lumen" [level=1] [ref=e1]
- searchbox "Search" [ref=e2]
- textbox "Password" [ref=e4] [password]
- textbox "Your PIN" [ref=e5]
- button "Buy" [ref=e6]`

// screen is a picture of a page; the bytes tell pictures apart.
var screen = []byte("\x89PNG\r\n\x1a\n one")

// fakePage shows the same whatever happens.
type fakePage struct{ text string }

func (p *fakePage) Act(_ context.Context, kind string, _ map[string]any) ([]string, error) {
	if kind == "click" {
		return nil, errors.New("the button is covered")
	}
	return nil, nil
}

// Assess implements [sessions.Page]: nothing sets anything off.
func (*fakePage) Assess(context.Context, string, map[string]any) (sessions.Assessment, error) {
	return sessions.Assessment{}, nil
}

func (p *fakePage) ActIfUnchanged(ctx context.Context, kind string, args map[string]any,
	_ string,
) ([]string, bool, error) {
	notes, err := p.Act(ctx, kind, args)
	return notes, true, err
}

func (p *fakePage) Snapshot(context.Context, sessions.SnapshotOptions) (string, error) {
	return p.text, nil
}

func (p *fakePage) Text(context.Context, string) (string, error) { return "All lamps.", nil }

func (p *fakePage) Screenshot(context.Context, string) (sessions.Screenshot, error) {
	return sessions.Screenshot{Image: llm.Image{MediaType: "image/png", Data: screen}}, nil
}

func (p *fakePage) State(context.Context) (url, title string, tabs []string, err error) {
	return "http://shop.test/", "Lumen", nil, nil
}

type fakeBrowser struct{ page fakePage }

func (b *fakeBrowser) Open(context.Context, sessions.PageRequest) (sessions.Page, string, error) {
	return &b.page, "", nil
}

func (*fakeBrowser) Rest(string) {}

func (b *fakeBrowser) Close(context.Context, string) error { return nil }

func (*fakeBrowser) Park(context.Context, string, bool) (bool, error) { return true, nil }

// script is a model that says one reply after the other.
type script struct {
	mu      sync.Mutex
	replies []llm.Reply
	err     error  // after the replies
	asked   func() // may be nil
}

func (s *script) Name() string { return "test:script" }

func (s *script) Caps() llm.Caps { return llm.Caps{Tools: true} }

func (s *script) Generate(context.Context, llm.Request, func(llm.Delta)) (llm.Reply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked != nil {
		s.asked()
	}
	if len(s.replies) == 0 {
		return llm.Reply{}, s.err
	}
	r := s.replies[0]
	s.replies = s.replies[1:]
	return r, nil
}

// use returns a reply that calls a tool.
func use(name, input string) llm.Reply {
	return llm.Reply{
		Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{
			{Opaque: &llm.Opaque{Owner: "test", Data: json.RawMessage(`"sealed"`)}},
			{Call: &llm.ToolCall{ID: "c" + name, Name: name, Input: json.RawMessage(input)}},
		}},
		Stop: llm.StopTools, Usage: llm.Usage{Calls: 1},
	}
}

func say(text string) llm.Reply {
	return llm.Reply{
		Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Text: text}}}, Stop: llm.StopEnd,
		Usage: llm.Usage{Calls: 1},
	}
}

// agent returns a recorded backend with a scripted model and a fake page.
func agent(rec *recording.Recorder, m *script) sessions.Backend {
	return rec.Backend(browseagent.Runtime, unframed(rec, m))
}

// unframed returns the same, but that its beginning and its end are not recorded.
func unframed(rec *recording.Recorder, m *script) sessions.Backend {
	return &browseagent.Agent{
		Browser: rec.Browser(&fakeBrowser{fakePage{state}}),
		Model:   func(context.Context, string) (llm.Model, error) { return rec.Model(m), nil },
	}
}

// work runs a task to its end and returns the last error.
func work(tb testing.TB, b sessions.Backend, id, prompt string) error {
	tb.Helper()
	var last error
	for _, err := range b.Run(tb.Context(), sessions.Session{ID: "s" + id},
		sessions.Task{ID: id, SessionID: "s" + id, Prompt: prompt}) {
		last = err
	}
	return last
}

// open reads a bundle.
func open(tb testing.TB, name string) *recording.Recording {
	tb.Helper()
	b, err := recording.OpenRecording(name)
	check.Must(tb, err)
	return b
}

// everything returns the names and contents of all files below a directory.
func everything(tb testing.TB, dir string) string {
	tb.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(name)
		all.WriteString(name + "\n")
		all.Write(raw)
		return err
	})
	check.Must(tb, err)
	return all.String()
}

// equal compares what a test got with what it wants.
func equal(tb testing.TB, what string, want, got any) {
	tb.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		tb.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
