package gemini

import (
	"slices"

	"google.golang.org/genai"
)

// gone stands where a turn was nothing but a picture.
const gone = "(a picture that is no longer shown)"

// withoutPictures is contents with the newest keep pictures only. What stays is
// valid: answers stay answers, and no turn is empty. Contents is not changed.
func withoutPictures(contents []*genai.Content, keep int) []*genai.Content {
	out := slices.Clone(contents)
	for i, c := range slices.Backward(contents) {
		var parts []*genai.Part
		for _, p := range slices.Backward(c.Parts) {
			switch {
			case p.InlineData != nil:
				if keep--; keep >= 0 {
					parts = append(parts, p)
				}
			case p.FunctionResponse != nil && len(p.FunctionResponse.Parts) > 0:
				kept := *p.FunctionResponse
				drop := max(0, len(kept.Parts)-max(0, keep))
				keep -= len(kept.Parts)
				kept.Parts = kept.Parts[drop:]
				parts = append(parts, &genai.Part{FunctionResponse: &kept})
			default:
				parts = append(parts, p)
			}
		}
		slices.Reverse(parts)
		if len(parts) == 0 {
			parts = []*genai.Part{{Text: gone}}
		}
		out[i] = &genai.Content{Role: c.Role, Parts: parts}
	}
	return out
}
