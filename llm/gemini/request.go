package gemini

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"time"
)

// Config is what a request says besides the conversation: fields of
// GenerateContentRequest in the reference of the Generative Language API, v1beta.
type Config struct {
	System          string // instructions; may be empty
	Tools           []*Tool
	ToolConfig      *ToolConfig // nil: the model chooses
	MaxOutputTokens int32       // 0 leaves it to the model
}

// Tool is what a model may call: functions, or the vendor's actions on a screen.
type Tool struct {
	ComputerUse          *ComputerUse           `json:"computerUse,omitempty"`
	FunctionDeclarations []*FunctionDeclaration `json:"functionDeclarations,omitempty"`
}

// FunctionDeclaration is one function, its parameters as JSON Schema.
type FunctionDeclaration struct {
	Description          string         `json:"description,omitempty"`
	Name                 string         `json:"name,omitempty"`
	ParametersJSONSchema map[string]any `json:"parametersJsonSchema,omitzero"`
}

// EnvironmentBrowser is the screen that [ComputerUse] is about here.
const EnvironmentBrowser = "ENVIRONMENT_BROWSER"

// ComputerUse is the vendor's tool for working a screen.
type ComputerUse struct {
	Environment                 string   `json:"environment,omitempty"`
	ExcludedPredefinedFunctions []string `json:"excludedPredefinedFunctions,omitempty"`
}

// ToolConfig says how tools are to be used.
type ToolConfig struct {
	FunctionCallingConfig *FunctionCallingConfig `json:"functionCallingConfig,omitempty"`
}

// ModeNone forbids calls.
const ModeNone = "NONE"

// FunctionCallingConfig says whether functions may be called.
type FunctionCallingConfig struct {
	Mode string `json:"mode,omitempty"`
}

type requestBody struct {
	Contents          []wireContent    `json:"contents"`
	GenerationConfig  generationConfig `json:"generationConfig"`
	SystemInstruction *Content         `json:"systemInstruction,omitempty"`
	ToolConfig        *ToolConfig      `json:"toolConfig,omitempty"`
	Tools             []*Tool          `json:"tools,omitempty"`
}

type generationConfig struct {
	MaxOutputTokens int32 `json:"maxOutputTokens,omitempty"`
}

// wireContent is a content as it is sent: its parts are *Part or silence.
type wireContent struct {
	Parts []any  `json:"parts,omitempty"`
	Role  string `json:"role,omitempty"`
}

// emptyText is a part whose text is empty and has to be there all the same: the
// API refuses a signature without anything that it signs.
type emptyText struct {
	*Part
	Text string `json:"text"`
}

// body returns the request body. Neither contents nor config is changed.
func (m *Model) body(contents []*Content, config Config) ([]byte, error) {
	r := requestBody{
		Contents: m.turns(contents), Tools: config.Tools, ToolConfig: config.ToolConfig,
		GenerationConfig: generationConfig{MaxOutputTokens: config.MaxOutputTokens},
	}
	if config.System != "" {
		r.SystemInstruction = &Content{Role: RoleUser, Parts: []*Part{{Text: config.System}}}
	}
	body, err := json.Marshal(r)
	if err != nil {
		return nil, &rejectedError{"the request cannot be written: " + err.Error()}
	}
	return body, nil
}

// turns returns contents as they are sent, with the signatures that are due.
func (m *Model) turns(contents []*Content) []wireContent {
	turns := make([]wireContent, len(contents))
	for i, c := range contents {
		unsigned := m.lacksSignature(c)
		parts := make([]any, len(c.Parts))
		for j, p := range c.Parts {
			switch {
			case j == unsigned:
				signed := *p
				signed.ThoughtSignature = fillerSignature
				parts[j] = &signed
			case p.isText() && p.Text == "" && p.ThoughtSignature != "":
				parts[j] = emptyText{Part: p}
			default:
				parts[j] = p
			}
		}
		turns[i] = wireContent{Parts: parts, Role: c.Role}
	}
	return turns
}

// newRequest asks for a stream of events. The server is told how long we wait.
func (m *Model) newRequest(ctx context.Context, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if m.Key != "" {
		req.Header.Set("X-Goog-Api-Key", m.Key)
	}
	if end, ok := ctx.Deadline(); ok {
		seconds := max(1, math.Ceil(time.Until(end).Seconds()))
		req.Header.Set("X-Server-Timeout", strconv.Itoa(int(seconds)))
	}
	return req, nil
}
