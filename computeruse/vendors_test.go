package computeruse_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"time"

	"clank/computeruse"
	"clank/computeruse/anthropic"
	"clank/computeruse/gemini"
	"clank/computeruse/openai"
	"clank/internal/test/llmtest"
	"clank/llm"
	claudeclient "clank/llm/anthropic"
	geminiclient "clank/llm/gemini"
	openaiclient "clank/llm/openai"
)

// move is one turn of a model, whoever its vendor is.
type move struct {
	act      string // click, drag, type, shot, or the name of a tool; "" says text
	x, y     int    // CSS pixels
	toX, toY int
	text     string // what is typed or said, or a tool's input
	warned   bool   // the vendor wants a person to look first
}

// vendor is a model server that speaks a vendor's dialect, and its mind.
type vendor struct {
	name, runtime string
	warns         bool
	serve         func(t *testing.T, script ...llmtest.Turn) (mind computeruse.Model, asked func() []llmtest.Request)
	reply         func(m move, width, height float64) llmtest.Reply
}

var usage = &llm.Usage{InputTokens: 10, OutputTokens: 5}

// turns returns moves in the dialect of the vendor.
func (v vendor) turns(width, height float64, moves ...move) []llmtest.Turn {
	var all []llmtest.Turn
	for _, m := range moves {
		if m.act == "" {
			all = append(all, llmtest.Say(m.text))
			continue
		}
		r := v.reply(m, width, height)
		r.Usage = usage
		all = append(all, llmtest.Answer(r))
	}
	return all
}

func called(name, arguments string) llmtest.Reply {
	return llmtest.Reply{Calls: []llmtest.Call{{Name: name, Arguments: arguments}}}
}

func quoted(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(raw)
}

func vendors() []vendor {
	const patience, silence = 2 * time.Minute, time.Minute
	stateful := func(stateless bool) func(*testing.T, ...llmtest.Turn) (computeruse.Model, func() []llmtest.Request) {
		return func(t *testing.T, script ...llmtest.Turn) (computeruse.Model, func() []llmtest.Request) {
			t.Helper()
			server := llmtest.NewServer(t, script...)
			mind, err := openai.New(openai.Options{Stateless: stateless, Client: openaiclient.Options{
				BaseURL: server.BaseURL(), Key: "sk-test-0123456789abcdef", Model: "gpt-6-sol", Timeout: patience, IdleTimeout: silence, Backoff: time.Millisecond,
			}})
			if err != nil {
				t.Fatal(err)
			}
			return mind, server.Requests
		}
	}
	return []vendor{
		{"openai", computeruse.RuntimeOpenAI, true, stateful(false), byOpenAI},
		{"openai, nothing stored", computeruse.RuntimeOpenAI, true, stateful(true), byOpenAI},
		{"anthropic", computeruse.RuntimeAnthropic, false, func(t *testing.T, script ...llmtest.Turn) (computeruse.Model, func() []llmtest.Request) {
			t.Helper()
			server := llmtest.NewAnthropicServer(t, script...)
			model, err := claudeclient.New(claudeclient.Options{
				BaseURL: server.BaseURL(), Key: "sk-ant-test-0123456789", Model: "claude-opus-5-5", Timeout: patience, IdleTimeout: silence, Backoff: time.Millisecond,
			})
			if err != nil {
				t.Fatal(err)
			}
			mind, err := anthropic.New(model, anthropic.ToolsAuto)
			if err != nil {
				t.Fatal(err)
			}
			return mind, server.Requests
		}, byClaude},
		{"gemini", computeruse.RuntimeGemini, true, func(t *testing.T, script ...llmtest.Turn) (computeruse.Model, func() []llmtest.Request) {
			t.Helper()
			server := llmtest.NewGeminiServer(t, script...)
			model, err := geminiclient.New(geminiclient.Options{
				BaseURL: server.BaseURL(), Key: "AIzaTest0123456789", Model: "gemini-3.5-flash", Timeout: patience, IdleTimeout: silence, Backoff: time.Millisecond,
			})
			if err != nil {
				t.Fatal(err)
			}
			mind, err := gemini.New(model)
			if err != nil {
				t.Fatal(err)
			}
			return mind, server.Requests
		}, byGemini},
	}
}

func byOpenAI(m move, _, _ float64) llmtest.Reply {
	var action string
	switch m.act {
	case "click":
		action = fmt.Sprintf(`{"type":"click","button":"left","x":%d,"y":%d,"keys":null}`, m.x, m.y)
	case "drag":
		action = fmt.Sprintf(`{"type":"drag","path":[{"x":%d,"y":%d},{"x":%d,"y":%d}],"keys":null}`, m.x, m.y, m.toX, m.toY)
	case "type":
		action = `{"type":"type","text":` + quoted(m.text) + `}`
	case "shot":
		action = `{"type":"screenshot"}`
	default:
		return called(m.act, m.text)
	}
	c := llmtest.ScreenCall{Actions: []string{action}}
	if m.warned {
		c.Checks = []llmtest.ScreenCheck{{ID: "cu_1", Code: "sensitive", Message: "Look at this first."}}
	}
	return llmtest.Reply{Screen: []llmtest.ScreenCall{c}}
}

func byClaude(m move, _, _ float64) llmtest.Reply {
	switch m.act {
	case "click":
		return called("computer.left_click", fmt.Sprintf(`{"coordinate":[%d,%d]}`, m.x, m.y))
	case "drag":
		return called("computer.left_click_drag", fmt.Sprintf(`{"start_coordinate":[%d,%d],"coordinate":[%d,%d]}`, m.x, m.y, m.toX, m.toY))
	case "type":
		return called("computer.type", `{"text":`+quoted(m.text)+`}`)
	case "shot":
		return called("computer.screenshot", `{}`)
	}
	return called(m.act, m.text)
}

func byGemini(m move, width, height float64) llmtest.Reply {
	on := func(at int, length float64) int { return int(math.Round(float64(at) * 1000 / length)) }
	warned := ""
	if m.warned {
		warned = `,"safety_decision":{"decision":"require_confirmation","explanation":"Look at this first."}`
	}
	switch m.act {
	case "click":
		return called("click", fmt.Sprintf(`{"x":%d,"y":%d%s}`, on(m.x, width), on(m.y, height), warned))
	case "drag":
		return called("drag_and_drop", fmt.Sprintf(`{"start_x":%d,"start_y":%d,"end_x":%d,"end_y":%d}`, on(m.x, width), on(m.y, height), on(m.toX, width), on(m.toY, height)))
	case "type":
		return called("type", `{"text":`+quoted(m.text)+`,"press_enter":false}`)
	case "shot":
		return called("take_screenshot", `{}`)
	}
	return called(m.act, m.text)
}
