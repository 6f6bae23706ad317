//go:build peers

package llmtest

import (
	"encoding/json"
	"fmt"

	"google.golang.org/genai"
)

// vendorWire is the body of a request in the vendor library's types.
type vendorWire struct {
	Contents          []*genai.Content        `json:"contents"`
	SystemInstruction *genai.Content          `json:"systemInstruction,omitempty"`
	Tools             []*genai.Tool           `json:"tools,omitempty"`
	ToolConfig        *genai.ToolConfig       `json:"toolConfig,omitempty"`
	SafetySettings    []*genai.SafetySetting  `json:"safetySettings,omitempty"`
	GenerationConfig  *genai.GenerationConfig `json:"generationConfig,omitempty"`
}

// geminiSDKAccepts rejects requests with fields that the vendor's library does not know.
func geminiSDKAccepts(body []byte) error {
	var w vendorWire
	if err := decodeStrict(body, &w); err != nil {
		return fmt.Errorf("decode request with the vendor's types: %w", err)
	}
	return nil
}

// geminiSDKReads decodes a response with the vendor's library and encodes it again: fields that the vendor does not
// know are lost.
func geminiSDKReads(message []byte) error {
	var r genai.GenerateContentResponse
	if err := json.Unmarshal(message, &r); err != nil {
		return fmt.Errorf("decode answer with the vendor's types: %w", err)
	}
	var before, after any
	if err := json.Unmarshal(message, &before); err != nil {
		return fmt.Errorf("decode answer: %w", err)
	}
	if err := json.Unmarshal(mustEncode(&r), &after); err != nil {
		return fmt.Errorf("decode answer: %w", err)
	}
	if was, is := string(mustEncode(before)), string(mustEncode(after)); was != is {
		return fmt.Errorf("the vendor's library reads %s as %s", was, is)
	}
	return nil
}
