package trace

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"clank/browsermgr/page"
	"clank/browsermgr/record"
)

// begin notes the beginning of an action and returns what notes its end, once.
func (r *run) begin(ctx context.Context, tab *page.Tab, action string, params any) func(error) {
	r.meet(tab)
	r.mu.Lock()
	r.calls++
	call := fmt.Sprintf("call@%d", r.calls)
	r.mu.Unlock()
	clean := cleanParams(action, params)
	data, err := json.Marshal(clean)
	if err != nil {
		data = []byte("{}")
	}
	r.write(traceLines, beforeLine{
		Type: "before", CallID: call, StartTime: r.now(), Title: title(action, clean), Class: "Page", Method: action, Params: data, PageID: pageID(tab),
	})
	r.document(ctx, tab, call, "before")
	var once sync.Once
	return func(err error) {
		once.Do(func() {
			after := afterLine{Type: "after", CallID: call, EndTime: r.now()}
			if err != nil {
				after.Error = &errorText{Name: "Error", Message: err.Error()}
			}
			r.document(context.WithoutCancel(ctx), tab, call, "after")
			r.write(traceLines, after)
		})
	}
}

// typed are the parameters that hold what a person would type.
var typed = map[string]bool{"text": true, "value": true, "values": true, "promptText": true, "key": true}

// cleanParams are the parameters without what is typed and without secrets.
func cleanParams(action string, params any) map[string]any {
	data, err := json.Marshal(params)
	if err != nil {
		return map[string]any{}
	}
	if text, ok := record.RedactBody("application/json", string(data)); ok {
		data = []byte(text)
	}
	var clean map[string]any
	if json.Unmarshal(data, &clean) != nil || clean == nil {
		return map[string]any{}
	}
	cleanObject(action, clean)
	return clean
}

func cleanObject(action string, o map[string]any) {
	if kind, ok := o["kind"].(string); ok {
		action = kind
	}
	types := action == "type" || action == "fill" || action == "press" || action == "dialog"
	for name, value := range o {
		switch value := value.(type) {
		case string:
			switch {
			case types && typed[name] && (action != "press" || len(value) == 1):
				o[name] = fmt.Sprintf("[%d characters]", len([]rune(value)))
			case strings.EqualFold(name, "url"):
				o[name] = record.RedactURL(value)
			}
		case map[string]any:
			cleanObject(action, value)
		case []any:
			for _, item := range value {
				if inner, ok := item.(map[string]any); ok {
					cleanObject(action, inner)
				}
			}
		}
	}
}

// title is how the viewer names the action.
func title(action string, params map[string]any) string {
	if kind, ok := params["kind"].(string); ok && kind != "" {
		action = kind
	}
	for _, name := range []string{"url", "ref", "selector", "key", "text"} {
		if value, ok := params[name].(string); ok && value != "" {
			if runes := []rune(value); len(runes) > 80 {
				value = string(runes[:80]) + "…"
			}
			return action + " " + value
		}
	}
	return action
}
