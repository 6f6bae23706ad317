package gemini

import (
	"encoding/base64"
	"fmt"
)

// filler is the signature that tells the vendor not to check.
const filler = "skip_thought_signature_validator"

// signatures are those that were given out, as text, by the model that gave
// them: to another they mean nothing.
type signatures struct {
	all   map[string]bool
	calls map[string]string // of a call, "" if it got none
}

func newSignatures() signatures {
	return signatures{all: map[string]bool{}, calls: map[string]string{}}
}

func callKey(model string, f *FunctionCall) string { return model + " " + string(encode(f)) }

func (s signatures) add(model string, parts []*Part) {
	for _, p := range parts {
		if p.ThoughtSignature != nil {
			s.all[model+" "+string(p.ThoughtSignature)] = true
		}
		if p.FunctionCall != nil {
			s.calls[callKey(model, p.FunctionCall)] = string(p.ThoughtSignature)
		}
	}
}

// check demands that what was signed comes back with its signature, that no
// signature is made up, and, from Gemini 3 on, that each turn's first call has one.
func (s signatures) check(model string, contents []*Content) error {
	must := !isOld(model)
	skip, err := base64.URLEncoding.DecodeString(filler)
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
			want, known := s.calls[callKey(model, p.FunctionCall)]
			if known && want != "" && got != want {
				return fmt.Errorf("contents[%d]: call of %s has thought signature %q, it was given %q", i, p.FunctionCall.Name, got, want)
			}
			if must && first && got == "" {
				return fmt.Errorf("function call is missing a thought_signature in functionCall parts: %s, position %d", p.FunctionCall.Name, i)
			}
			first = false
		}
	}
	return nil
}
