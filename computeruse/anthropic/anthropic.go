package anthropic

import (
	"fmt"
	"image"
	"math"
	"strings"

	"clank/computeruse"
	"clank/llm"
	"clank/llm/anthropic"
)

// Tools names what is offered to the model.
type Tools string

// The tools. Auto is the computer toolset for models that know it, and for
// older ones the newest beta tool they do.
const (
	ToolsAuto     Tools = "auto"
	ToolsComputer Tools = "computer_toolset_20260801" // a screen
	ToolsBrowser  Tools = "browser_toolset_20260801"  // a page: its elements too
	Tools20251124 Tools = "computer_20251124"         // beta; Opus 4.5 to 4.8, Sonnet 4.6
	Tools20250124 Tools = "computer_20250124"         // beta; Sonnet and Haiku 4.5 and before
)

// betas are the values of the header that a beta tool needs.
var betas = map[Tools]string{
	Tools20251124: "computer-use-2025-11-24",
	Tools20250124: "computer-use-2025-01-24",
}

// Model is a Claude model that works a screen. It is safe for concurrent use.
type Model struct {
	model *anthropic.Model
	tools Tools
	limit imageLimit
}

var _ computeruse.Model = (*Model)(nil)

// New makes a mind of model. A model that is known not to work a screen, or not
// with these tools, is an [*llm.Error] of kind rejected. It asks the vendor
// nothing.
func New(model *anthropic.Model, tools Tools) (*Model, error) {
	if _, known := llm.CapsOf(model.Model); known && !model.Caps().Computer {
		return nil, modelRefused(model, "this model does not work a screen", "choose one that does, or the runtime local_browser_agent")
	}
	knows := toolsOf(model.Model)
	if tools == ToolsAuto || tools == "" {
		tools = knows
	}
	switch tools {
	case ToolsComputer, ToolsBrowser, Tools20251124, Tools20250124:
	default:
		return nil, fmt.Errorf("open mind: tools must be auto, %s, %s, %s or %s, not %q",
			ToolsComputer, ToolsBrowser, Tools20251124, Tools20250124, tools)
	}
	if isToolset(tools) != isToolset(knows) && strings.Contains(strings.ToLower(model.Model), "claude-") {
		return nil, modelRefused(model, fmt.Sprintf("this model does not know the tools %s", tools), "leave the choice of tools to auto")
	}
	return &Model{model: model, tools: tools, limit: limitOf(model.Model)}, nil
}

func modelRefused(model *anthropic.Model, message, hint string) error {
	return &llm.Error{Kind: llm.ErrRejected, Model: model.Name(), Message: message, Hint: hint}
}

// Name returns "provider:model".
func (m *Model) Name() string { return m.model.Name() }

// Fit returns the largest picture of the same shape that the model sees as it is:
// the vendor shrinks larger ones, and clicks would miss.
func (m *Model) Fit(screen image.Point) image.Point {
	if screen.X < 1 || screen.Y < 1 {
		return screen
	}
	w, h := float64(screen.X), float64(screen.Y)
	scale := min(1, float64(m.limit.edge)/max(w, h), math.Sqrt(float64(m.limit.pixels)/(w*h)))
	return image.Pt(max(1, int(w*scale)), max(1, int(h*scale)))
}

// imageLimit is how large a picture may be: pixels of the longer edge, and in all.
type imageLimit struct{ edge, pixels int }

// The newer models take 2576 pixels and 3.75 million, but aim no better for
// more than a screen of 1920 by 1080, which costs half.
var (
	oldImageLimit = imageLimit{1568, 1_150_000}
	newImageLimit = imageLimit{1920, 1920 * 1080}
)

// oldModels are the beginnings of names of models before the toolsets, with
// what they know.
var oldModels = []struct {
	prefix string
	tools  Tools
	limit  imageLimit
}{
	{"claude-opus-4-8", Tools20251124, newImageLimit},
	{"claude-opus-4-7", Tools20251124, newImageLimit},
	{"claude-opus-4-6", Tools20251124, oldImageLimit},
	{"claude-opus-4-5", Tools20251124, oldImageLimit},
	{"claude-sonnet-4-6", Tools20251124, oldImageLimit},
	{"claude-opus-4", Tools20250124, oldImageLimit},
	{"claude-sonnet-4", Tools20250124, oldImageLimit},
	{"claude-haiku-4", Tools20250124, oldImageLimit},
	{"claude-3-7", Tools20250124, oldImageLimit},
}

func toolsOf(model string) Tools {
	for _, old := range oldModels {
		if strings.HasPrefix(bareName(model), old.prefix) {
			return old.tools
		}
	}
	return ToolsComputer
}

func limitOf(model string) imageLimit {
	for _, old := range oldModels {
		if strings.HasPrefix(bareName(model), old.prefix) {
			return old.limit
		}
	}
	return newImageLimit
}

// bareName returns a model's name in lower case without the vendor in front.
func bareName(model string) string { return strings.ToLower(model[strings.LastIndex(model, "/")+1:]) }

func isToolset(t Tools) bool { return t == ToolsComputer || t == ToolsBrowser }
