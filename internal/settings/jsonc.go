package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// WriteJSONC returns the settings set by hand as JSON with comments that explain each.
func WriteJSONC(st State) []byte {
	var b bytes.Buffer
	b.WriteString("// Settings of clank. What is not here has its default, or the value of the preset.\n{\n")
	for _, f := range Fields() {
		if value, set := st.Stored[f.Key]; set {
			fmt.Fprintf(&b, "  // %s: %s\n  %q: %s,\n", f.Label, strings.ReplaceAll(f.Effect, "\n", " "), f.Key, value)
		}
	}
	b.WriteString("}\n")
	return b.Bytes()
}

// ParseJSONC parses settings by key, as [Manager.Replace] accepts them, from JSON that may contain comments and
// trailing commas.
func ParseJSONC(text []byte) (map[string]json.RawMessage, error) {
	plain, err := plainJSON(text)
	if err != nil {
		return nil, err
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(plain, &values); err != nil {
		return nil, fmt.Errorf("read the settings: %w", err)
	}
	return values, nil
}

// plainJSON replaces comments and trailing commas with spaces.
func plainJSON(text []byte) ([]byte, error) {
	out := slices.Clone(text)
	comma := -1 // index of the last comma if only space follows it so far
	for i := 0; i < len(out); i++ {
		switch c := out[i]; {
		case c == '"':
			end := stringEnd(out[i:])
			if end < 0 {
				return nil, errors.New("read the settings: a text does not end")
			}
			i, comma = i+end, -1
		case bytes.HasPrefix(out[i:], []byte("//")):
			for ; i < len(out) && out[i] != '\n'; i++ {
				out[i] = ' '
			}
		case bytes.HasPrefix(out[i:], []byte("/*")):
			end := bytes.Index(out[i+2:], []byte("*/"))
			if end < 0 {
				return nil, errors.New("read the settings: a comment does not end")
			}
			copy(out[i:], bytes.Repeat([]byte(" "), end+4))
			i += end + 3
		case c == ',':
			comma = i
		case c == '}' || c == ']':
			if comma >= 0 {
				out[comma] = ' '
			}
			comma = -1
		case c != ' ' && c != '\t' && c != '\r' && c != '\n':
			comma = -1
		}
	}
	return out, nil
}

// stringEnd returns the end of the JSON string at the start of text; -1 if it is not terminated.
func stringEnd(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}
