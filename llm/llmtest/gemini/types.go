package gemini

import "strings"

// The part of the Generative Language API, v1beta, that clients of ours have a
// use for, as its reference has it, under the names of its types there. Tests
// with the tag peers hold the same messages against the types of the vendor's
// library, which know all of it.

// The roles of contents.
const (
	roleUser  = "user"
	roleModel = "model"
)

// Content is one turn.
type Content struct {
	Parts []*Part `json:"parts,omitempty"`
	Role  string  `json:"role,omitempty"`
}

// Part is a piece of a turn.
type Part struct {
	FunctionCall     *FunctionCall     `json:"functionCall,omitempty"`
	FunctionResponse *FunctionResponse `json:"functionResponse,omitempty"`
	InlineData       *Blob             `json:"inlineData,omitempty"`
	Text             string            `json:"text,omitempty"`
	Thought          bool              `json:"thought,omitempty"`
	ThoughtSignature []byte            `json:"thoughtSignature,omitempty"`
}

// FunctionCall is a call of a function or an action on a screen.
type FunctionCall struct {
	ID   string         `json:"id,omitempty"`
	Args map[string]any `json:"args,omitempty"`
	Name string         `json:"name,omitempty"`
}

// FunctionResponse answers a call.
type FunctionResponse struct {
	ID       string                  `json:"id,omitempty"`
	Name     string                  `json:"name,omitempty"`
	Parts    []*FunctionResponsePart `json:"parts,omitempty"`
	Response map[string]any          `json:"response,omitempty"`
}

// FunctionResponsePart is a picture in an answer to a call.
type FunctionResponsePart struct {
	InlineData *Blob `json:"inlineData,omitempty"`
}

// Blob is media.
type Blob struct {
	Data        []byte `json:"data,omitempty"`
	DisplayName string `json:"displayName,omitempty"`
	MIMEType    string `json:"mimeType,omitempty"`
}

// Tool is functions or the screen.
type Tool struct {
	ComputerUse          *ComputerUse           `json:"computerUse,omitempty"`
	FunctionDeclarations []*FunctionDeclaration `json:"functionDeclarations,omitempty"`
}

// ComputerUse is the screen.
type ComputerUse struct {
	EnablePromptInjectionDetection *bool    `json:"enablePromptInjectionDetection,omitempty"`
	Environment                    string   `json:"environment,omitempty"`
	ExcludedPredefinedFunctions    []string `json:"excludedPredefinedFunctions,omitempty"`
}

// FunctionDeclaration describes a function.
type FunctionDeclaration struct {
	Description          string `json:"description,omitempty"`
	Name                 string `json:"name,omitempty"`
	ParametersJSONSchema any    `json:"parametersJsonSchema,omitempty"`
}

// ToolConfig says how tools are to be used.
type ToolConfig struct {
	FunctionCallingConfig *FunctionCallingConfig `json:"functionCallingConfig,omitempty"`
}

// FunctionCallingConfig says whether functions may be called.
type FunctionCallingConfig struct {
	Mode string `json:"mode,omitempty"`
}

// GenerationConfig bounds an answer.
type GenerationConfig struct {
	MaxOutputTokens int32           `json:"maxOutputTokens,omitempty"`
	ThinkingConfig  *ThinkingConfig `json:"thinkingConfig,omitempty"`
}

// ThinkingConfig says how much the model is to think.
type ThinkingConfig struct {
	IncludeThoughts bool   `json:"includeThoughts,omitempty"`
	ThinkingLevel   string `json:"thinkingLevel,omitempty"`
}

// GenerateContentResponse is an answer or an event of one.
type GenerateContentResponse struct {
	Candidates     []*Candidate    `json:"candidates,omitempty"`
	ModelVersion   string          `json:"modelVersion,omitempty"`
	PromptFeedback *PromptFeedback `json:"promptFeedback,omitempty"`
	UsageMetadata  *UsageMetadata  `json:"usageMetadata,omitempty"`
}

// Candidate is one way to go on.
type Candidate struct {
	Content       *Content `json:"content,omitempty"`
	FinishMessage string   `json:"finishMessage,omitempty"`
	FinishReason  string   `json:"finishReason,omitempty"`
}

// PromptFeedback is why a prompt was refused.
type PromptFeedback struct {
	BlockReason string `json:"blockReason,omitempty"`
}

// UsageMetadata is what an answer used.
type UsageMetadata struct {
	CachedContentTokenCount int32 `json:"cachedContentTokenCount,omitempty"`
	CandidatesTokenCount    int32 `json:"candidatesTokenCount,omitempty"`
	PromptTokenCount        int32 `json:"promptTokenCount,omitempty"`
	ThoughtsTokenCount      int32 `json:"thoughtsTokenCount,omitempty"`
	TotalTokenCount         int32 `json:"totalTokenCount,omitempty"`
}

// parts are those of the first candidate.
func (r *GenerateContentResponse) parts() []*Part {
	if len(r.Candidates) == 0 || r.Candidates[0] == nil || r.Candidates[0].Content == nil {
		return nil
	}
	return r.Candidates[0].Content.Parts
}

// Text is what the answer says.
func (r *GenerateContentResponse) Text() string {
	var said strings.Builder
	for _, p := range r.parts() {
		if !p.Thought {
			said.WriteString(p.Text)
		}
	}
	return said.String()
}

// FunctionCalls are the calls of the answer.
func (r *GenerateContentResponse) FunctionCalls() []*FunctionCall {
	var calls []*FunctionCall
	for _, p := range r.parts() {
		if p.FunctionCall != nil {
			calls = append(calls, p.FunctionCall)
		}
	}
	return calls
}
