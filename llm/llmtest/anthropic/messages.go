package anthropic

// What is said to the Messages API and what it says, as its reference has it
// (version 2023-06-01): the part of it that clients of ours have a use for.
// Tests with the tag peers hold the same messages against the types of the
// vendor's client library, which know all of it.

var mark = fields{"cache_control": object(fields{"type": one("ephemeral")}, nil)}

var (
	textKind  = kind(fields{"text": text}, mark)
	imageKind = kind(fields{"source": object(fields{"type": one("base64"), "media_type": text, "data": text}, nil)},
		with(mark, fields{"transformations": object(nil, fields{"oversized_image": one("downsize", "error")})}))

	toolUseKind  = kind(fields{"id": text, "name": text, "input": each(anything)}, with(mark, fields{"toolset_name": text}))
	thinkingKind = kind(fields{"thinking": text, "signature": text}, nil)
	redactedKind = kind(fields{"data": text}, nil)
)

var requestShape = object(
	fields{"model": text, "max_tokens": count, "messages": list(object(fields{"role": one("user", "assistant"), "content": list(sentBlock)}, nil))},
	fields{
		"stream": flag, "metadata": object(nil, fields{"user_id": text}), "tools": list(tools),
		"system":        list(typed(kinds{"text": textKind})),
		"output_config": object(nil, fields{"effort": one("low", "medium", "high", "xhigh", "max")}),
		"thinking": typed(kinds{
			"enabled":  kind(fields{"budget_tokens": count}, fields{"display": one("summarized", "omitted")}),
			"adaptive": kind(nil, fields{"display": one("summarized", "omitted")}),
			"disabled": kind(nil, nil),
		}),
		"tool_choice": typed(kinds{
			"auto": kind(nil, nil), "none": kind(nil, nil), "any": kind(nil, nil), "tool": kind(fields{"name": text}, nil),
		}),
	})

// sentBlock is a block of a request.
var sentBlock = typed(kinds{
	"text": textKind, "image": imageKind, "tool_use": toolUseKind, "thinking": thinkingKind, "redacted_thinking": redactedKind,
	"tool_result": kind(fields{"tool_use_id": text}, with(mark, fields{
		"toolset_name": text, "is_error": flag,
		"content": list(typed(kinds{"text": textKind, "image": imageKind})),
	})),
})

// tools are those of the vendor by their type, and those of the client, which
// have none.
func tools(at string, v any) error {
	if o, ok := v.(map[string]any); ok && o["type"] == nil {
		return ownTool(at, v)
	}
	return vendorTool(at, v)
}

var ownTool = object(fields{"name": text, "input_schema": schema}, with(mark, fields{"description": text}))

// schema is JSON Schema of an object.
func schema(at string, v any) error {
	if err := each(anything)(at, v); err != nil {
		return err
	}
	o, _ := v.(map[string]any)
	return one("object")(at+".type", o["type"])
}

var display = fields{"name": one("computer"), "display_width_px": count, "display_height_px": count}

// configs are of a toolset with these members.
func configs(members ...string) fields {
	known := fields{}
	for _, m := range members {
		known[m] = object(nil, fields{"enabled": flag})
	}
	return with(mark, fields{"configs": object(nil, known)})
}

// vendorTool is a tool that works a screen.
var vendorTool = typed(kinds{
	"computer_toolset_20260801": kind(nil, configs("cursor_position", "double_click", "hold_key", "key", "left_click", "left_click_drag",
		"left_mouse_down", "left_mouse_up", "middle_click", "mouse_move", "right_click", "screenshot", "scroll", "triple_click", "type", "wait", "zoom")),
	"browser_toolset_20260801": kind(nil, configs("close_tab", "double_click", "file_upload", "find", "form_input", "get_page_text", "hold_key",
		"hover", "javascript_exec", "key", "left_click", "left_click_drag", "left_mouse_down", "left_mouse_up", "list_tabs", "middle_click",
		"mouse_move", "navigate", "new_tab", "read_console", "read_network", "read_page", "right_click", "screenshot", "scroll", "scroll_to",
		"switch_tab", "triple_click", "type", "wait", "zoom")),
	"computer_20251124": kind(display, with(mark, fields{"enable_zoom": flag})),
	"computer_20250124": kind(display, mark),
})

// saidBlock is a block of an answer. Input of a tool may be anything: models are
// not always strict.
var saidBlock = typed(kinds{
	"text": kind(fields{"text": text}, nil), "thinking": thinkingKind, "redacted_thinking": redactedKind,
	"tool_use": kind(fields{"id": text, "name": text, "input": anything}, fields{"toolset_name": text}),
})

var usageShape = object(fields{
	"input_tokens": number, "output_tokens": number, "cache_read_input_tokens": number, "cache_creation_input_tokens": number,
	"output_tokens_details": object(fields{"thinking_tokens": number}, nil),
}, nil)

var (
	wholeKind = kind(fields{
		"id": text, "role": one("assistant"), "model": text, "content": list(saidBlock),
		"stop_reason": null(text), "stop_sequence": null(text), "usage": usageShape,
	}, nil)
	wholeShape = typed(kinds{"message": wholeKind})
)

var eventShape = typed(kinds{
	"ping": kind(nil, nil), "message_stop": kind(nil, nil),
	"message_start":       kind(fields{"message": wholeShape}, nil),
	"content_block_start": kind(fields{"index": count, "content_block": saidBlock}, nil),
	"content_block_stop":  kind(fields{"index": count}, nil),
	"content_block_delta": kind(fields{"index": count, "delta": typed(kinds{
		"text_delta": kind(fields{"text": text}, nil), "input_json_delta": kind(fields{"partial_json": text}, nil),
		"thinking_delta": kind(fields{"thinking": text}, nil), "signature_delta": kind(fields{"signature": text}, nil),
	})}, nil),
	"message_delta": kind(fields{"usage": usageShape, "delta": object(
		fields{"stop_reason": text, "stop_sequence": null(text)},
		fields{"stop_details": object(fields{"type": one("refusal"), "category": text, "explanation": text}, nil)},
	)}, nil),
})
