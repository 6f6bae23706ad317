package budget

import (
	"bytes"
	"image"
	_ "image/gif" // pictures whose size is read
	_ "image/jpeg"
	_ "image/png"

	"clank/llm"
)

// How many tokens a request is thought to have. Tokenizers make at least one token of each byte at worst (they fall
// back to bytes), and one of three or four in plain text; so with two bytes for a token an estimate is rarely passed,
// and never by more than margin.
const (
	bytesPerToken  = 2
	estimateMargin = 2
	tokensPerPart  = 8 // tokens of the frame around a part, a message or a tool

	pixelsPerToken        = 400    // of the dearest way in which vendors count pictures
	tokensPerImage        = 300    // beside its pixels
	unreadableImageTokens = 10_000 // tokens of a picture whose size is not known

	maxOutput = 128_000 // tokens of the longest answer any model gives
)

// textTokens returns how many tokens s may be.
func textTokens(s string) int64 { return int64(len(s)+bytesPerToken-1) / bytesPerToken }

// imageTokens returns how many tokens a picture may be.
func imageTokens(data []byte) int64 {
	c, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return unreadableImageTokens
	}
	return tokensPerImage + int64(c.Width)*int64(c.Height)/pixelsPerToken
}

// toolTokens returns how many tokens the descriptions of tools may be.
func toolTokens(tools []llm.Tool) (n int64) {
	for _, t := range tools {
		n += tokensPerPart + textTokens(t.Name) + textTokens(t.Description) + textTokens(string(t.Schema))
	}
	return n
}

// messageTokens returns how many tokens a conversation may be.
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
		return textTokens(p.Call.ID) + textTokens(p.Call.Name) + textTokens(string(p.Call.Input)) + textTokens(p.Call.Malformed)
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

// requestTokens returns how many tokens a request may be.
func requestTokens(req llm.Request) int64 {
	return tokensPerPart + textTokens(req.System) + textTokens(req.EndUser) + toolTokens(req.Tools) + messageTokens(req.Messages)
}

// maxAmount returns the most that a call may take: the input tokens, limited to what the model can read, and the
// longest answer. unpriced says that its cost is not known.
func (k *Enforcer) maxAmount(rules Rules, model string, input int64, maxTokens, contextSize int) (a Amount, unpriced bool) {
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

// maxTokenPrice returns the most that a token of a call with so much input may cost, by the settings or else by the table.
func maxTokenPrice(rules Rules, model string, input int64) (p llm.Price, known bool) {
	if p, known = priceOverride(rules, model); !known {
		p, known = llm.MaxPrice(withoutProvider(model), input)
	}
	if llm.ChargesCacheWrites(model) {
		p.Input *= llm.CacheWriteFactor // all of it may be written
	}
	return p, known
}
