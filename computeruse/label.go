package computeruse

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"slices"
	"strings"

	"clank/llm"
	"clank/sessions/agent"
)

// label returns the label of the action for people: what is done, to which element, and why.
func (a Action) label(on actionTarget, intent string) string {
	s := a.describe(on)
	if intent = agent.Shorten(intent, 80); intent != "" {
		s += " (" + intent + ")"
	}
	return s
}

func (a Action) describe(on actionTarget) string {
	switch a.Kind {
	case ActClick:
		return a.describeClick(on)
	case ActMove:
		return "point" + a.describePlace()
	case ActDown:
		return "hold the mouse down" + a.describePlace() + on.overPhrase()
	case ActUp:
		return "let the mouse go" + a.describePlace() + on.overPhrase()
	case ActDrag:
		if len(a.Path) == 0 {
			return "drag"
		}
		return "drag from " + pointText(a.Path[0]) + " to " + pointText(a.Path[len(a.Path)-1])
	case ActScroll:
		return "scroll " + directionText(a.Scroll)
	case ActKeys:
		return "press " + a.describeKeys()
	case ActKeyDown:
		return "hold " + a.describeKeys()
	case ActKeyUp:
		return "let go of " + a.describeKeys()
	case ActType:
		return a.describeTyping(on)
	case ActWait:
		return "wait"
	case ActScreenshot:
		return "take a screenshot"
	case ActZoom:
		return "look closer"
	case ActCursor:
		return "ask where the mouse is"
	case ActNavigate:
		return "open " + agent.ShortURL(a.URL)
	case ActReveal:
		return "scroll to " + agent.Truncate(a.Ref, 20)
	case ActFill:
		if on.name != "" {
			return "fill " + agent.Quote(a.Text) + on.intoPhrase()
		}
		return "fill " + agent.Quote(a.Text) + " into " + agent.Truncate(a.Ref, 20)
	case ActBack:
		return "go back"
	case ActForward:
		return "go forward"
	case ActUnknown:
	}
	return "use " + agent.Quote(string(a.Kind)+" "+a.Text)
}

func (a Action) describeClick(on actionTarget) string {
	switch a.Button {
	case ButtonBack, ButtonForward:
		return "go " + string(a.Button)
	default:
	}
	verb := "click"
	switch a.Clicks {
	case 2:
		verb = "double-click"
	case 3:
		verb = "triple-click"
	}
	if a.Button != "" && a.Button != ButtonLeft {
		verb = string(a.Button) + "-" + verb
	}
	if len(a.Held) > 0 {
		verb = agent.Truncate(strings.Join(a.Held, "+"), 40) + "+" + verb
	}
	return verb + on.description() + a.describePlace()
}

func (a Action) describeTyping(on actionTarget) string {
	s := "type " + agent.Quote(a.Text) + on.intoPhrase()
	if a.Enter {
		s += " and press Enter"
	}
	return s
}

func (a Action) describeKeys() string {
	s := strings.Join(a.Keys, "+")
	if chords, err := ParseChords(a.Keys); err == nil {
		s = strings.Join(chords, ", ")
	}
	s = agent.Shorten(s, 60)
	if a.Repeat > 1 {
		s += fmt.Sprintf(" %d times", a.Repeat)
	}
	return s
}

func (a Action) describePlace() string {
	switch {
	case a.Ref != "":
		return " on " + agent.Truncate(a.Ref, 20)
	case a.At != nil:
		return " at " + pointText(*a.At)
	}
	return ""
}

func pointText(p image.Point) string { return fmt.Sprintf("%d, %d", p.X, p.Y) }

func directionText(d image.Point) string {
	var words []string
	switch {
	case d.Y > 0:
		words = append(words, "down")
	case d.Y < 0:
		words = append(words, "up")
	}
	switch {
	case d.X > 0:
		words = append(words, "right")
	case d.X < 0:
		words = append(words, "left")
	}
	return strings.Join(words, " and ")
}

// input returns the action as a step keeps it: its fields that are set, and what it is done to. Keys have the names of
// the control API, where they have one.
func (a Action) input(on actionTarget) json.RawMessage {
	m := map[string]any{}
	set := func(name string, v any, given bool) {
		if given {
			m[name] = v
		}
	}
	if a.At != nil {
		m["x"], m["y"] = a.At.X, a.At.Y
	}
	var path [][2]int
	for _, p := range a.Path {
		path = append(path, [2]int{p.X, p.Y})
	}
	set("ref", a.Ref, a.Ref != "")
	set("path", path, path != nil)
	set("button", a.Button, a.Button != "")
	set("clicks", a.Clicks, a.Clicks > 1)
	set("held", a.Held, len(a.Held) > 0)
	pressed := a.Keys
	if chords, err := ParseChords(a.Keys); err == nil {
		pressed = chords
	}
	set("keys", pressed, len(a.Keys) > 0)
	set("repeat", a.Repeat, a.Repeat > 1)
	set("text", a.Text, a.Text != "")
	set("enter", true, a.Enter)
	set("clear", true, a.Clear)
	set("scroll", [2]int{a.Scroll.X, a.Scroll.Y}, a.Scroll != image.Point{})
	set("ms", a.For.Milliseconds(), a.For > 0)
	set("region", [4]int{a.Region.Min.X, a.Region.Min.Y, a.Region.Max.X, a.Region.Max.Y}, !a.Region.Empty())
	set("url", a.URL, a.URL != "")
	set("on", map[string]string{"role": on.role, "name": on.name}, on.name != "")
	raw, err := json.Marshal(m)
	if err != nil {
		return json.RawMessage("{}") // strings, ints and bools always marshal
	}
	return raw
}

// What replaces a password, for people and for models.
const (
	maskForPeople = "••••"
	maskForModel  = "[password]"
)

// minRedactAnywhere is the minimum length, in bytes, of secrets that are removed wherever they occur. Shorter ones are
// removed only as separate words.
const minRedactAnywhere = 4

// typedSecrets are texts typed into password fields. The zero value is ready; it is not safe for concurrent use.
type typedSecrets []string

// Learn adds a typed text, and its parts if it went into several fields.
func (s *typedSecrets) Learn(text string) {
	words := append([]string{text},
		strings.FieldsFunc(text, func(c rune) bool { return c == '\t' || c == '\r' || c == '\n' })...)
	for _, w := range words {
		if w != "" && w != maskForModel && !slices.Contains(*s, w) {
			*s = append(*s, w)
		}
	}
	slices.SortStableFunc(*s, func(a, b string) int { return len(b) - len(a) }) // a longer one may contain another
}

// LearnURL adds the name and the password that stand in an address, if both do.
func (s *typedSecrets) LearnURL(address string) {
	if found := strings.TrimSuffix(agent.URLCredentials(address), "@"); strings.Contains(found, ":") {
		s.Learn(found)
	}
}

// Redact removes the secrets from a text.
func (s typedSecrets) Redact(text, instead string) string {
	for _, word := range s {
		switch {
		case text == word:
			return instead
		case len(word) >= minRedactAnywhere:
			text = strings.ReplaceAll(text, word, instead)
		}
	}
	return text
}

// RedactJSON removes the secrets from the texts of a JSON document. A document without any is returned unchanged.
func (s typedSecrets) RedactJSON(raw json.RawMessage, instead string) json.RawMessage {
	if len(s) == 0 || len(raw) == 0 {
		return raw
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return raw
	}
	v, changed := s.redactValue("", v, instead)
	if !changed {
		return raw
	}
	out, err := llm.MarshalJSON(v)
	if err != nil {
		return raw // a decoded value can be encoded
	}
	return out
}

// neverRedacted are fields of the vendors' conversations that never contain typed text and must not change.
var neverRedacted = []string{
	"type", "role", "kind", "name", "id", "call_id", "wire_id", "tool_use_id", "toolset_name", "status", "action",
	"button",
	"signature", "encrypted_content", "thoughtSignature", "data", "mimeType", "media_type", "previous", "dialect", "model",
	"mind", "runtime", "owner", "tools",
}

// redactValue redacts a value in a field with that name.
func (s typedSecrets) redactValue(field string, v any, instead string) (_ any, changed bool) {
	switch v := v.(type) {
	case string:
		if slices.Contains(neverRedacted, field) {
			return v, false
		}
		text := s.redactText(v, instead)
		return text, text != v
	case json.Number: // a field's value may be a number
		if field == "value" && slices.Contains(s, v.String()) {
			return instead, true
		}
	case map[string]any:
		for k, in := range v {
			out, differs := s.redactValue(k, in, instead)
			v[k], changed = out, changed || differs
		}
		return v, changed
	case []any:
		var kept []any
		for _, in := range v {
			out, differs := s.redactValue(field, in, instead)
			changed = changed || differs
			if m, ok := out.(map[string]any); ok && differs && m["type"] == "thinking" {
				continue // it is signed: the vendor accepts it only unchanged
			}
			kept = append(kept, out)
		}
		if changed {
			return kept, true
		}
	}
	return v, false
}

// redactText redacts a text, which may itself be a JSON document: the arguments of a call.
func (s typedSecrets) redactText(text, instead string) string {
	if strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
		return string(s.RedactJSON(json.RawMessage(text), instead))
	}
	return s.Redact(text, instead)
}
