package gemini

import (
	"encoding/base64"
	"fmt"

	"google.golang.org/genai"
)

// filler is the signature that tells the vendor not to check.
const filler = "skip_thought_signature_validator"

// signatures are those that were given out, as text.
type signatures struct {
	all   map[string]bool
	calls map[string]string // of a call, "" if it got none
}

func newSignatures() signatures {
	return signatures{all: map[string]bool{}, calls: map[string]string{}}
}

func callKey(f *genai.FunctionCall) string { return string(encode(f)) }

func (s signatures) add(parts []*genai.Part) {
	for _, p := range parts {
		if p.ThoughtSignature != nil {
			s.all[string(p.ThoughtSignature)] = true
		}
		if p.FunctionCall != nil {
			s.calls[callKey(p.FunctionCall)] = string(p.ThoughtSignature)
		}
	}
}

// check demands that what was signed comes back with its signature, that no
// signature is made up, and, if calls must be signed, that each turn's first is.
func (s signatures) check(contents []*genai.Content, must bool) error {
	skip, err := base64.URLEncoding.DecodeString(filler)
	if err != nil {
		return fmt.Errorf("decode filler: %w", err)
	}
	for i, c := range contents {
		first := true
		for _, p := range c.Parts {
			got := string(p.ThoughtSignature)
			if got != "" && got != string(skip) && !s.all[got] {
				return fmt.Errorf("contents[%d]: thought signature %q was never given", i, got)
			}
			if p.FunctionCall == nil {
				continue
			}
			want, known := s.calls[callKey(p.FunctionCall)]
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
