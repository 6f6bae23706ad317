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
	"clank/llm"
)

// postGemini sends body to the server and returns what it answers.
func postGemini(t *testing.T, s *llmtest.GeminiServer, call, body string) (int, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.BaseURL()+"/v1beta/models/"+call, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(data)
}

const (
	geminiStreamPath = "gemini-3.5-flash:streamGenerateContent?alt=sse"
	geminiHello      = `{"contents":[{"role":"user","parts":[{"text":"hello"}]}]}`
	geminiScreenTool = `{"contents":[{"role":"user","parts":[{"text":"go"}]}],"tools":[{"computerUse":{"environment":"ENVIRONMENT_BROWSER","excludedPredefinedFunctions":["go_back"]}}]}`
)

func TestGeminiRefusesInvalidRequests(t *testing.T) {
	user := `{"role":"user","parts":[{"text":"go"}]}`
	called := `{"role":"model","parts":[{"functionCall":{"id":"1","name":"look"},"thoughtSignature":"skip_thought_signature_validator"}]}`
	called = strings.ReplaceAll(called, "_thought_signature_validator", "/thought/signature/validator") // as the library writes it
	for name, body := range map[string]string{
		"not JSON":             `{`,
		"an unknown field":     `{"contents":[` + user + `],"model":"x"}`,
		"an unknown part":      `{"contents":[{"role":"user","parts":[{"text":"x","hologram":{}}]}]}`,
		"a number as text":     `{"contents":[` + user + `],"generationConfig":{"maxOutputTokens":"7"}}`,
		"text as a number":     `{"contents":[{"role":"user","parts":[{"text":7}]}]}`,
		"no base64":            `{"contents":[{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"!"}}]}]}`,
		"no contents":          `{"contents":[]}`,
		"the model first":      `{"contents":[{"role":"model","parts":[{"text":"x"}]}]}`,
		"an unknown role":      `{"contents":[{"role":"system","parts":[{"text":"x"}]}]}`,
		"two of a role":        `{"contents":[` + user + `,` + user + `]}`,
		"no parts":             `{"contents":[{"role":"user","parts":[]}]}`,
		"an empty part":        `{"contents":[{"role":"user","parts":[{}]}]}`,
		"two kinds in a part":  `{"contents":[{"role":"user","parts":[{"text":"x","inlineData":{"mimeType":"image/png","data":"AA=="}}]}]}`,
		"a picture of nothing": `{"contents":[{"role":"user","parts":[{"inlineData":{"mimeType":"image/png"}}]}]}`,
		"a call of the user":   `{"contents":[{"role":"user","parts":[{"functionCall":{"name":"look"}}]}]}`,
		"an answer too many":   `{"contents":[{"role":"user","parts":[{"functionResponse":{"name":"look","response":{}}}]}]}`,
		"a call unanswered":    `{"contents":[` + user + `,` + called + `,` + user + `]}`,
		"a call at the end":    `{"contents":[` + user + `,` + called + `]}`,
		"another id":           `{"contents":[` + user + `,` + called + `,{"role":"user","parts":[{"functionResponse":{"id":"2","name":"look","response":{}}}]}]}`,
		"a call unsigned":      `{"contents":[` + user + `,{"role":"model","parts":[{"functionCall":{"name":"look"}}]},{"role":"user","parts":[{"functionResponse":{"name":"look","response":{}}}]}]}`,
		"a signature made up":  `{"contents":[` + user + `,{"role":"model","parts":[{"text":"x","thoughtSignature":"AAAA"}]},` + user + `]}`,
		"a tool twice":         `{"contents":[` + user + `],"tools":[{"functionDeclarations":[{"name":"a","description":"a"},{"name":"a","description":"a"}]}]}`,
		"a tool of null":       `{"contents":[` + user + `],"tools":[null]}`,
		"another environment":  `{"contents":[` + user + `],"tools":[{"computerUse":{"environment":"ENVIRONMENT_MOBILE"}}]}`,
	} {
		s := llmtest.OpenGemini(llmtest.Say("hi"))
		status, answer := postGemini(t, s, geminiStreamPath, body)
		if status != http.StatusBadRequest || len(s.Problems()) != 1 || !strings.Contains(answer, "INVALID_ARGUMENT") {
			t.Errorf("%s: status %d, problems %q, answer %s", name, status, s.Problems(), answer)
		}
		s.Close()
	}
	s := llmtest.NewGeminiServer(t, llmtest.Say("hi"))
	good := `{"contents":[` + user + `,` + called + `,{"role":"user","parts":[{"functionResponse":{"id":"1","name":"look","response":{}}}]}]}`
	if status, answer := postGemini(t, s, geminiStreamPath, good); status != http.StatusOK {
		t.Errorf("a good request: status %d, %s", status, answer)
	}
}

func TestGeminiReportsInvalidAnswers(t *testing.T) {
	for name, turn := range map[string]llmtest.Turn{
		"outside of the grid":    llmtest.Use("click", `{"x":1000,"y":1}`),
		"below the grid":         llmtest.Use("click", `{"x":1,"y":-1}`),
		"a place in words":       llmtest.Use("drag_and_drop", `{"start_x":"left"}`),
		"an unknown action":      llmtest.Use("fly", `{}`),
		"an excluded action":     llmtest.Use("go_back", `{}`),
		"beyond the script":      nil,
		"a tool nobody declared": llmtest.Use("read_text", `{}`),
	} {
		s := llmtest.OpenGemini()
		if turn != nil {
			s.Add(turn)
		}
		postGemini(t, s, geminiStreamPath, geminiScreenTool)
		if len(s.Problems()) != 1 {
			t.Errorf("%s: problems = %q, want one", name, s.Problems())
		}
		s.Close()
	}
	s := llmtest.NewGeminiServer(t, llmtest.GeminiUnchecked(llmtest.Reply{Calls: []llmtest.Call{{Name: "fly", Arguments: `{"x":5000}`}}}))
	if _, answer := postGemini(t, s, geminiStreamPath, geminiScreenTool); !strings.Contains(answer, `"fly"`) {
		t.Errorf("unchecked: %s", answer)
	}
}

func TestAnswersSayWhatTheScriptDoes(t *testing.T) {
	reply := llmtest.Reply{
		Reasoning: &llmtest.Reasoning{Summary: "hm"}, Text: "hello",
		Calls: []llmtest.Call{{Name: "click", Arguments: `{"x":1,"y":2}`}},
		Usage: &llm.Usage{InputTokens: 9, CachedTokens: 4, OutputTokens: 5, ReasoningTokens: 2},
	}
	s := llmtest.NewGeminiServer(t, llmtest.Answer(reply), llmtest.Answer(reply))
	_, stream := postGemini(t, s, geminiStreamPath, geminiScreenTool)
	var text strings.Builder
	var calls, ends int
	for data := range strings.SplitSeq(stream, "\r\n\r\n") {
		if data == "" {
			continue
		}
		var r llmtest.GeminiResponse
		if err := json.Unmarshal([]byte(strings.TrimPrefix(data, "data: ")), &r); err != nil {
			t.Fatalf("%v in %s", err, data)
		}
		text.WriteString(r.Text())
		calls += len(r.FunctionCalls())
		if r.Candidates[0].FinishReason != "" {
			ends++
			if u := r.UsageMetadata; u.PromptTokenCount != 9 || u.CandidatesTokenCount != 3 || u.ThoughtsTokenCount != 2 {
				t.Errorf("usage = %+v", u)
			}
		}
	}
	if text.String() != "hello" || calls != 1 || ends != 1 {
		t.Errorf("text %q, %d calls, %d ends", text.String(), calls, ends)
	}
	_, whole := postGemini(t, s, "gemini-3.5-flash:generateContent", geminiScreenTool)
	var r llmtest.GeminiResponse
	if err := json.Unmarshal([]byte(whole), &r); err != nil || r.Text() != "hello" || len(r.FunctionCalls()) != 1 {
		t.Errorf("whole = %s, %v", whole, err)
	}
}

func TestRequestsAreReadBack(t *testing.T) {
	s := llmtest.NewGeminiServer(t, llmtest.Say("hi"), llmtest.Say("hi"))
	body := `{"contents":[{"role":"user","parts":[{"text":"look"},{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]}],` +
		`"systemInstruction":{"parts":[{"text":"be brief"}]},"generationConfig":{"maxOutputTokens":7}}`
	postGemini(t, s, geminiStreamPath, body)
	postGemini(t, s, geminiStreamPath, geminiHello)
	r, err := s.Await(t.Context(), 1, llmtest.Ended)
	if err != nil || r.LastText() != "hello" || r.Model != "gemini-3.5-flash" || !r.Stream {
		t.Errorf("request = %+v, %v", r, err)
	}
	if r := s.Requests()[0]; r.System != "be brief" || r.MaxTokens != 7 || r.Messages[0].Parts[1].Image == nil {
		t.Errorf("request = %+v", r)
	}
}
