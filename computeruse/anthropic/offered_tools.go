package anthropic

import (
	"image"
	"slices"

	"clank/llm"
	"clank/llm/anthropic"
)

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

// coveredTools are tools of the loop that need not be offered beside the browser
// toolset.
var coveredTools = []string{toolReadText, toolReadPage, toolListTabs, toolOpenTab, toolSelectTab, toolCloseTab, toolNavigate}

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

// neverOffered are members that a session must not use (scripts, files, logs of
// the page), and one that nobody here can (finding by description).
var neverOffered = []string{"javascript_exec", "file_upload", "read_console", "read_network", "find"}

// memberTools are the tools of the loop that members stand for.
var memberTools = map[string]string{
	"get_page_text": toolReadText, "read_page": toolReadPage, "list_tabs": toolListTabs,
	"new_tab": toolOpenTab, "switch_tab": toolSelectTab, "close_tab": toolCloseTab,
}

// toolsetMembers switches off what is never offered and what the loop has no tool for.
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
