package recording_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"clank/browseagent"
	"clank/internal/recording"
	"clank/llm"
	"clank/sessions"

	"github.com/google/go-cmp/cmp"
)

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

func (p *fakePage) ActIfUnchanged(ctx context.Context, kind string, args map[string]any, _ string) ([]string, bool, error) {
	notes, err := p.Act(ctx, kind, args)
	return notes, true, err
}

func (p *fakePage) Snapshot(context.Context, bool, int) (string, error) { return p.text, nil }

func (p *fakePage) Text(context.Context, string) (string, error) { return "All lamps.", nil }

func (p *fakePage) Screenshot(context.Context) (sessions.Screenshot, error) {
	return sessions.Screenshot{Image: llm.Image{MediaType: "image/png", Data: screen}}, nil
}

func (p *fakePage) State(context.Context) (url, title string, tabs []string, err error) {
	return "http://shop.test/", "Lumen", nil, nil
}

type fakeBrowser struct{ page fakePage }

func (b *fakeBrowser) Open(context.Context, sessions.PageRequest) (sessions.Page, bool, error) {
	return &b.page, false, nil
}

func (b *fakeBrowser) Close(context.Context, string) error { return nil }

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
	return llm.Reply{Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Text: text}}}, Stop: llm.StopEnd, Usage: llm.Usage{Calls: 1}}
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
	for _, err := range b.Run(tb.Context(), sessions.Session{ID: "s" + id}, sessions.Task{ID: id, SessionID: "s" + id, Prompt: prompt}) {
		last = err
	}
	return last
}

// open reads a bundle.
func open(tb testing.TB, name string) *recording.Recording {
	tb.Helper()
	b, err := recording.OpenRecording(name)
	must(tb, err)
	tb.Cleanup(func() {
		if err := b.Close(); err != nil {
			tb.Error(err)
		}
	})
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
	must(tb, err)
	return all.String()
}

// must ends the test if there is an error.
func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// equal compares what a test got with what it wants.
func equal(tb testing.TB, what string, want, got any) {
	tb.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		tb.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
