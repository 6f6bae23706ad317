package gemini

// fillerSignature is what the vendor's guide to thought signatures wants with calls that
// no Gemini model made: it tells the server not to check. The guide writes it
// with "_", the same digit in the other alphabet of base64 (RFC 4648, section 5).
const fillerSignature = "skip/thought/signature/validator"

// lacksSignature returns the place of c's first call if none of its calls is signed, as models from Gemini 3 on
// demand, else -1. Calls of another model, or from before a change of model, have no signature of their own.
func (m *Model) lacksSignature(c *Content) int {
	if isOld(m.Model) {
		return -1
	}
	first := -1
	for i, p := range c.Parts {
		if p.FunctionCall == nil {
			continue
		}
		if p.ThoughtSignature != "" {
			return -1
		}
		if first < 0 {
			first = i
		}
	}
	return first
}
