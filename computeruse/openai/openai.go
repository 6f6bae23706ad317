package openai

import (
	"cmp"
	"encoding/json"
	"image"
	"math"

	"clank/computeruse"
	"clank/llm"
	"clank/llm/openai"

	client "github.com/sashabaranov/go-openai"
)

// Dialect is the tool by which a model works the screen.
type Dialect string

// The dialects; "" is the present one.
const (
	DialectComputer Dialect = "computer"
	DialectPreview  Dialect = "computer_use_preview"
)

// Options say which model to ask, where and how. Only Client.Model is required.
type Options struct {
	Client  openai.Options // its API is always the Responses API
	Dialect Dialect
	// Stateless sends the whole conversation with each request and stores nothing at the vendor. Otherwise the vendor
	// stores it and receives only new input.
	Stateless bool
}

// maxPictures is how many of the newest are sent when stateless.
const maxPictures = 3

// Model is one model. It is safe for concurrent use.
type Model struct {
	opts  Options
	size  image.Point // what pictures are made to fit into
	model *openai.Model
}

var _ computeruse.Model = (*Model)(nil)

// New checks the options. It makes no requests. Its errors are those of [openai.New]; a model known not to see pictures
// is one of kind rejected.
func New(o Options) (*Model, error) {
	o.Dialect = cmp.Or(o.Dialect, DialectComputer)
	size := image.Pt(1600, 1000)
	if o.Dialect == DialectPreview {
		size = image.Pt(1024, 768)
	}
	o.Client.API = openai.APIResponses
	m, err := openai.New(o.Client)
	if err != nil {
		return nil, err
	}
	if caps, known := llm.CapsOf(o.Client.Model); known && !caps.Vision {
		return nil, &llm.Error{
			Kind: llm.ErrRejected, Model: m.Name(), Message: "this model sees no pictures, so it cannot work a screen",
			Hint: "choose another model, or the runtime local_browser_agent",
		}
	}
	return &Model{opts: o, size: size, model: m}, nil
}

// Name implements [computeruse.Model].
func (m *Model) Name() string { return m.model.Name() }

// Fit implements [computeruse.Model].
func (m *Model) Fit(screen image.Point) image.Point {
	if screen.X <= 0 || screen.Y <= 0 {
		return screen
	}
	by := math.Min(1, math.Min(float64(m.size.X)/float64(screen.X), float64(m.size.Y)/float64(screen.Y)))
	side := func(v int) int { return max(1, int(math.Round(float64(v)*by))) }
	return image.Pt(side(screen.X), side(screen.Y))
}

// Begin implements [computeruse.Model].
func (m *Model) Begin(b computeruse.ConversationOptions) (computeruse.Conversation, error) {
	t := &conversation{model: m, brief: b}
	if len(b.Memory) > 0 {
		var err error
		if t.state, err = parseState(b.Memory); err != nil {
			return nil, err
		}
	}
	if m.opts.Stateless && !t.state.Whole && t.state.Previous != "" {
		t.restart("(What was said so far, in words:)") // the rest is stored at the vendor, who must not be asked for it
	}
	t.state.Whole = t.state.Whole || m.opts.Stateless
	return t, nil
}

// tools returns the tools of every request: they are not inherited from the previous one.
func (t *conversation) tools() []client.Tool {
	screen := client.Tool{Type: client.ToolType(t.model.opts.Dialect)}
	if t.model.opts.Dialect == DialectPreview {
		size := cmp.Or(t.state.Size, t.model.size)
		screen.Parameters = map[string]any{"environment": "browser", "display_width": size.X, "display_height": size.Y}
	}
	all := []client.Tool{screen}
	for _, f := range t.brief.Tools {
		schema := f.Schema
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		all = append(all, client.Tool{Type: client.ToolTypeFunction, Parameters: map[string]any{
			"name": f.Name, "description": f.Description, "parameters": schema,
			"strict": false, // required by the schema; the library leaves it out if false
		}})
	}
	return all
}
