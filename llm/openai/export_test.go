package openai

import (
	"encoding/json"
	"io"
	"net/url"

	"clank/llm"
)

// What the tests of this package's parsers need to see.
var (
	RetryAfter = retryAfter
	Backoff    = backoff
	WireID     = wireID
)

// CallDelta is a piece of a tool call as it comes over the wire.
type CallDelta = callDelta

// ReadEvents is the data of all events of a stream.
func ReadEvents(r io.Reader) (events []string, err error) {
	e := newEventReader(r)
	for {
		data, err := e.next()
		if err != nil {
			return events, err
		}
		events = append(events, string(data))
	}
}

// DataLine is an event as the client library gets to see it.
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

// ReadErrorBody is the code and message in a server's words.
func ReadErrorBody(body string) (code, message string) {
	told := readErrorBody([]byte(body))
	return told.code, told.message
}

// Clean removes secrets as a model with this key and base URL does.
func Clean(key, base, text string) (string, error) {
	u, err := url.Parse(base)
	if err != nil {
		return "", err
	}
	return cleaner(key, u)(text), nil
}

// DecodeChat and DecodeResponses feed data of events to a decoder.
func DecodeChat(events ...string) (llm.Reply, bool, error) {
	return decodeAll(newChatDecoder("test"), events)
}

// DecodeResponses is DecodeChat for the other API.
func DecodeResponses(events ...string) (llm.Reply, bool, error) {
	return decodeAll(newResponsesDecoder("test"), events)
}

func decodeAll(d decoder, events []string) (llm.Reply, bool, error) {
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
