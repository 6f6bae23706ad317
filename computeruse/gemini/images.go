package gemini

import (
	"slices"

	"clank/llm"
	"clank/llm/gemini"
)

// removedImageText stands where a turn was nothing but a picture.
const removedImageText = "(a picture that is no longer shown)"

// withoutOldImages returns contents with only the newest keep pictures. The result stays valid: answers stay
// answers, and no turn is empty. It does not change contents.
func withoutOldImages(contents []*gemini.Content, keep int) []*gemini.Content {
	out := slices.Clone(contents)
	for i, c := range slices.Backward(contents) {
		var parts []*gemini.Part
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
				parts = append(parts, &gemini.Part{FunctionResponse: &kept})
			default:
				parts = append(parts, p)
			}
		}
		slices.Reverse(parts)
		if len(parts) == 0 {
			parts = []*gemini.Part{{Text: removedImageText}}
		}
		out[i] = &gemini.Content{Role: c.Role, Parts: parts}
	}
	return out
}

func imageBlob(i llm.Image) *gemini.Blob { return &gemini.Blob{Data: i.Data, MIMEType: i.MediaType} }

// responseImage returns a picture as a part of the answer to a call.
func responseImage(i llm.Image) *gemini.FunctionResponsePart {
	return &gemini.FunctionResponsePart{InlineData: imageBlob(i)}
}
