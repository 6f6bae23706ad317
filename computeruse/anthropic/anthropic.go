package anthropic

import (
	"fmt"
	"image"
	"math"
	"slices"
	"strings"

	"clank/computeruse"
	"clank/llm"
	"clank/llm/anthropic"
)

// Tools selects the tools offered to the model.
type Tools string

// The tools. Auto is the computer toolset for models that know it, and the newest beta tool for older ones.
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

// New returns a computer-use model. A model known not to support it, or not with these tools, is an [*llm.Error] of
// kind rejected. It sends no request.
func New(model *anthropic.Model, tools Tools) (*Model, error) {
	if _, known := llm.CapsOf(model.Model); known && !model.Caps().Computer {
		return nil, modelRefused(model, "this model does not work a screen", "choose one that does, or the runtime "+
			"local_browser_agent")
	}
	knows := toolsOf(model.Model)
	if tools == ToolsAuto || tools == "" {
		tools = knows
	}
	switch tools {
	case ToolsComputer, ToolsBrowser, Tools20251124, Tools20250124:
	default:
		return nil, fmt.Errorf("open model: tools must be auto, %s, %s, %s or %s, not %q",
			ToolsComputer, ToolsBrowser, Tools20251124, Tools20250124, tools)
	}
	if isToolset(tools) != isToolset(knows) && strings.Contains(strings.ToLower(model.Model), "claude-") {
		return nil, modelRefused(model, fmt.Sprintf("this model does not know the tools %s", tools),
			"leave the choice of tools to auto")
	}
	return &Model{model: model, tools: tools, limit: limitOf(model.Model)}, nil
}

func modelRefused(model *anthropic.Model, message, hint string) error {
	return &llm.Error{Kind: llm.ErrRejected, Model: model.Name(), Message: message, Hint: hint}
}

// Name returns "provider:model".
func (m *Model) Name() string { return m.model.Name() }

// Fit returns the largest picture of the same aspect ratio that the vendor does not shrink, since clicks would miss.
func (m *Model) Fit(screen image.Point) image.Point {
	if screen.X < 1 || screen.Y < 1 {
		return screen
	}
	w, h := float64(screen.X), float64(screen.Y)
	scale := min(1, float64(m.limit.edge)/max(w, h), math.Sqrt(float64(m.limit.pixels)/(w*h)))
	return image.Pt(max(1, int(w*scale)), max(1, int(h*scale)))
}

// imageLimit is the maximum size of a picture: the longer edge and the total, in pixels.
type imageLimit struct{ edge, pixels int }

// Newer models accept 2576 pixels and 3.75 million, but do not click more precisely than on a screen of 1920 by 1080,
// which costs half.
var (
	oldImageLimit = imageLimit{1568, 1_150_000}
	newImageLimit = imageLimit{1920, 1920 * 1080}
)

// oldModels are the beginnings of names of models before the toolsets, with what they know.
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

// Names of tools of the loop that members of the browser toolset stand for.
const (
	toolReadText  = "read_text"
	toolReadPage  = "read_page"
	toolListTabs  = "list_tabs"
	toolOpenTab   = "open_tab"
	toolSelectTab = "select_tab"
	toolCloseTab  = "close_tab"
	toolNavigate  = "navigate"
)

// coveredTools are tools of the loop that the browser toolset already has.
var coveredTools = []string{
	toolReadText, toolReadPage, toolListTabs, toolOpenTab, toolSelectTab, toolCloseTab,
	toolNavigate,
}

// offeredTools returns the tools offered to the model, for pictures of this size.
func offeredTools(t Tools, tools []llm.Tool, size image.Point) []anthropic.Tool {
	var all []anthropic.Tool
	for _, tool := range tools {
		if t != ToolsBrowser || !slices.Contains(coveredTools, tool.Name) {
			all = append(all, anthropic.FunctionTool(tool))
		}
	}
	vendors := anthropic.Tool{Type: string(t)}
	switch t {
	case ToolsComputer:
	case ToolsBrowser:
		vendors.Configs = toolsetMembers(tools)
	default:
		vendors.Name, vendors.DisplayWidth, vendors.DisplayHeight = toolsetComputer, size.X, size.Y
		vendors.EnableZoom = t == Tools20251124
	}
	return append(all, vendors)
}

// neverOffered are members that a session must not use (scripts, files, logs of the page), and one that is not
// implemented (finding by description).
var neverOffered = []string{"javascript_exec", "file_upload", "read_console", "read_network", "find"}

// memberTools are the tools of the loop that members stand for.
var memberTools = map[string]string{
	"get_page_text": toolReadText, "read_page": toolReadPage, "list_tabs": toolListTabs,
	"new_tab": toolOpenTab, "switch_tab": toolSelectTab, "close_tab": toolCloseTab,
}

// toolsetMembers disables what is never offered and what the loop has no tool for.
func toolsetMembers(tools []llm.Tool) map[string]anthropic.MemberConfig {
	off := map[string]anthropic.MemberConfig{}
	for _, member := range neverOffered {
		off[member] = anthropic.MemberConfig{}
	}
	for member, need := range memberTools {
		if !slices.ContainsFunc(tools, func(t llm.Tool) bool { return t.Name == need }) {
			off[member] = anthropic.MemberConfig{}
		}
	}
	return off
}
