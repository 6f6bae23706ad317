package record

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"clank/browsermgr/page"
	"clank/internal/untrusted"
)

// beginAction notes the beginning of an action and returns what notes its end, once.
func (r *traceRun) beginAction(ctx context.Context, tab *page.Tab, action string, params any) func(error) {
	r.addTab(tab)
	r.mu.Lock()
	r.calls++
	call := fmt.Sprintf("call@%d", r.calls)
	r.mu.Unlock()
	clean := redactParameters(action, params)
	data, err := json.Marshal(clean)
	if err != nil {
		data = []byte("{}")
	}
	r.writeLine(traceLines, beforeLine{
		Type: "before", CallID: call, StartTime: r.now(), Title: actionTitle(action, clean), Class: "Page", Method: action, Params: data, PageID: viewerPageID(tab),
	})
	r.captureDocument(ctx, tab, call, "before")
	var once sync.Once
	return func(err error) {
		once.Do(func() {
			after := afterLine{Type: "after", CallID: call, EndTime: r.now()}
			if err != nil {
				after.Error = &errorText{Name: "Error", Message: err.Error()}
			}
			r.captureDocument(context.WithoutCancel(ctx), tab, call, "after")
			r.writeLine(traceLines, after)
		})
	}
}

// typedParams are the parameters that hold what a person would type.
var typedParams = map[string]bool{"text": true, "value": true, "values": true, "promptText": true, "key": true}

// redactParameters returns the parameters without what is typed and without secrets.
func redactParameters(action string, params any) map[string]any {
	data, err := json.Marshal(params)
	if err != nil {
		return map[string]any{}
	}
	if text, ok := RedactBody("application/json", string(data)); ok {
		data = []byte(text)
	}
	var clean map[string]any
	if json.Unmarshal(data, &clean) != nil || clean == nil {
		return map[string]any{}
	}
	redactObject(action, clean)
	return clean
}

func redactObject(action string, o map[string]any) {
	if kind, ok := o["kind"].(string); ok {
		action = kind
	}
	types := action == "type" || action == "fill" || action == "press" || action == "dialog"
	for name, value := range o {
		switch value := value.(type) {
		case string:
			switch {
			case types && typedParams[name] && (action != "press" || len(value) == 1):
				o[name] = fmt.Sprintf("[%d characters]", len([]rune(value)))
			case strings.EqualFold(name, "url"):
				o[name] = RedactURL(value)
			}
		case map[string]any:
			redactObject(action, value)
		case []any:
			for _, item := range value {
				if inner, ok := item.(map[string]any); ok {
					redactObject(action, inner)
				}
			}
		}
	}
}

// actionTitle returns how the viewer names the action.
func actionTitle(action string, params map[string]any) string {
	if kind, ok := params["kind"].(string); ok && kind != "" {
		action = kind
	}
	for _, name := range []string{"url", "ref", "selector", "key", "text"} {
		if value, ok := params[name].(string); ok && value != "" {
			return action + " " + untrusted.Shorten(value, 80)
		}
	}
	return action
}
