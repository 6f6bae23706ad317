package main

import "net/http"

// actErrors are requests to POST /act that are refused, each with its code.
func actErrors() []check {
	const invalid = "ACT_INVALID_REQUEST"
	bad := func(name, says string, body map[string]any) exchange {
		return exchange{name: name, path: "/act", body: body, status: 400, code: invalid, says: []string{says}}
	}
	type m = map[string]any
	var nested any = m{"kind": "press", "key": "a"}
	for range 6 {
		nested = m{"kind": "batch", "actions": []any{nested}}
	}
	many := make([]any, 101)
	for i := range many {
		many[i] = m{"kind": "press", "key": "a"}
	}
	return checks([]exchange{
		{name: "no kind", path: "/act", body: m{}, status: 400, code: "ACT_KIND_REQUIRED", says: []string{"kind is required"}},
		{name: "an unknown kind", path: "/act", body: m{"kind": "dance"}, status: 400, code: "ACT_KIND_REQUIRED"},
		bad("click without a target", "click requires ref or selector", m{"kind": "click"}),
		bad("click with a blank target", "click requires ref or selector", m{"kind": "click", "ref": "  "}),
		bad("click with an odd button", "button", m{"kind": "click", "ref": "e1", "button": "fourth"}),
		bad("click with an odd modifier", "modifier", m{"kind": "click", "ref": "e1", "modifiers": []string{"Hyper"}}),
		bad("click held too long", "click delayMs exceeds maximum of 5000ms", m{"kind": "click", "ref": "e1", "delayMs": 5001}),
		bad("coordinates without one", "clickCoords requires non-negative x and y", m{"kind": "clickCoords", "x": 3}),
		bad("negative coordinates", "clickCoords requires non-negative x and y", m{"kind": "clickCoords", "x": -1, "y": 3}),
		bad("coordinates held too long", "delayMs exceeds maximum of 5000ms", m{"kind": "clickCoords", "x": 1, "y": 3, "delayMs": 5001}),
		bad("a drag of coordinates without an end", "dragCoords", m{"kind": "dragCoords", "x": 1, "y": 3}),
		bad("type without a target", "type requires ref or selector", m{"kind": "type", "text": "x"}),
		bad("type without a text", "text", m{"kind": "type", "ref": "e1"}),
		bad("press without a key", "press requires key", m{"kind": "press"}),
		bad("press with a selector but without a key", "press requires key", m{"kind": "press", "selector": "a"}),
		bad("hover without a target", "hover requires ref or selector", m{"kind": "hover"}),
		bad("scroll without a target", "scrollIntoView requires ref or selector", m{"kind": "scrollIntoView"}),
		bad("drag without a start", "start", m{"kind": "drag", "endRef": "e2"}),
		bad("drag without an end", "end", m{"kind": "drag", "startRef": "e2"}),
		bad("select without a target", "select requires ref or selector", m{"kind": "select", "values": []string{"a"}}),
		bad("select without values", "values", m{"kind": "select", "ref": "e1", "values": []string{}}),
		bad("fill without fields", "fields", m{"kind": "fill"}),
		bad("fill with fields that name no element", "fields", m{"kind": "fill", "fields": []any{m{"value": "x"}}}),
		bad("resize without a size", "resize requires positive width and height", m{"kind": "resize"}),
		bad("wait for nothing", "wait", m{"kind": "wait"}),
		bad("wait with an unknown state alone", "wait", m{"kind": "wait", "loadState": "soon"}),
		bad("wait too long", "timeMs", m{"kind": "wait", "timeMs": 30_001}),
		bad("evaluate nothing", "fn", m{"kind": "evaluate", "fn": "  "}),
		bad("a batch of nothing", "actions", m{"kind": "batch", "actions": []any{}}),
		bad("a batch too long", "batch exceeds maximum of 100 actions", m{"kind": "batch", "actions": many}),
		bad("a batch too deep", "depth", nested.(m)),
		bad("a bad entry of a batch", "press requires key", m{"kind": "batch", "actions": []any{m{"kind": "press"}}}),
		{name: "a selector where there is none", path: "/act", body: m{"kind": "press", "key": "a", "selector": "a"}, status: 400, code: "ACT_SELECTOR_UNSUPPORTED", says: []string{"'selector' is not supported"}},
		{name: "a selector of evaluate", path: "/act", body: m{"kind": "evaluate", "fn": "1", "selector": "a"}, status: 400, code: "ACT_SELECTOR_UNSUPPORTED"},
		{name: "a tab given as a number", path: "/act", page: "/plain", body: m{"kind": "press", "key": "a", "targetId": 12345}, status: 403, code: "ACT_TARGET_ID_MISMATCH", says: []string{"action targetId must match request targetId"}},
		{name: "a batch entry for another tab", path: "/act", page: "/plain", body: m{"kind": "batch", "actions": []any{m{"kind": "press", "key": "a", "targetId": "12345"}}}, status: 403, code: "ACT_TARGET_ID_MISMATCH", says: []string{"batched action targetId must match request targetId"}},
		{name: "a ref that was never there", path: "/act", page: "/plain", body: m{"kind": "click", "ref": "e999"}, status: http.StatusInternalServerError, code: "ACT_OPERATION_FAILED", says: []string{"Unknown ref", "snapshot"}},
		{name: "a selector that matches nothing", path: "/act", page: "/plain", body: m{"kind": "click", "selector": "#nosuch", "timeoutMs": 500}, status: http.StatusInternalServerError, code: "ACT_OPERATION_FAILED"},
		{name: "a covered element is told with what covers it", path: "/act", page: "/cover", body: m{"kind": "click", "selector": "#b", "timeoutMs": 3000}, status: http.StatusInternalServerError, code: "ACT_OPERATION_FAILED", says: []string{"not interactable", "veil"}},
		{name: "a script that fails", path: "/act", page: "/plain", body: m{"kind": "evaluate", "fn": "nosuch.thing"}, status: http.StatusInternalServerError, code: "ACT_OPERATION_FAILED", says: []string{"nosuch"}},
		{name: "an endless script is ended", path: "/act", page: "/plain", body: m{"kind": "evaluate", "fn": "for(;;);", "timeoutMs": 1000}, status: http.StatusInternalServerError, code: "ACT_OPERATION_FAILED"},
		{name: "and the tab goes on", path: "/act", body: m{"kind": "evaluate", "fn": "document.title"}, says: []string{"Plain"}},
		{name: "a result that is no JSON", path: "/act", page: "/plain", body: m{"kind": "evaluate", "fn": "(()=>{const a={};a.a=a;return a})()"}, status: http.StatusInternalServerError, code: "ACT_OPERATION_FAILED"},
		{name: "an option that is not there", path: "/act", page: "/form", body: m{"kind": "select", "selector": "#country", "values": []string{"Atlantis"}, "timeoutMs": 500}, status: http.StatusInternalServerError, code: "ACT_OPERATION_FAILED", says: []string{"Atlantis"}},
		{name: "text that never comes", path: "/act", page: "/plain", body: m{"kind": "wait", "text": "never", "timeoutMs": 500}, status: http.StatusInternalServerError, code: "ACT_OPERATION_FAILED", says: []string{"never"}},
	})
}
