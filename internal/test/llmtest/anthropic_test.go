package llmtest_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"clank/internal/test/llmtest"
)

// postAnthropic sends a body and returns the status and the answer.
func postAnthropic(t *testing.T, server *llmtest.Server, beta, body string) (int, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL()+"/v1/messages", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Anthropic-Version", "2023-06-01")
	if beta != "" {
		req.Header.Set("Anthropic-Beta", beta)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(answer)
}

const (
	anthropicHello        = `{"role":"user","content":[{"type":"text","text":"hi"}]}`
	anthropicClickCall    = `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"left_click","toolset_name":"computer","input":{}}]}`
	anthropicPixel        = `iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNiAAAABgADNjd8qAAAAABJRU5ErkJggg==`
	anthropicComputerTool = `"tools":[{"type":"computer_toolset_20260801"}]`
)

func TestAnthropicRefusesInvalidRequests(t *testing.T) {
	mark := `"cache_control":{"type":"ephemeral"}`
	for name, tt := range map[string]struct{ body, beta, says string }{
		"no max_tokens":    {`{"model":"m","messages":[` + anthropicHello + `]}`, "", "max_tokens is required"},
		"none at all":      {`{"model":"m","max_tokens":0,"messages":[` + anthropicHello + `]}`, "", "max_tokens are required"},
		"half a token":     {`{"model":"m","max_tokens":1.5,"messages":[` + anthropicHello + `]}`, "", "max_tokens must be a number of things"},
		"a number in text": {`{"model":"m","max_tokens":"1","messages":[` + anthropicHello + `]}`, "", "max_tokens must be a number of things"},
		"no list":          {`{"model":"m","max_tokens":1,"messages":` + anthropicHello + `}`, "", ".messages must be an array"},
		"no object":        {`[]`, "", "must be an object"},
		"unknown role":     {`{"model":"m","max_tokens":1,"messages":[{"role":"system","content":[{"type":"text","text":"x"}]}]}`, "", "must be one of"},
		"unknown block":    {`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"hologram"}]}]}`, "", `does not know type "hologram"`},
		"no type":          {`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"text":"x"}]}]}`, "", `does not know type ""`},
		"field of another": {`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":"x","tool_use_id":"a"}]}]}`, "", "does not know .messages[0].content[0].tool_use_id"},
		"thinking, marked": {`{"model":"m","max_tokens":1,"messages":[` + anthropicHello + `,{"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":"y",` + mark + `}]},` + anthropicHello + `]}`, "", "cache_control"},
		"unknown tool":     {`{"model":"m","max_tokens":1,"tools":[{"type":"computer_2025"}],"messages":[` + anthropicHello + `]}`, "", `does not know type "computer_2025"`},
		"unknown member":   {`{"model":"m","max_tokens":1,"tools":[{"type":"computer_toolset_20260801","configs":{"fly":{}}}],"messages":[` + anthropicHello + `]}`, "", "configs.fly"},
		"tool without":     {`{"model":"m","max_tokens":1,"tools":[{"name":"look"}],"messages":[` + anthropicHello + `]}`, "", "input_schema is required"},
		"schema of a list": {`{"model":"m","max_tokens":1,"tools":[{"name":"look","input_schema":{"type":"array"}}],"messages":[` + anthropicHello + `]}`, "", "input_schema.type"},
		"truth in text":    {`{"model":"m","max_tokens":1,"stream":"true","messages":[` + anthropicHello + `]}`, "", "must be true or false"},
		"effort unknown":   {`{"model":"m","max_tokens":1,"output_config":{"effort":"huge"},"messages":[` + anthropicHello + `]}`, "", "effort must be one of"},
		"input of a list":  {`{"model":"m","max_tokens":1,"messages":[` + anthropicHello + `,{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"x","input":[1]}]},` + anthropicHello + `]}`, "", "input must be an object"},
		"unknown field":    {`{"model":"m","max_tokens":1,"colour":"red","messages":[` + anthropicHello + `]}`, "", "does not know .colour"},
		"unknown in block": {`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":"x","bold":true}]}]}`, "", "bold"},
		"no JSON":          {`{"model`, "", "decode request"},
		"two of one role":  {`{"model":"m","max_tokens":1,"messages":[` + anthropicHello + `,` + anthropicHello + `]}`, "", "both of role user"},
		"model begins":     {`{"model":"m","max_tokens":1,"messages":[` + anthropicClickCall + `]}`, "", "must begin with the user"},
		"empty text":       {`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":" "}]}]}`, "", "must not be empty"},
		"no result":        {`{"model":"m","max_tokens":1,` + anthropicComputerTool + `,"messages":[` + anthropicHello + `,` + anthropicClickCall + `,` + anthropicHello + `]}`, "", "1 calls of tools, 0 results"},
		"no toolset name":  {`{"model":"m","max_tokens":1,` + anthropicComputerTool + `,"messages":[` + anthropicHello + `,` + anthropicClickCall + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}]}`, "", `toolset_name ""`},
		"text first":       {`{"model":"m","max_tokens":1,` + anthropicComputerTool + `,"messages":[` + anthropicHello + `,` + anthropicClickCall + `,{"role":"user","content":[{"type":"text","text":"x"},{"type":"tool_result","tool_use_id":"a","toolset_name":"computer"}]}]}`, "", "before everything else"},
		"picture of error": {`{"model":"m","max_tokens":1,` + anthropicComputerTool + `,"messages":[` + anthropicHello + `,` + anthropicClickCall + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","toolset_name":"computer","is_error":true,"content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + anthropicPixel + `"}}]}]}]}`, "", "only text"},
		"no picture":       {`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}]}]}`, "", "could not process image"},
		"made up thinking": {`{"model":"m","max_tokens":1,"messages":[` + anthropicHello + `,{"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":"y"}]},` + anthropicHello + `]}`, "", "invalid signature"},
		"too many marks":   {`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[` + strings.TrimSuffix(strings.Repeat(`{"type":"text","text":"x",`+mark+`},`, 5), ",") + `]}]}`, "", "5 blocks"},
		"forced choice":    {`{"model":"claude-opus-5-5","max_tokens":1,"tool_choice":{"type":"any"},"messages":[` + anthropicHello + `]}`, "", "cannot be forced"},
		"thinking off":     {`{"model":"claude-opus-5-5","max_tokens":1,"thinking":{"type":"disabled"},"messages":[` + anthropicHello + `]}`, "", "cannot be disabled"},
		"budget too large": {`{"model":"m","max_tokens":2000,"thinking":{"type":"enabled","budget_tokens":2000},"messages":[` + anthropicHello + `]}`, "", "budget_tokens"},
		"new tool, old":    {`{"model":"claude-haiku-4-5","max_tokens":1,` + anthropicComputerTool + `,"messages":[` + anthropicHello + `]}`, "", "does not support tool type"},
		"old tool, new":    {`{"model":"claude-opus-5-5","max_tokens":1,"tools":[{"type":"computer_20251124","name":"computer","display_width_px":1,"display_height_px":1}],"messages":[` + anthropicHello + `]}`, "computer-use-2025-11-24", "does not support tool type"},
		"no beta header":   {`{"model":"claude-opus-4-6","max_tokens":1,"tools":[{"type":"computer_20251124","name":"computer","display_width_px":1,"display_height_px":1}],"messages":[` + anthropicHello + `]}`, "other", "needs its beta header"},
	} {
		t.Run(name, func(t *testing.T) {
			server := llmtest.OpenAnthropic(llmtest.Say("fine"))
			defer server.Close()
			status, answer := postAnthropic(t, server, tt.beta, tt.body)
			var told struct {
				Error struct{ Type, Message string } `json:"error"`
			}
			if err := json.Unmarshal([]byte(answer), &told); err != nil {
				t.Fatalf("answer %q: %v", answer, err)
			}
			if status != http.StatusBadRequest || told.Error.Type != "invalid_request_error" || !strings.Contains(told.Error.Message, tt.says) {
				t.Errorf("status %d, %+v; want 400 and %q", status, told.Error, tt.says)
			}
			if len(server.Problems()) == 0 {
				t.Error("the server has no problem with it")
			}
		})
	}
}

func TestAnthropicReportsInvalidAnswers(t *testing.T) {
	server := llmtest.OpenAnthropic(llmtest.Answer(llmtest.Reply{Text: "x", Refusal: "no"}), llmtest.Answer(llmtest.Reply{Calls: []llmtest.Call{{Name: "x", Arguments: "["}}}))
	defer server.Close()
	for range 2 {
		postAnthropic(t, server, "", `{"model":"m","max_tokens":1,"stream":true,"messages":[`+anthropicHello+`]}`)
	}
	if got := server.Problems(); len(got) != 0 {
		t.Errorf("problems with what the vendor gives: %q", got)
	}
	for name, tt := range map[string]struct{ what, message string }{
		"an event unknown":    {"event", `{"type":"weather_report"}`},
		"a block unknown":     {"event", `{"type":"content_block_start","index":0,"content_block":{"type":"hologram"}}`},
		"a piece unknown":     {"event", `{"type":"content_block_delta","index":0,"delta":{"type":"photon_delta"}}`},
		"a piece without end": {"event", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta"}}`},
		"a whole of a user":   {"whole", `{"type":"message","role":"user"}`},
		"no JSON":             {"whole", `{`},
	} {
		if llmtest.CheckAnthropic(tt.what, tt.message) == nil {
			t.Errorf("%s is no problem", name)
		}
	}
}
