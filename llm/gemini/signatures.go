package gemini

import (
	"encoding/base64"
	"slices"

	"google.golang.org/genai"
)

// unsigned is what the vendor's guide to thought signatures wants with calls
// that no Gemini model made, on the wire: it tells the server not to check.
const unsigned = "skip_thought_signature_validator"

// signed returns contents in which the first call of each turn of the model has
// a signature, as models from Gemini 3 on demand. Calls of another model, or
// from before a change of model, have none of their own.
func (m *Model) signed(contents []*genai.Content) []*genai.Content {
	if isOld(m.opts.Model) {
		return contents
	}
	filler, err := base64.URLEncoding.DecodeString(unsigned)
	if err != nil {
		return contents
	}
	var out []*genai.Content
	for i, c := range contents {
		at := lacksSignature(c)
		if at < 0 {
			continue
		}
		if out == nil {
			out = slices.Clone(contents)
		}
		part := *c.Parts[at]
		part.ThoughtSignature = filler
		parts := slices.Clone(c.Parts)
		parts[at] = &part
		out[i] = &genai.Content{Role: c.Role, Parts: parts}
	}
	if out == nil {
		return contents
	}
	return out
}

// lacksSignature is the place of the first call if none of c's calls is signed,
// else -1.
func lacksSignature(c *genai.Content) int {
	first := -1
	for i, p := range c.Parts {
		if p.FunctionCall == nil {
			continue
		}
		if p.ThoughtSignature != nil {
			return -1
		}
		if first < 0 {
			first = i
		}
	}
	return first
}
