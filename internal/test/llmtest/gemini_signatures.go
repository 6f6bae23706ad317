package llmtest

import (
	"encoding/base64"
	"fmt"
)

// signatureFiller is a signature that disables the vendor's check.
const signatureFiller = "skip_thought_signature_validator"

// thoughtSignatures are the issued signatures, as text, by model: they are valid only for the model that issued them.
type thoughtSignatures struct {
	all   map[string]bool
	calls map[string]string // of a call, "" if it has none
}

func newThoughtSignatures() thoughtSignatures {
	return thoughtSignatures{all: map[string]bool{}, calls: map[string]string{}}
}

func signatureKey(model string, f *GeminiFunctionCall) string {
	return model + " " + string(mustEncode(f))
}

func (s thoughtSignatures) add(model string, parts []*GeminiPart) {
	for _, p := range parts {
		if p.ThoughtSignature != nil {
			s.all[model+" "+string(p.ThoughtSignature)] = true
		}
		if p.FunctionCall != nil {
			s.calls[signatureKey(model, p.FunctionCall)] = string(p.ThoughtSignature)
		}
	}
}

// check checks that signed parts come back with their signatures, that no signature is invented and, from Gemini 3
// on, that each turn's first call has one.
func (s thoughtSignatures) check(model string, contents []*GeminiContent) error {
	must := !predatesSignatures(model)
	skip, err := base64.URLEncoding.DecodeString(signatureFiller)
	if err != nil {
		return fmt.Errorf("decode filler: %w", err)
	}
	for i, c := range contents {
		first := true
		for _, p := range c.Parts {
			got := string(p.ThoughtSignature)
			if got != "" && got != string(skip) && !s.all[model+" "+got] {
				return fmt.Errorf("contents[%d]: thought signature %q was never given", i, got)
			}
			if p.FunctionCall == nil {
				continue
			}
			want, known := s.calls[signatureKey(model, p.FunctionCall)]
			if known && want != "" && got != want {
				return fmt.Errorf("contents[%d]: call of %s has thought signature %q, it was given %q", i, p.FunctionCall.Name, got,
					want)
			}
			if must && first && got == "" {
				return fmt.Errorf("function call is missing a thought_signature in functionCall parts: %s, position %d",
					p.FunctionCall.Name, i)
			}
			first = false
		}
	}
	return nil
}
