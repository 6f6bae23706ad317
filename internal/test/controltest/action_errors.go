package controltest

import "net/http"

// actionErrorCases returns requests to POST /act that are refused, each with its code.
func actionErrorCases() []testCase {
	const invalid = "ACT_INVALID_REQUEST"
	bad := func(name, says string, body m) requestCase {
		return requestCase{Name: name, Path: "/act", Body: body, Status: 400, Code: invalid, Contains: []string{says}}
	}
	var nested any = m{"kind": "press", "key": "a"}
	for range 6 {
		nested = m{"kind": "batch", "actions": []any{nested}}
	}
	many := make([]any, 101)
	for i := range many {
		many[i] = m{"kind": "press", "key": "a"}
	}
	return requestCases([]requestCase{
		{Name: "no kind", Path: "/act", Body: m{}, Status: 400, Code: "ACT_KIND_REQUIRED", Contains: []string{"kind is required"}},
		{Name: "an unknown kind", Path: "/act", Body: m{"kind": "dance"}, Status: 400, Code: "ACT_KIND_REQUIRED"},
		bad("hover without a target", "hover requires ref or selector", m{"kind": "hover"}),
		bad("scroll without a target", "scrollIntoView requires ref or selector", m{"kind": "scrollIntoView"}),
		bad("drag without an end", "end", m{"kind": "drag", "startRef": "e2"}),
		bad("select without a target", "select requires ref or selector", m{"kind": "select", "values": []string{"a"}}),
		bad("a drag of coordinates without an end", "dragCoords", m{"kind": "dragCoords", "x": 1, "y": 3}),
		bad("press without a key", "press requires key", m{"kind": "press"}),
		bad("a batch of nothing", "actions", m{"kind": "batch", "actions": []any{}}),
		bad("a batch too long", "batch exceeds maximum of 100 actions", m{"kind": "batch", "actions": many}),
		bad("batches too long together", "batch exceeds maximum of 100 actions", m{"kind": "batch", "actions": append([]any{m{"kind": "batch", "actions": many[:60]}}, many[:60]...)}),
		bad("a batch too deep", "depth", nested.(m)),
		bad("a bad entry of a batch", "press requires key", m{"kind": "batch", "actions": []any{m{"kind": "press"}}}),
		{Name: "a selector where there is none", Path: "/act", Body: m{"kind": "press", "key": "a", "selector": "a"}, Status: 400, Code: "ACT_SELECTOR_UNSUPPORTED", Contains: []string{"'selector' is not supported"}},
		{Name: "a selector of evaluate", Path: "/act", Body: m{"kind": "evaluate", "fn": "1", "selector": "a"}, Status: 400, Code: "ACT_SELECTOR_UNSUPPORTED"},
		{Name: "a tab given as a number", Path: "/act", Page: "/plain", Body: m{"kind": "press", "key": "a", "targetId": 12345}, Status: 403, Code: "ACT_TARGET_ID_MISMATCH", Contains: []string{"action targetId must match request targetId"}},
		{Name: "a batch entry for another tab", Path: "/act", Page: "/plain", Body: m{"kind": "batch", "actions": []any{m{"kind": "press", "key": "a", "targetId": "12345"}}}, Status: 403, Code: "ACT_TARGET_ID_MISMATCH", Contains: []string{"batched action targetId must match request targetId"}},
		{Name: "a ref that was never there", Path: "/act", Page: "/plain", Body: m{"kind": "click", "ref": "e999"}, Status: http.StatusInternalServerError, Code: "ACT_OPERATION_FAILED", Reason: "unknown_ref", Contains: []string{"Unknown ref", "snapshot"}},
		{Name: "a selector that matches nothing", Path: "/act", Page: "/plain", Body: m{"kind": "click", "selector": "#nosuch", "timeoutMs": 500}, Status: http.StatusInternalServerError, Code: "ACT_OPERATION_FAILED"},
		{Name: "a covered element is told with what covers it", Path: "/act", Page: "/cover", Body: m{"kind": "click", "selector": "#b", "timeoutMs": 3000}, Status: http.StatusInternalServerError, Code: "ACT_OPERATION_FAILED", Reason: "not_interactable", Contains: []string{"not interactable", "veil"}},
		{Name: "a script that fails", Path: "/act", Page: "/plain", Body: m{"kind": "evaluate", "fn": "nosuch.thing"}, Status: http.StatusInternalServerError, Code: "ACT_OPERATION_FAILED", Contains: []string{"nosuch"}},
		{Name: "an endless script is ended", Path: "/act", Page: "/plain", Body: m{"kind": "evaluate", "fn": "for(;;);", "timeoutMs": 1000}, Status: http.StatusInternalServerError, Code: "ACT_OPERATION_FAILED", Reason: "timeout"},
		{Name: "and the tab goes on", Path: "/act", Body: m{"kind": "evaluate", "fn": "document.title"}, Contains: []string{"Plain"}},
		{Name: "a result that is no JSON", Path: "/act", Page: "/plain", Body: m{"kind": "evaluate", "fn": "(()=>{const a={};a.a=a;return a})()"}, Status: http.StatusInternalServerError, Code: "ACT_OPERATION_FAILED"},
		{Name: "an option that is not there", Path: "/act", Page: "/form", Body: m{"kind": "select", "selector": "#country", "values": []string{"Atlantis"}, "timeoutMs": 500}, Status: http.StatusInternalServerError, Code: "ACT_OPERATION_FAILED", Contains: []string{"Atlantis"}},
		{Name: "text that never comes", Path: "/act", Page: "/plain", Body: m{"kind": "wait", "text": "never", "timeoutMs": 600}, Status: http.StatusInternalServerError, Code: "ACT_OPERATION_FAILED", Reason: "timeout", Contains: []string{"never", "600ms"}},
	})
}
