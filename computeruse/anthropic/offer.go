package anthropic

import (
	"encoding/json"
	"fmt"
	"image"
	"slices"

	"clank/llm"
	"clank/llm/anthropic"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"
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

// covered are tools of the loop that need not be offered beside the browser
// toolset.
var covered = []string{toolReadText, toolReadPage, toolListTabs, toolOpenTab, toolSelectTab, toolCloseTab, toolNavigate}

// offer is what the model is given to work with, for pictures of this size.
func offer(t Tools, tools []llm.Tool, size image.Point) []sdk.ToolUnionParam {
	var all []sdk.ToolUnionParam
	for _, tool := range tools {
		if t != ToolsBrowser || !slices.Contains(covered, tool.Name) {
			all = append(all, anthropic.ToolOf(tool))
		}
	}
	switch t {
	case ToolsComputer:
		return append(all, sdk.ToolUnionParam{OfComputerToolset20260801: &sdk.ComputerToolset20260801Param{}})
	case ToolsBrowser:
		return append(all, sdk.ToolUnionParam{OfBrowserToolset20260801: &sdk.BrowserToolset20260801Param{Configs: members(tools)}})
	default:
		return append(all, betaTool(t, size))
	}
}

func betaTool(t Tools, size image.Point) sdk.ToolUnionParam {
	zoom := ""
	if t == Tools20251124 {
		zoom = `,"enable_zoom":true`
	}
	return param.Override[sdk.ToolUnionParam](json.RawMessage(fmt.Sprintf(
		`{"type":%q,"name":"computer","display_width_px":%d,"display_height_px":%d%s}`, t, size.X, size.Y, zoom)))
}

// members switches off what a session must not do (scripts, files, logs of the
// page), what nobody here can (finding by description), and what the loop has
// no tool for.
func members(tools []llm.Tool) sdk.BrowserToolsetConfigsParam {
	off := param.NewOpt(false)
	c := sdk.BrowserToolsetConfigsParam{
		JavascriptExec: sdk.BrowserJavascriptExecConfigParam{Enabled: off},
		FileUpload:     sdk.BrowserFileUploadConfigParam{Enabled: off},
		ReadConsole:    sdk.BrowserReadConsoleConfigParam{Enabled: off},
		ReadNetwork:    sdk.BrowserReadNetworkConfigParam{Enabled: off},
		Find:           sdk.BrowserFindConfigParam{Enabled: off},
	}
	has := func(name string) bool {
		return slices.ContainsFunc(tools, func(t llm.Tool) bool { return t.Name == name })
	}
	if !has(toolReadText) {
		c.GetPageText = sdk.BrowserGetPageTextConfigParam{Enabled: off}
	}
	if !has(toolReadPage) {
		c.ReadPage = sdk.BrowserReadPageConfigParam{Enabled: off}
	}
	if !has(toolListTabs) {
		c.ListTabs = sdk.BrowserListTabsConfigParam{Enabled: off}
	}
	if !has(toolOpenTab) {
		c.NewTab = sdk.BrowserNewTabConfigParam{Enabled: off}
	}
	if !has(toolSelectTab) {
		c.SwitchTab = sdk.BrowserSwitchTabConfigParam{Enabled: off}
	}
	if !has(toolCloseTab) {
		c.CloseTab = sdk.BrowserCloseTabConfigParam{Enabled: off}
	}
	return c
}
