package computeruse

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"clank/sessions/agent"
)

// What stands for a password: where people can read it, and where a model can.
const (
	maskForPeople = "••••"
	maskForModel  = "[password]"
)

// minRedactAnywhere is how long, in bytes, a secret must be to be taken out wherever it stands. A shorter one is taken
// out where it stands alone.
const minRedactAnywhere = 4

// typedSecrets are what was typed into password fields. The zero value is ready; it is used by one goroutine at a time.
type typedSecrets []string

// Learn adds what was typed, and its parts if it went into several fields.
func (s *typedSecrets) Learn(text string) {
	words := append([]string{text}, strings.FieldsFunc(text, func(c rune) bool { return c == '\t' || c == '\r' || c == '\n' })...)
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

// Redact takes the secrets out of a text.
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

// RedactJSON takes the secrets out of the texts of a JSON document. What has none is returned as it is.
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
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return raw // what was decoded can be encoded
	}
	return bytes.TrimSpace(b.Bytes())
}

// neverRedacted are names of fields in the vendors' conversations that never hold what was typed, and must stay as they
// are.
var neverRedacted = []string{
	"type", "role", "kind", "name", "id", "call_id", "wire_id", "tool_use_id", "toolset_name", "status", "action", "button",
	"signature", "encrypted_content", "thoughtSignature", "data", "mimeType", "media_type", "previous", "dialect", "model", "mind", "runtime", "owner", "tools",
}

// redactValue cleans a value that stands in a field of that name.
func (s typedSecrets) redactValue(field string, v any, instead string) (_ any, changed bool) {
	switch v := v.(type) {
	case string:
		if slices.Contains(neverRedacted, field) {
			return v, false
		}
		text := s.redactText(v, instead)
		return text, text != v
	case json.Number: // what a form's field is given may be written as one
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
				continue // it is signed: a vendor takes it back whole or not at all
			}
			kept = append(kept, out)
		}
		if changed {
			return kept, true
		}
	}
	return v, false
}

// redactText cleans a text, which may be a JSON document itself: arguments of a call.
func (s typedSecrets) redactText(text, instead string) string {
	if strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
		return string(s.RedactJSON(json.RawMessage(text), instead))
	}
	return s.Redact(text, instead)
}
