package anthropic_test

import (
	"encoding/json"
	"strings"
	"testing"

	"clank/llm/anthropic"
)

func FuzzEventsAreDecodedOrRefused(f *testing.F) {
	f.Add(`{"type":"message_start","message":{"usage":{"input_tokens":3}}}
{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a b","name":"x","input":{}}}
{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\":1}"}}
{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":-7}}
{"type":"message_stop"}`)
	f.Add(`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}
{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s"}}
{"type":"content_block_delta","index":-1}`)
	f.Add(`{"type":"message_start","message":{"usage":"many"}}`)
	f.Fuzz(func(t *testing.T, stream string) {
		got, _, err := anthropic.Decode(strings.Split(stream, "\n")...)
		if err != nil {
			return
		}
		for _, b := range got.Blocks {
			if !json.Valid(b.Raw) {
				t.Errorf("block %q cannot be sent back", b.Raw)
			}
			if b.Tool != nil && (len(b.Tool.Input) == 0 || b.Tool.Input[0] != '{' || anthropic.WireID(b.Tool.ID) != b.Tool.ID) {
				t.Errorf("call %+v is not sound", b.Tool)
			}
		}
		if u := got.Usage; u.InputTokens < 0 || u.OutputTokens < 0 || u.ReasoningTokens > u.OutputTokens || u.CachedTokens+u.CacheWriteTokens > u.InputTokens {
			t.Errorf("usage %+v does not add up", u)
		}
	})
}
