package llmtest

import "strings"

// The part of the Generative Language API, v1beta, that our clients use, with the type names of its reference. Tests
// with the tag peers also decode the messages with the vendor's library, which contains all of it.

// The roles of contents.
const (
	geminiRoleUser  = "user"
	geminiRoleModel = "model"
)

// GeminiContent is one turn.
type GeminiContent struct {
	Parts []*GeminiPart `json:"parts,omitempty"`
	Role  string        `json:"role,omitempty"`
}

// GeminiPart is a piece of a turn.
type GeminiPart struct {
	FunctionCall     *GeminiFunctionCall     `json:"functionCall,omitempty"`
	FunctionResponse *GeminiFunctionResponse `json:"functionResponse,omitempty"`
	InlineData       *GeminiBlob             `json:"inlineData,omitempty"`
	Text             string                  `json:"text,omitempty"`
	Thought          bool                    `json:"thought,omitempty"`
	ThoughtSignature []byte                  `json:"thoughtSignature,omitempty"`
}

// GeminiFunctionCall is a call of a function or an action on a screen.
type GeminiFunctionCall struct {
	ID   string         `json:"id,omitempty"`
	Args map[string]any `json:"args,omitempty"`
	Name string         `json:"name,omitempty"`
}

// GeminiFunctionResponse answers a call.
type GeminiFunctionResponse struct {
	ID    string `json:"id,omitempty"`
	Name  string `json:"name,omitempty"`
	Parts []struct {
		InlineData *GeminiBlob `json:"inlineData"`
	} `json:"parts,omitempty"`
	Response map[string]any `json:"response,omitempty"`
}

// GeminiBlob is media.
type GeminiBlob struct {
	Data        []byte `json:"data,omitempty"`
	DisplayName string `json:"displayName,omitempty"`
	MIMEType    string `json:"mimeType,omitempty"`
}

// GeminiTool is functions or the screen.
type GeminiTool struct {
	ComputerUse *struct {
		Environment                 string   `json:"environment"`
		ExcludedPredefinedFunctions []string `json:"excludedPredefinedFunctions"`
	} `json:"computerUse"`
	FunctionDeclarations []struct {
		Description          string `json:"description"`
		Name                 string `json:"name"`
		ParametersJSONSchema any    `json:"parametersJsonSchema"`
	} `json:"functionDeclarations"`
}

// GeminiResponse is an answer or an event of one.
type GeminiResponse struct {
	Candidates     []*GeminiCandidate    `json:"candidates,omitempty"`
	ModelVersion   string                `json:"modelVersion,omitempty"`
	PromptFeedback *GeminiPromptFeedback `json:"promptFeedback,omitempty"`
	UsageMetadata  *GeminiUsage          `json:"usageMetadata,omitempty"`
}

// GeminiCandidate is one way to go on.
type GeminiCandidate struct {
	Content       *GeminiContent `json:"content,omitempty"`
	FinishMessage string         `json:"finishMessage,omitempty"`
	FinishReason  string         `json:"finishReason,omitempty"`
}

// GeminiPromptFeedback is why a prompt was refused.
type GeminiPromptFeedback struct {
	BlockReason string `json:"blockReason,omitempty"`
}

// GeminiUsage is what an answer used.
type GeminiUsage struct {
	CachedContentTokenCount int32 `json:"cachedContentTokenCount,omitempty"`
	CandidatesTokenCount    int32 `json:"candidatesTokenCount,omitempty"`
	PromptTokenCount        int32 `json:"promptTokenCount,omitempty"`
	ThoughtsTokenCount      int32 `json:"thoughtsTokenCount,omitempty"`
	TotalTokenCount         int32 `json:"totalTokenCount,omitempty"`
}

// parts returns the parts of the first candidate.
func (r *GeminiResponse) parts() []*GeminiPart {
	if len(r.Candidates) == 0 || r.Candidates[0] == nil || r.Candidates[0].Content == nil {
		return nil
	}
	return r.Candidates[0].Content.Parts
}

// Text returns what the answer says.
func (r *GeminiResponse) Text() string {
	var said strings.Builder
	for _, p := range r.parts() {
		if !p.Thought {
			said.WriteString(p.Text)
		}
	}
	return said.String()
}

// FunctionCalls returns the calls of the answer.
func (r *GeminiResponse) FunctionCalls() []*GeminiFunctionCall {
	var calls []*GeminiFunctionCall
	for _, p := range r.parts() {
		if p.FunctionCall != nil {
			calls = append(calls, p.FunctionCall)
		}
	}
	return calls
}
