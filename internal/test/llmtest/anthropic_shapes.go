package llmtest

// What is said to the Messages API and what it says, as its reference has it
// (version 2023-06-01): the part of it that clients of ours have a use for.
// Tests with the tag peers hold the same messages against the types of the
// vendor's client library, which know all of it.

var cacheMarkShape = jsonFields{"cache_control": objectShape(jsonFields{"type": enumShape("ephemeral")}, nil)}

var (
	textKind  = kindShape(jsonFields{"text": stringShape}, cacheMarkShape)
	imageKind = kindShape(jsonFields{"source": objectShape(jsonFields{"type": enumShape("base64"), "media_type": stringShape, "data": stringShape}, nil)},
		mergeFields(cacheMarkShape, jsonFields{"transformations": objectShape(nil, jsonFields{"oversized_image": enumShape("downsize", "error")})}))

	toolUseKind  = kindShape(jsonFields{"id": stringShape, "name": stringShape, "input": mapShape(anyShape)}, mergeFields(cacheMarkShape, jsonFields{"toolset_name": stringShape}))
	thinkingKind = kindShape(jsonFields{"thinking": stringShape, "signature": stringShape}, nil)
	redactedKind = kindShape(jsonFields{"data": stringShape}, nil)
)

var requestShape = objectShape(
	jsonFields{"model": stringShape, "max_tokens": countShape, "messages": listShape(objectShape(jsonFields{"role": enumShape("user", "assistant"), "content": listShape(sentBlock)}, nil))},
	jsonFields{
		"stream": boolShape, "metadata": objectShape(nil, jsonFields{"user_id": stringShape}), "tools": listShape(toolsShape),
		"system":        listShape(typedShape(jsonKinds{"text": textKind})),
		"output_config": objectShape(nil, jsonFields{"effort": enumShape("low", "medium", "high", "xhigh", "max")}),
		"thinking": typedShape(jsonKinds{
			"enabled":  kindShape(jsonFields{"budget_tokens": countShape}, jsonFields{"display": enumShape("summarized", "omitted")}),
			"adaptive": kindShape(nil, jsonFields{"display": enumShape("summarized", "omitted")}),
			"disabled": kindShape(nil, nil),
		}),
		"tool_choice": typedShape(jsonKinds{
			"auto": kindShape(nil, nil), "none": kindShape(nil, nil), "any": kindShape(nil, nil), "tool": kindShape(jsonFields{"name": stringShape}, nil),
		}),
	})

// sentBlock is a block of a request.
var sentBlock = typedShape(jsonKinds{
	"text": textKind, "image": imageKind, "tool_use": toolUseKind, "thinking": thinkingKind, "redacted_thinking": redactedKind,
	"tool_result": kindShape(jsonFields{"tool_use_id": stringShape}, mergeFields(cacheMarkShape, jsonFields{
		"toolset_name": stringShape, "is_error": boolShape,
		"content": listShape(typedShape(jsonKinds{"text": textKind, "image": imageKind})),
	})),
})

// toolsShape checks a tool: those of the vendor by their type, and those of the client, which have none.
func toolsShape(at string, v any) error {
	if o, ok := v.(map[string]any); ok && o["type"] == nil {
		return ownTool(at, v)
	}
	return vendorTool(at, v)
}

var ownTool = objectShape(jsonFields{"name": stringShape, "input_schema": schemaShape}, mergeFields(cacheMarkShape, jsonFields{"description": stringShape}))

// schemaShape checks that v is the JSON Schema of an object.
func schemaShape(at string, v any) error {
	if err := mapShape(anyShape)(at, v); err != nil {
		return err
	}
	o, _ := v.(map[string]any)
	return enumShape("object")(at+".type", o["type"])
}

var displayFields = jsonFields{"name": enumShape("computer"), "display_width_px": countShape, "display_height_px": countShape}

// toolsetConfigs returns the fields of a toolset with these members.
func toolsetConfigs(members ...string) jsonFields {
	known := jsonFields{}
	for _, m := range members {
		known[m] = objectShape(nil, jsonFields{"enabled": boolShape})
	}
	return mergeFields(cacheMarkShape, jsonFields{"configs": objectShape(nil, known)})
}

// vendorTool is a tool that works a screen.
var vendorTool = typedShape(jsonKinds{
	"computer_toolset_20260801": kindShape(nil, toolsetConfigs("cursor_position", "double_click", "hold_key", "key", "left_click", "left_click_drag",
		"left_mouse_down", "left_mouse_up", "middle_click", "mouse_move", "right_click", "screenshot", "scroll", "triple_click", "type", "wait", "zoom")),
	"browser_toolset_20260801": kindShape(nil, toolsetConfigs("close_tab", "double_click", "file_upload", "find", "form_input", "get_page_text", "hold_key",
		"hover", "javascript_exec", "key", "left_click", "left_click_drag", "left_mouse_down", "left_mouse_up", "list_tabs", "middle_click",
		"mouse_move", "navigate", "new_tab", "read_console", "read_network", "read_page", "right_click", "screenshot", "scroll", "scroll_to",
		"switch_tab", "triple_click", "type", "wait", "zoom")),
	"computer_20251124": kindShape(displayFields, mergeFields(cacheMarkShape, jsonFields{"enable_zoom": boolShape})),
	"computer_20250124": kindShape(displayFields, cacheMarkShape),
})

// saidBlock is a block of an answer. Input of a tool may be anything: models are
// not always strict.
var saidBlock = typedShape(jsonKinds{
	"text": kindShape(jsonFields{"text": stringShape}, nil), "thinking": thinkingKind, "redacted_thinking": redactedKind,
	"tool_use": kindShape(jsonFields{"id": stringShape, "name": stringShape, "input": anyShape}, jsonFields{"toolset_name": stringShape}),
})

var usageShape = objectShape(jsonFields{
	"input_tokens": numberShape, "output_tokens": numberShape, "cache_read_input_tokens": numberShape, "cache_creation_input_tokens": numberShape,
	"output_tokens_details": objectShape(jsonFields{"thinking_tokens": numberShape}, nil),
}, nil)

var (
	wholeKind = kindShape(jsonFields{
		"id": stringShape, "role": enumShape("assistant"), "model": stringShape, "content": listShape(saidBlock),
		"stop_reason": nullableShape(stringShape), "stop_sequence": nullableShape(stringShape), "usage": usageShape,
	}, nil)
	wholeShape = typedShape(jsonKinds{"message": wholeKind})
)

var eventShape = typedShape(jsonKinds{
	"ping": kindShape(nil, nil), "message_stop": kindShape(nil, nil),
	"message_start":       kindShape(jsonFields{"message": wholeShape}, nil),
	"content_block_start": kindShape(jsonFields{"index": countShape, "content_block": saidBlock}, nil),
	"content_block_stop":  kindShape(jsonFields{"index": countShape}, nil),
	"content_block_delta": kindShape(jsonFields{"index": countShape, "delta": typedShape(jsonKinds{
		"text_delta": kindShape(jsonFields{"text": stringShape}, nil), "input_json_delta": kindShape(jsonFields{"partial_json": stringShape}, nil),
		"thinking_delta": kindShape(jsonFields{"thinking": stringShape}, nil), "signature_delta": kindShape(jsonFields{"signature": stringShape}, nil),
	})}, nil),
	"message_delta": kindShape(jsonFields{"usage": usageShape, "delta": objectShape(
		jsonFields{"stop_reason": stringShape, "stop_sequence": nullableShape(stringShape)},
		jsonFields{"stop_details": objectShape(jsonFields{"type": enumShape("refusal"), "category": stringShape, "explanation": stringShape}, nil)},
	)}, nil),
})
