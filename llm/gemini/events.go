package gemini

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"clank/llm/wire"
)

// event is a piece of an answer, or a whole one: the fields that we read of
// GenerateContentResponse in the reference of the Generative Language API, v1beta.
type event struct {
	Candidates     []*candidate    `json:"candidates"`
	PromptFeedback *feedback       `json:"promptFeedback"`
	UsageMetadata  *usage          `json:"usageMetadata"`
	Error          json.RawMessage `json:"error"` // in place of all others
}

type candidate struct {
	Content       *Content     `json:"content"`
	FinishMessage string       `json:"finishMessage"`
	FinishReason  FinishReason `json:"finishReason"`
}

type feedback struct {
	BlockReason        string `json:"blockReason"`
	BlockReasonMessage string `json:"blockReasonMessage"`
}

type usage struct {
	PromptTokenCount        int32 `json:"promptTokenCount"` // with what came from the cache
	CachedContentTokenCount int32 `json:"cachedContentTokenCount"`
	CandidatesTokenCount    int32 `json:"candidatesTokenCount"`
	ThoughtsTokenCount      int32 `json:"thoughtsTokenCount"`
	ToolUsePromptTokenCount int32 `json:"toolUsePromptTokenCount"`
}

// FinishReason is why an answer ended. Servers may have reasons of their own.
type FinishReason string

// Reasons that we know how to tell.
const (
	finishUnspecified           FinishReason = "FINISH_REASON_UNSPECIFIED"
	finishStop                  FinishReason = "STOP"
	finishMaxTokens             FinishReason = "MAX_TOKENS"
	finishSafety                FinishReason = "SAFETY"
	finishRecitation            FinishReason = "RECITATION"
	finishLanguage              FinishReason = "LANGUAGE"
	finishBlocklist             FinishReason = "BLOCKLIST"
	finishProhibitedContent     FinishReason = "PROHIBITED_CONTENT"
	finishSPII                  FinishReason = "SPII" // sensitive personal information
	finishMalformedFunctionCall FinishReason = "MALFORMED_FUNCTION_CALL"
	finishUnexpectedToolCall    FinishReason = "UNEXPECTED_TOOL_CALL"
	finishImageSafety           FinishReason = "IMAGE_SAFETY"
	finishImageProhibited       FinishReason = "IMAGE_PROHIBITED_CONTENT"
	finishImageRecitation       FinishReason = "IMAGE_RECITATION"
)

// readEvent reads one event; an error told in it becomes an error.
func readEvent(data []byte) (event, error) {
	var e event
	err := json.Unmarshal(data, &e)
	if len(e.Error) > 0 && string(e.Error) != "null" {
		return event{}, &wire.StreamError{Told: wire.ReadTold(data)}
	}
	if err == nil && !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		err = errors.New("it is not an object") // null decodes into anything
	}
	if err != nil {
		return event{}, &wire.MalformedError{Err: fmt.Errorf("decode event: %w", err)}
	}
	e.Candidates = slices.DeleteFunc(e.Candidates, func(c *candidate) bool { return c == nil })
	return e, nil
}
