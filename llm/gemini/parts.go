package gemini

// What a conversation is made of, as the reference of the Generative Language API, v1beta, has it (Content, Part and
// what is in it). A part that a model said is sent back as it came: what is read here has a type, what is only handed
// back is an object.

// Who says a content.
const (
	RoleUser  = "user"
	RoleModel = "model"
)

// Content is one turn of a conversation.
type Content struct {
	Parts []*Part `json:"parts,omitempty"`
	Role  string  `json:"role,omitempty"`
}

// Part is a piece of a content: text, or one kind of data.
type Part struct {
	FunctionCall     *FunctionCall     `json:"functionCall,omitempty"`
	FunctionResponse *FunctionResponse `json:"functionResponse,omitempty"`
	InlineData       *Blob             `json:"inlineData,omitempty"`
	Text             string            `json:"text,omitempty"`
	Thought          bool              `json:"thought,omitempty"` // the text is what the model thought
	// bytes in base64, in whichever form the server chose
	ThoughtSignature string `json:"thoughtSignature,omitempty"`

	CodeExecutionResult rawObject `json:"codeExecutionResult,omitzero"`
	ExecutableCode      rawObject `json:"executableCode,omitzero"`
	FileData            rawObject `json:"fileData,omitzero"`
	ToolCall            rawObject `json:"toolCall,omitzero"` // of a tool that the vendor runs
	ToolResponse        rawObject `json:"toolResponse,omitzero"`

	AudioTranscription rawObject `json:"audioTranscription,omitzero"`
	MediaProcessing    string    `json:"mediaProcessing,omitempty"`
	MediaResolution    rawObject `json:"mediaResolution,omitzero"`
	PartMetadata       rawObject `json:"partMetadata,omitzero"`
	SpeechMetadata     rawObject `json:"speechMetadata,omitzero"`
	VideoMetadata      rawObject `json:"videoMetadata,omitzero"`
}

// rawObject is JSON that we hand back without looking into it.
type rawObject = map[string]any

// FunctionCall is a call of a tool, or an action of the tool for computer use.
type FunctionCall struct {
	Args map[string]any `json:"args,omitempty"`
	ID   string         `json:"id,omitempty"` // models before Gemini 3 give none
	Name string         `json:"name,omitempty"`
}

// FunctionResponse answers a call by its id and name. Under "output" and "error"
// the response has what the API gives meaning to.
type FunctionResponse struct {
	ID       string                  `json:"id,omitempty"`
	Name     string                  `json:"name,omitempty"`
	Parts    []*FunctionResponsePart `json:"parts,omitempty"` // from Gemini 3 on
	Response map[string]any          `json:"response,omitempty"`
}

// FunctionResponsePart is a picture inside the answer to a call.
type FunctionResponsePart struct {
	InlineData *Blob `json:"inlineData,omitempty"`
}

// Blob is a picture, or other media.
type Blob struct {
	Data        []byte `json:"data,omitempty"`
	DisplayName string `json:"displayName,omitempty"`
	MIMEType    string `json:"mimeType,omitempty"`
}

// isText says whether p is text, of which there may be none, and nothing else.
func (p *Part) isText() bool {
	return p.FunctionCall == nil && p.FunctionResponse == nil && p.InlineData == nil && p.FileData == nil &&
		p.ExecutableCode == nil && p.CodeExecutionResult == nil && p.ToolCall == nil && p.ToolResponse == nil
}

// fillerSignature is what the vendor's guide to thought signatures wants with calls that
// no Gemini model made: it tells the server not to check. The guide writes it
// with "_", the same digit in the other alphabet of base64 (RFC 4648, section 5).
const fillerSignature = "skip/thought/signature/validator"

// lacksSignature returns the place of c's first call if none of its calls is signed, as models from Gemini 3 on
// demand, else -1. Calls of another model, or from before a change of model, have no signature of their own.
func (m *Model) lacksSignature(c *Content) int {
	if isOld(m.Model) {
		return -1
	}
	first := -1
	for i, p := range c.Parts {
		if p.FunctionCall == nil {
			continue
		}
		if p.ThoughtSignature != "" {
			return -1
		}
		if first < 0 {
			first = i
		}
	}
	return first
}
