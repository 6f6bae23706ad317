package budget

import (
	"bytes"
	"image"
	_ "image/gif" // registers the decoders for image sizes
	_ "image/jpeg"
	_ "image/png"

	"clank/llm"
)

// Parameters of token estimates. Tokenizers produce at most one token per byte (they fall back to bytes), and one per
// three or four bytes of plain text; with two bytes per token an estimate is rarely exceeded, and never by more than
// estimateMargin.
const (
	bytesPerToken  = 2
	estimateMargin = 2
	tokensPerPart  = 8 // overhead of a part, a message or a tool

	pixelsPerToken        = 400    // of the most expensive way in which vendors count images
	tokensPerImage        = 300    // in addition to its pixels
	unreadableImageTokens = 10_000 // tokens of an image of unknown size

	maxOutput = 128_000 // the longest answer of any model, in tokens
)

// textTokens returns the estimated tokens of s.
func textTokens(s string) int64 { return int64(len(s)+bytesPerToken-1) / bytesPerToken }

// imageTokens returns the estimated tokens of an image.
func imageTokens(data []byte) int64 {
	c, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return unreadableImageTokens
	}
	return tokensPerImage + int64(c.Width)*int64(c.Height)/pixelsPerToken
}

// toolTokens returns the estimated tokens of tool descriptions.
func toolTokens(tools []llm.Tool) (n int64) {
	for _, t := range tools {
		n += tokensPerPart + textTokens(t.Name) + textTokens(t.Description) + textTokens(string(t.Schema))
	}
	return n
}

// messageTokens returns the estimated tokens of a conversation.
func messageTokens(ms []llm.Message) (n int64) {
	for _, m := range ms {
		n += tokensPerPart
		for _, p := range m.Parts {
			n += tokensPerPart + partTokens(p)
		}
	}
	return n
}

func partTokens(p llm.Part) int64 {
	switch {
	case p.Image != nil:
		return imageTokens(p.Image.Data)
	case p.Call != nil:
		return textTokens(p.Call.ID) + textTokens(p.Call.Name) + textTokens(string(p.Call.Input)) +
			textTokens(p.Call.Malformed)
	case p.Result != nil:
		return resultTokens(*p.Result)
	case p.Opaque != nil:
		return textTokens(string(p.Opaque.Data))
	default:
		return textTokens(p.Text)
	}
}

func resultTokens(r llm.ToolResult) int64 {
	n := textTokens(r.ID) + textTokens(r.Text)
	for _, img := range r.Images {
		n += imageTokens(img.Data)
	}
	return n
}

// requestTokens returns the estimated tokens of a request.
func requestTokens(req llm.Request) int64 {
	return tokensPerPart + textTokens(req.System) + textTokens(req.EndUser) + toolTokens(req.Tools) +
		messageTokens(req.Messages)
}

// maxAmount returns the maximum usage of a call: the input tokens, limited by the context size, and the longest
// answer. unpriced means that its cost is unknown.
func (k *Enforcer) maxAmount(rules Rules, model string, input int64, maxTokens,
	contextSize int,
) (a Amount, unpriced bool) {
	if k.isFree(model) {
		return Amount{Calls: 1}, false
	}
	if contextSize > 0 {
		input = min(input, int64(contextSize))
	}
	output := int64(maxTokens)
	if output <= 0 {
		output = maxOutput
		if contextSize > 0 {
			output = min(output, int64(contextSize))
		}
	}
	a = Amount{Calls: 1, Tokens: input + output}
	price, known := maxTokenPrice(rules, model, input)
	a.Money = Dollars(price.Cost(llm.Usage{InputTokens: int(input), OutputTokens: int(output)}))
	return a, !known
}

// maxTokenPrice returns the maximum token price of a call with this input, from the settings or the table.
func maxTokenPrice(rules Rules, model string, input int64) (p llm.Price, known bool) {
	if p, known = priceOverride(rules, model); !known {
		p, known = llm.MaxPrice(withoutProvider(model), input)
	}
	if llm.ChargesCacheWrites(model) {
		p.Input *= llm.CacheWriteFactor // all of it may be written to the cache
	}
	return p, known
}
