package llmtest

import (
	"errors"
	"fmt"

	"clank/llm"
)

// GeminiRequest is the body of a request.
type GeminiRequest struct {
	Contents          []*GeminiContent `json:"contents"`
	SystemInstruction *GeminiContent   `json:"systemInstruction,omitempty"`
	Tools             []*GeminiTool    `json:"tools,omitempty"`
	ToolConfig        *struct {
		FunctionCallingConfig struct {
			Mode string `json:"mode"`
		} `json:"functionCallingConfig"`
	} `json:"toolConfig"`
	GenerationConfig struct {
		MaxOutputTokens int32 `json:"maxOutputTokens"`
	} `json:"generationConfig"`
}

// DecodeGemini decodes a request's body; unknown fields are an error.
func DecodeGemini(body []byte) (GeminiRequest, error) {
	var w GeminiRequest
	if err := decodeStrict(body, &w); err != nil {
		return GeminiRequest{}, fmt.Errorf("decode request: %w", err)
	}
	return w, geminiSDKAccepts(body)
}

// check checks a request against the requirements of the API.
func (w GeminiRequest) check() error {
	if len(w.Contents) == 0 {
		return errors.New("contents are not specified")
	}
	var open []*GeminiFunctionCall // calls of the previous content
	for i, c := range w.Contents {
		if err := checkGeminiContent(c); err != nil {
			return fmt.Errorf("contents[%d]: %w", i, err)
		}
		if i == 0 && c.Role != geminiRoleUser {
			return errors.New("the first content must be of the user")
		}
		if i > 0 && w.Contents[i-1].Role == c.Role {
			return fmt.Errorf("contents[%d] has the role of the one before it", i)
		}
		if err := checkFunctionAnswers(open, c); err != nil {
			return fmt.Errorf("contents[%d]: %w", i, err)
		}
		open = nil
		for _, p := range c.Parts {
			if p.FunctionCall != nil {
				open = append(open, p.FunctionCall)
			}
		}
	}
	if len(open) > 0 {
		return errors.New("the last content has calls without answers")
	}
	if w.Contents[len(w.Contents)-1].Role != geminiRoleUser {
		return errors.New("the last content must be of the user")
	}
	return w.checkTools()
}

func checkGeminiContent(c *GeminiContent) error {
	if c == nil || (c.Role != geminiRoleUser && c.Role != geminiRoleModel) {
		return errors.New("the role must be user or model")
	}
	if len(c.Parts) == 0 {
		return errors.New("there are no parts")
	}
	for i, p := range c.Parts {
		if p == nil {
			return fmt.Errorf("parts[%d] is null", i)
		}
		kinds := 0
		for _, is := range []bool{
			p.Text != "" || p.ThoughtSignature != nil && p.FunctionCall == nil, p.FunctionCall != nil,
			p.FunctionResponse != nil, p.InlineData != nil,
		} {
			if is {
				kinds++
			}
		}
		if kinds != 1 {
			return fmt.Errorf("parts[%d] must have exactly one kind of data, it has %d", i, kinds)
		}
		if (p.FunctionCall != nil) && c.Role != geminiRoleModel || (p.FunctionResponse != nil) && c.Role != geminiRoleUser {
			return fmt.Errorf("parts[%d] does not belong to role %s", i, c.Role)
		}
		if r := p.FunctionResponse; r != nil && (r.Name == "" || r.Response == nil) {
			return fmt.Errorf("parts[%d]: a function response needs name and response", i)
		}
		if d := p.InlineData; d != nil && (d.MIMEType == "" || len(d.Data) == 0) {
			return fmt.Errorf("parts[%d]: inline data needs type and bytes", i)
		}
	}
	return nil
}

// checkFunctionAnswers checks that c answers exactly the calls before it, by id and name and in order.
func checkFunctionAnswers(open []*GeminiFunctionCall, c *GeminiContent) error {
	i := 0
	for _, p := range c.Parts {
		r := p.FunctionResponse
		if r == nil {
			continue
		}
		if i == len(open) {
			return fmt.Errorf("a function response for %s, which was not called", r.Name)
		}
		if r.ID != open[i].ID || r.Name != open[i].Name {
			return fmt.Errorf("a function response for %s %q where %s %q is due", r.Name, r.ID, open[i].Name, open[i].ID)
		}
		i++
	}
	if i != len(open) {
		return fmt.Errorf("%d calls, but %d function responses", len(open), i)
	}
	return nil
}

func (w GeminiRequest) checkTools() error {
	seen := map[string]bool{}
	for _, t := range w.Tools {
		if t == nil {
			return errors.New("a tool is null")
		}
		for _, f := range t.FunctionDeclarations {
			if f.Name == "" || f.Description == "" {
				return errors.New("a function needs name and description")
			}
			if seen[f.Name] || t.ComputerUse != nil && geminiActions[f.Name] {
				return fmt.Errorf("function %s is declared twice", f.Name)
			}
			seen[f.Name] = true
		}
		if t.ComputerUse != nil && t.ComputerUse.Environment != "ENVIRONMENT_BROWSER" {
			return errors.New("the environment must be the browser")
		}
	}
	return nil
}

// toRequest converts the request to package llm's types.
func (w GeminiRequest) toRequest() llm.Request {
	var r llm.Request
	if w.SystemInstruction != nil {
		for _, p := range w.SystemInstruction.Parts {
			r.System += p.Text
		}
	}
	r.MaxTokens = int(w.GenerationConfig.MaxOutputTokens)
	for _, t := range w.Tools {
		for _, f := range t.FunctionDeclarations {
			r.Tools = append(r.Tools,
				llm.Tool{Name: f.Name, Description: f.Description, Schema: mustEncode(f.ParametersJSONSchema)})
		}
	}
	for _, c := range w.Contents {
		m := llm.Message{Role: llm.RoleUser}
		if c.Role == geminiRoleModel {
			m.Role = llm.RoleAssistant
		}
		for _, p := range c.Parts {
			m.Parts = append(m.Parts, geminiPart(p))
		}
		r.Messages = append(r.Messages, m)
	}
	return r
}

func geminiPart(p *GeminiPart) llm.Part {
	switch {
	case p.FunctionCall != nil:
		return llm.Part{Call: &llm.ToolCall{
			ID: p.FunctionCall.ID, Name: p.FunctionCall.Name,
			Input: mustEncode(p.FunctionCall.Args),
		}}
	case p.FunctionResponse != nil:
		f := p.FunctionResponse
		r := &llm.ToolResult{ID: f.ID}
		r.Text, _ = f.Response["output"].(string)
		if failed, ok := f.Response["error"].(string); ok {
			r.Text, r.IsError = failed, true
		}
		for _, in := range f.Parts {
			if in.InlineData != nil {
				r.Images = append(r.Images, llm.Image{MediaType: in.InlineData.MIMEType, Data: in.InlineData.Data})
			}
		}
		return llm.Part{Result: r}
	case p.InlineData != nil:
		return llm.Part{Image: &llm.Image{MediaType: p.InlineData.MIMEType, Data: p.InlineData.Data}}
	}
	return llm.Part{Text: p.Text}
}
