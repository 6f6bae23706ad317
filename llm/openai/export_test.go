package openai

import (
	"encoding/json"

	"clank/llm"
)

// WireID is an id as it is sent.
var WireID = wireID

// CallDelta is a piece of a tool call as it comes over the wire.
type CallDelta = callDelta

// DataLine returns an event as the client library gets to see it.
func DataLine(data string) string { return string(dataLine([]byte(data))) }

// BuildCalls puts pieces, in JSON, together.
func BuildCalls(pieces ...string) ([]llm.ToolCall, error) {
	var b callBuilder
	for _, p := range pieces {
		var d callDelta
		if err := json.Unmarshal([]byte(p), &d); err != nil {
			return nil, err
		}
		b.add(d)
	}
	return b.finished(), nil
}

// DecodeChat and DecodeResponses feed data of events to a decoder.
func DecodeChat(events ...string) (llm.Reply, bool, error) {
	return decodeAll(newChatDecoder("test"), events)
}

// DecodeResponses decodes events as DecodeChat does, for the other API.
func DecodeResponses(events ...string) (llm.Reply, bool, error) {
	return decodeAll(newResponsesDecoder("test"), events)
}

func decodeAll(d replyDecoder, events []string) (llm.Reply, bool, error) {
	for _, e := range events {
		if err := d.event([]byte(e), func(llm.Delta) {}); err != nil {
			return llm.Reply{}, false, err
		}
	}
	if !d.complete() {
		return llm.Reply{}, false, nil
	}
	return d.reply(), true, nil
}
