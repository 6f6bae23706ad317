package load

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"sync"
	"time"
)

// Model serves the Chat Completions API and fills in the form as its prompts say; see [Prompt]. It stores only when
// it last answered each task. Unlike llmtest's servers it neither checks nor stores requests, because it must use
// almost no CPU time.
type Model struct {
	*httptest.Server
	Site    string
	Figures *Figures

	mu       sync.Mutex
	answered map[string]time.Time // by task
}

// NewModel returns a model for the site.
func NewModel(site string, f *Figures) *Model {
	m := &Model{Site: site, Figures: f, answered: map[string]time.Time{}}
	m.Server = httptest.NewServer(m)
	return m
}

// Prompt returns the prompt of a task with a number of loops.
func Prompt(person string, task, loops int) string {
	return fmt.Sprintf("Fill in the form %d times, as %s/%d.", loops, person, task)
}

// Answer returns the model's final answer to a Prompt.
func Answer(person string, task int) string { return fmt.Sprintf("Done by %s/%d.", person, task) }

var (
	prompts = regexp.MustCompile(`Fill in the form (\d+) times, as ([\w-]+)/(\d+)\.`)
	results = []byte(`"role":"tool"`)
)

// stepKinds are the steps of a loop, after each of which the model receives a result.
var stepKinds = [stepsOfLoop]string{"open+read", "type+read", "click+read"}

// stepsOfLoop is the number of tool calls in one loop: open, which returns the page, type, and click, which returns
// the changes.
const stepsOfLoop = 3

// ServeHTTP answers one request.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	arrived := time.Now()
	body, err := io.ReadAll(r.Body)
	found := prompts.FindAllSubmatchIndex(body, -1)
	if err != nil || len(found) == 0 { // a request for the list of models
		http.NotFound(w, r)
		return
	}
	at := found[len(found)-1]
	field := func(i int) string { return string(body[at[2*i]:at[2*i+1]]) }
	loops, _ := strconv.Atoi(field(1))
	person, task := field(2), field(2)+"/"+field(3)
	body = body[at[1]:]
	done := bytes.Count(body, results)
	m.mu.Lock()
	if last, under := m.answered[task]; under && done > 0 {
		m.Figures.Step(stepKinds[(done-1)%stepsOfLoop], arrived.Sub(last))
	}
	m.mu.Unlock()
	defer func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.answered[task] = time.Now()
		if done == loops*stepsOfLoop {
			delete(m.answered, task)
		}
	}()
	name := func(loop int) string { return strconv.Itoa(loop) + " of " + task }
	if done > 0 && done%stepsOfLoop == 0 {
		if !bytes.Contains(body, []byte("saved "+name(done/stepsOfLoop-1))) {
			last := body[bytes.LastIndex(body, results):]
			m.Figures.Fail(fmt.Errorf("%s: after %d steps the page does not say that it saved: %.1000s", task, done, last))
		}
		m.Figures.Loop(person)
	}
	if done >= loops*stepsOfLoop {
		stream(w, map[string]any{"role": "assistant", "content": "Done by " + task + "."}, "stop")
		return
	}
	args := map[string]string{"url": fmt.Sprintf("%s/form?%s-%d", m.Site, task, done)}
	tool := "browser_open"
	if done%stepsOfLoop > 0 {
		field, button, err := Refs(body)
		if err != nil {
			m.Figures.Fail(fmt.Errorf("%s: %w", task, err))
		}
		tool, args = "browser_type", map[string]string{"ref": field, "text": name(done / stepsOfLoop)}
		if done%stepsOfLoop == 2 {
			tool, args = "browser_click", map[string]string{"ref": button}
		}
	}
	arguments, err := json.Marshal(args)
	if err != nil {
		m.Figures.Fail(err)
	}
	stream(w, map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{
		"index": 0, "id": fmt.Sprintf("%s-%d", task, done), "type": "function",
		"function": map[string]any{"name": tool, "arguments": string(arguments)},
	}}}, "tool_calls")
}

// stream writes an answer as a single chunk.
func stream(w http.ResponseWriter, delta map[string]any, finish string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, choice := range []map[string]any{
		{"index": 0, "delta": delta},
		{"index": 0, "delta": map[string]any{}, "finish_reason": finish},
	} {
		chunk, err := json.Marshal(map[string]any{
			"id": "1", "object": "chat.completion.chunk", "model": "scripted",
			"choices": []any{choice},
		})
		if err != nil {
			panic(errors.Join(http.ErrAbortHandler, err))
		}
		_, _ = fmt.Fprintf(w, "data: %s\n\n", chunk)
	}
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}
