package gemini

import (
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"slices"
	"strings"

	"clank/computeruse"
	"clank/llm"
	"clank/llm/gemini"
)

// Model is a Gemini model that works a screen. It is safe for concurrent use.
type Model struct {
	model    *gemini.Model
	excluded []string // of the vendor's own actions
}

// New returns a model for computer use. A model without that ability is refused with an [*llm.Error].
func New(model *gemini.Model) (*Model, error) {
	if !model.Caps().Computer {
		return nil, &llm.Error{
			Kind: llm.ErrRejected, Model: model.Name(), Message: "this model does not work a screen",
			Hint: "choose one with computer use, such as a Flash model from Gemini 3.5 on, or the runtime local_browser_agent",
		}
	}
	m := &Model{model: model}
	if isOld(model.Name()) {
		m.excluded = []string{"search"} // it leaves open which search engine is meant
	}
	return m, nil
}

// Name returns "provider:model".
func (m *Model) Name() string { return m.model.Name() }

// maxEdge limits the longer side of a picture. The vendor's grid always has 1000 cells, so more pixels than twice that
// do not improve clicks.
const maxEdge = 2000

// Fit returns the screen's own size, or, of a large one, that of a smaller picture.
func (m *Model) Fit(screen image.Point) image.Point {
	edge := max(screen.X, screen.Y)
	if edge <= maxEdge {
		return screen
	}
	return image.Pt(max(1, screen.X*maxEdge/edge), max(1, screen.Y*maxEdge/edge))
}

// Begin implements [computeruse.Model].
func (m *Model) Begin(b computeruse.ConversationOptions) (computeruse.Conversation, error) {
	t := &conversation{model: m, toolNames: map[string]bool{}}
	var tools []llm.Tool
	for _, tool := range b.Tools {
		if m.hasAction(tool.Name) {
			continue // replaced by the vendor's own action
		}
		t.toolNames[tool.Name] = true
		tools = append(tools, tool)
	}
	declared, err := gemini.DeclareTools(tools)
	if err != nil {
		return nil, fmt.Errorf("begin a talk with %s: %w", m.Name(), err)
	}
	use := &gemini.ComputerUse{Environment: gemini.EnvironmentBrowser, ExcludedPredefinedFunctions: m.excluded}
	t.config = gemini.Config{
		System:          b.System,
		Tools:           append([]*gemini.Tool{{ComputerUse: use}}, declared...),
		MaxOutputTokens: int32(min(max(b.MaxTokens, 0), 1<<30)),
	}
	if len(b.Memory) > 0 {
		if err := t.load(b.Memory); err != nil {
			return nil, fmt.Errorf("continue the conversation with %s: %w", m.Name(), err)
		}
	}
	return t, nil
}

// hasAction reports whether the model has the vendor's action with that name.
func (m *Model) hasAction(name string) bool {
	_, known := vendorActions[name]
	return known && !slices.Contains(m.excluded, name)
}

// isOld reports whether a model has the actions of Gemini 2.5, which Gemini 3 Flash kept.
func isOld(name string) bool {
	name = strings.ToLower(name[strings.LastIndexAny(name, ":/")+1:])
	return strings.HasPrefix(name, "gemini-2") || strings.HasPrefix(name, "gemini-3-")
}

// storedConversation is what a talk needs to go on.
type storedConversation struct {
	Dialect  string            `json:"dialect"` // always [dialect]
	Model    string            `json:"model"`
	Contents []*gemini.Content `json:"contents"`
	Pending  []pendingCall     `json:"pending,omitempty"` // what the model waits for, in its order
	Size     image.Point       `json:"size"`              // of the newest picture
	URL      string            `json:"url,omitempty"`
}

const memoryDialect = "gemini generateContent 1"

// pendingCall is a call that has to be answered.
type pendingCall struct {
	ID      string `json:"id"`      // as the loop knows it
	Wire    string `json:"wire_id"` // the vendor's id; may be empty
	Name    string `json:"name"`
	Tool    bool   `json:"tool,omitempty"`    // of the loop's tools, not an action
	Garbled bool   `json:"garbled,omitempty"` // kept back by the vendor: answered in words
}

// Memory implements [computeruse.Conversation]. It has no pictures: the next task begins with a new one.
func (t *conversation) Memory() (json.RawMessage, error) {
	m := t.storedConversation
	m.Dialect, m.Model = memoryDialect, t.model.Name()
	m.Contents = withoutOldImages(t.Contents, 0)
	data, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("keep a talk: %w", err)
	}
	return data, nil
}

func (t *conversation) load(data json.RawMessage) error {
	var m storedConversation
	if err := json.Unmarshal(data, &m); err != nil {
		return fmt.Errorf("read its memory: %w", err)
	}
	if m.Dialect != memoryDialect {
		return errors.New("its memory is of another runtime")
	}
	for _, c := range m.Contents {
		if c == nil || (c.Role != gemini.RoleUser && c.Role != gemini.RoleModel) || slices.Contains(c.Parts, nil) ||
			len(c.Parts) == 0 {
			return errors.New("its memory is damaged")
		}
		if m.Model != t.model.Name() {
			c.Parts = withoutSignatures(c.Parts)
		}
	}
	m.Contents = slices.DeleteFunc(m.Contents, func(c *gemini.Content) bool { return len(c.Parts) == 0 })
	t.storedConversation = m
	return nil
}

// withoutSignatures returns parts without what only the model that made them understands; llm/gemini supplies the
// signatures that are required then.
func withoutSignatures(parts []*gemini.Part) []*gemini.Part {
	return slices.DeleteFunc(parts, func(p *gemini.Part) bool {
		p.ThoughtSignature = ""
		return p.Thought || p.Text == "" && p.FunctionCall == nil && p.FunctionResponse == nil && p.InlineData == nil
	})
}

// removedImageText replaces a turn that was only a picture.
const removedImageText = "(a picture that is no longer shown)"

// withoutOldImages returns contents with only the newest keep pictures. The result stays valid: answers stay answers,
// and no turn is empty. It does not change contents.
func withoutOldImages(contents []*gemini.Content, keep int) []*gemini.Content {
	out := slices.Clone(contents)
	for i, c := range slices.Backward(contents) {
		var parts []*gemini.Part
		for _, p := range slices.Backward(c.Parts) {
			switch {
			case p.InlineData != nil:
				if keep--; keep >= 0 {
					parts = append(parts, p)
				}
			case p.FunctionResponse != nil:
				kept := *p.FunctionResponse
				drop := max(0, len(kept.Parts)-max(0, keep))
				keep -= len(kept.Parts)
				kept.Parts = kept.Parts[drop:]
				parts = append(parts, &gemini.Part{FunctionResponse: &kept})
			default:
				parts = append(parts, p)
			}
		}
		slices.Reverse(parts)
		if len(parts) == 0 {
			parts = []*gemini.Part{{Text: removedImageText}}
		}
		out[i] = &gemini.Content{Role: c.Role, Parts: parts}
	}
	return out
}

func imageBlob(i llm.Image) *gemini.Blob { return &gemini.Blob{Data: i.Data, MIMEType: i.MediaType} }

// responseImage returns a picture as a part of the answer to a call.
func responseImage(i llm.Image) *gemini.FunctionResponsePart {
	return &gemini.FunctionResponsePart{InlineData: imageBlob(i)}
}
