package llmtest_test

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/internal/test/npm"
	"clank/llm"
	"clank/llm/anthropic"
	"clank/llm/gemini"
	"clank/llm/openai"
	"clank/llm/transport"
)

const aimockVersion = "1.43.0"

//go:embed testdata/aimock.mjs
var serve string

// mock is a running aimock.
type mock struct {
	url string
	in  io.Writer
	out *bufio.Scanner
}

// start installs aimock in a directory of its own and runs it until the test ends.
func start(t *testing.T) *mock {
	t.Helper()
	if os.Getenv("CLANK_PEERS") == "" {
		t.Skip("aimock is installed from the network: CLANK_PEERS=1 or make test-peers does that")
	}
	modules := t.TempDir()
	check.Must(t, npm.Install(t.Context(), modules, "@copilotkit/aimock@"+aimockVersion))
	p, err := npm.StartProcess(t.Context(), t.Output(), serve,
		filepath.Join(modules, "node_modules/@copilotkit/aimock/dist/index.js"))
	check.Must(t, err)
	t.Cleanup(func() { _ = p.Close() })
	m := &mock{in: p.In, out: bufio.NewScanner(p.Out)}
	m.url = m.line(t)
	return m
}

func (m *mock) line(t *testing.T) string {
	t.Helper()
	if !m.out.Scan() {
		t.Fatal("aimock ended")
	}
	return m.out.Text()
}

// order has aimock behave in another way from now on.
func (m *mock) order(t *testing.T, what string) {
	t.Helper()
	fmt.Fprintln(m.in, what)
	if got := m.line(t); got != what {
		t.Fatalf("aimock said %q to %q", got, what)
	}
}

var tools = []llm.Tool{{
	Name: "browser_open", Description: "Open a page.",
	Schema: json.RawMessage(`{"type":"object","properties":{"url":{"type":"string"}},"required":["url"],"additionalProperties":false}`),
}}

// clients returns our clients for each dialect that aimock speaks.
func clients(t *testing.T, url string) map[string]llm.Model {
	t.Helper()
	all := map[string]llm.Model{}
	for name, api := range map[string]openai.API{"responses": openai.APIResponses, "chat": openai.APIChat} {
		m, err := openai.New(openai.Options{
			BaseURL: url + "/v1", Key: "k", Model: "gpt-5.4", API: api,
			Retry: transport.RetryPolicy{Backoff: time.Millisecond},
		})
		check.Must(t, err)
		all[name] = m
	}
	claude, err := anthropic.New(anthropic.Options{
		BaseURL: url, Key: "k", Model: "claude-opus-5-5",
		Retry: transport.RetryPolicy{Backoff: time.Millisecond},
	})
	check.Must(t, err)
	all["messages"] = claude
	google, err := gemini.New(gemini.Options{
		BaseURL: url, Key: "k", Model: "gemini-3.5-flash",
		Retry: transport.RetryPolicy{Backoff: time.Millisecond},
	})
	check.Must(t, err)
	all["generateContent"] = google
	return all
}

// TestAServerOfOtherHandsAnswersOurClients asks a server of vendors' protocols that nobody here wrote.
func TestAServerOfOtherHandsAnswersOurClients(t *testing.T) {
	server := start(t)
	for name, model := range clients(t, server.url) {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			var streamed strings.Builder
			said, err := model.Generate(ctx, llm.Request{
				System: "Be brief.", Messages: []llm.Message{llm.UserText("hello")},
				MaxTokens: 100,
			},
				func(d llm.Delta) { streamed.WriteString(d.Text) })
			check.Must(t, err)
			if want := "Good morning, Ada."; said.Text() != want || streamed.String() != want || said.Stop != llm.StopEnd {
				t.Errorf("got %q, streamed %q, stop %s, want %q", said.Text(), streamed.String(), said.Stop, want)
			}

			req := llm.Request{Messages: []llm.Message{llm.UserText("open the shop")}, Tools: tools, MaxTokens: 100}
			wish, err := model.Generate(ctx, req, nil)
			check.Must(t, err)
			calls := wish.Calls()
			if len(calls) != 1 || calls[0].Name != "browser_open" || string(calls[0].Input) != `{"url":"https://shop.test/"}` ||
				wish.Stop != llm.StopTools {
				t.Fatalf("got %+v, stop %s", calls, wish.Stop)
			}
			req.Messages = append(req.Messages, wish.Message,
				llm.Message{
					Role:  llm.RoleUser,
					Parts: []llm.Part{{Result: &llm.ToolResult{ID: calls[0].ID, Text: "the page shows lamps"}}},
				})
			end, err := model.Generate(ctx, req, nil)
			if err != nil || end.Text() != "It sells lamps." {
				t.Errorf("got %q, %v", end.Text(), err)
			}
			checkFaults(ctx, t, server, model)
		})
	}
}

// checkFaults has aimock refuse a request, and cut answers off.
func checkFaults(ctx context.Context, t *testing.T, server *mock, model llm.Model) {
	t.Helper()
	hello := llm.Request{Messages: []llm.Message{llm.UserText("hello")}, MaxTokens: 100}
	server.order(t, "limit")
	if said, err := model.Generate(ctx, hello, nil); err != nil || said.Text() != "Good morning, Ada." {
		t.Errorf("after one 429: got %q, %v, want the second try's answer", said.Text(), err)
	}
	server.order(t, "break")
	_, err := model.Generate(ctx, hello, nil)
	var told *llm.Error
	if !errors.As(err, &told) || told.Kind != llm.ErrCutOff && told.Kind != llm.ErrUnavailable {
		t.Errorf("cut off: got %v", err)
	}
	server.order(t, "mend")
}
