package browsertool

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"

	"clank/browsermgr/page/action/actiontable"
)

// callInput is the parameters of a call, wherever in it they were written.
type callInput map[string]any

// isActField reports whether an act takes a field; beside action it is taken for it, too.
func isActField(name string) bool {
	return name == "kind" || name == "targetId" || slices.ContainsFunc(actParams(), func(p actiontable.Param) bool { return p.Name == name })
}

// actParams are the fields of all kinds of acts.
var actParams = sync.OnceValue(func() []actiontable.Param {
	return actiontable.Union(actiontable.API, actiontable.Kinds(actiontable.API))
})

// parseCall reads a call. Fields within request and beside it are merged; where both give a value, the one within
// request counts for acts, and the one beside it for what says where to act. Values that models send to say nothing
// (null, "", []) count as absent.
func parseCall(raw json.RawMessage) (in callInput, act map[string]any, err error) {
	top, err := decodeObject(raw)
	if err != nil {
		return nil, nil, fmt.Errorf("the input is not a JSON object: %w", err)
	}
	nested, err := nestedRequest(top["request"])
	if err != nil {
		return nil, nil, err
	}
	in = callInput{}
	for key, v := range nested {
		if v != nil {
			in[key] = v
		}
	}
	kind := cmp.Or(in.str("kind"), callInput(top).str("kind"))
	for key, v := range top {
		_, inside := in[key]
		where := slices.Contains([]string{"action", "target", "node", "profile"}, key)
		if key == "request" || isAbsent(key, v, kind) || (inside && !where) {
			continue
		}
		in[key] = v
	}
	act = map[string]any{}
	for key, v := range in {
		if _, inside := nested[key]; inside || isActField(key) {
			act[key] = v
		}
	}
	for _, key := range []string{"action", "target", "node", "profile"} {
		delete(act, key)
	}
	if in.str("action") == "" && kind != "" {
		in["action"] = "act"
	}
	// A model that writes the kind where the action belongs means an act.
	if name := in.str("action"); kind == "" && !slices.Contains(actionNames, name) && slices.Contains(actiontable.Kinds(actiontable.API), name) {
		in["action"], act["kind"] = "act", name
	}
	return in, act, nil
}

// isAbsent reports whether v, beside action, says nothing. Typing "" empties a field, so there it does say something.
func isAbsent(key string, v any, kind string) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == "" && (key != "text" || kind != "type") && key != "promptText"
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// nestedRequest reads request, which some models send as a string of JSON.
func nestedRequest(v any) (map[string]any, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case map[string]any:
		return v, nil
	case string:
		if strings.TrimSpace(v) == "" {
			return nil, nil
		}
		if m, err := decodeObject(json.RawMessage(v)); err == nil {
			return m, nil
		}
	}
	return nil, errors.New("request is not an object; send request={kind, ...}")
}

// decodeObject reads exactly one JSON object, keeping numbers as they are written.
func decodeObject(raw json.RawMessage) (map[string]any, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return map[string]any{}, nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var m map[string]any
	if err := dec.Decode(&m); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more after it")
	}
	if m == nil {
		m = map[string]any{}
	}
	return m, nil
}

// str returns a parameter as a trimmed string; "" if it is absent or no scalar.
func (in callInput) str(key string) string {
	text, _ := actiontable.ScalarText(in[key])
	return strings.TrimSpace(text)
}

// isTrue reports whether a parameter is true, in any spelling.
func (in callInput) isTrue(key string) bool {
	on, _ := actiontable.ParseBool(in[key])
	return on
}

// query returns the named parameters that are given, as a query.
func (in callInput) query(keys ...string) url.Values {
	q := url.Values{}
	for _, key := range keys {
		if s := in.str(key); s != "" {
			q.Set(key, s)
		}
	}
	return q
}

// body returns the named parameters that are given, as they are.
func (in callInput) body(keys ...string) map[string]any {
	b := map[string]any{}
	for _, key := range keys {
		if v, ok := in[key]; ok && v != nil {
			b[key] = v
		}
	}
	return b
}

// encodeJSON returns v as JSON with angle brackets left unescaped, so that readers see the same characters that were
// checked.
func encodeJSON(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Sprintf("%q", err.Error())
	}
	return strings.TrimRight(b.String(), "\n")
}
