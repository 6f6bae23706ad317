package gemini

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"clank/llm/transport"
)

// responseEvent is a piece of an answer, or a whole one: the fields that we read of
// GenerateContentResponse in the reference of the Generative Language API, v1beta.
type responseEvent struct {
	Candidates     []*candidate    `json:"candidates"`
	PromptFeedback *promptFeedback `json:"promptFeedback"`
	UsageMetadata  *wireUsage      `json:"usageMetadata"`
	Error          json.RawMessage `json:"error"` // in place of all others
}

type candidate struct {
	Content       *Content     `json:"content"`
	FinishMessage string       `json:"finishMessage"`
	FinishReason  FinishReason `json:"finishReason"`
}

type promptFeedback struct {
	BlockReason        string `json:"blockReason"`
	BlockReasonMessage string `json:"blockReasonMessage"`
}

type wireUsage struct {
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

// readEvent reads one event; an error reported in it becomes an error.
func readEvent(data []byte) (responseEvent, error) {
	var e responseEvent
	err := json.Unmarshal(data, &e)
	if len(e.Error) > 0 && string(e.Error) != "null" {
		return responseEvent{}, &transport.StreamError{ServerError: transport.ParseServerError(data)}
	}
	if err == nil && !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		err = errors.New("it is not an object") // null decodes into anything
	}
	if err != nil {
		return responseEvent{}, &transport.MalformedError{Err: fmt.Errorf("decode event: %w", err)}
	}
	e.Candidates = slices.DeleteFunc(e.Candidates, func(c *candidate) bool { return c == nil })
	return e, nil
}
