//go:build peers

package llmtest

import (
	"encoding/json"
	"fmt"
	"reflect"

	sdk "github.com/anthropics/anthropic-sdk-go"
)

// anthropicSDKAccepts decodes a request with the vendor's client library and encodes it again: fields that the vendor
// does not know are lost.
func anthropicSDKAccepts(raw []byte, beta bool) error {
	var before map[string]any
	if err := json.Unmarshal(raw, &before); err != nil {
		return fmt.Errorf("decode request: %w", err)
	}
	delete(before, "stream")
	var typed any = new(sdk.MessageNewParams)
	if beta {
		typed = new(sdk.BetaMessageNewParams)
	}
	if err := json.Unmarshal(raw, typed); err != nil {
		return fmt.Errorf("decode request with the vendor's types: %w", err)
	}
	again, err := json.Marshal(typed)
	if err != nil {
		return fmt.Errorf("encode request with the vendor's types: %w", err)
	}
	var after map[string]any
	if err := json.Unmarshal(again, &after); err != nil {
		return fmt.Errorf("decode request: %w", err)
	}
	if where := anthropicSDKDiffers("", before, after); where != "" {
		return fmt.Errorf("the vendor's library does not know %s", where)
	}
	return nil
}

// anthropicSDKDiffers returns the path of the first difference; "" if there is none.
func anthropicSDKDiffers(at string, a, b any) string {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok {
			return at
		}
		for k, v := range a {
			if where := anthropicSDKDiffers(at+"."+k, v, b[k]); where != "" {
				return where
			}
		}
		return ""
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return at
		}
		for i := range a {
			if where := anthropicSDKDiffers(fmt.Sprintf("%s[%d]", at, i), a[i], b[i]); where != "" {
				return where
			}
		}
		return ""
	}
	if !reflect.DeepEqual(a, b) {
		return at
	}
	return ""
}

// anthropicSDKReads decodes an event of the server with the vendor's library.
func anthropicSDKReads(data []byte) error {
	var e sdk.MessageStreamEventUnion
	if err := json.Unmarshal(data, &e); err != nil {
		return fmt.Errorf("check event: %w", err)
	}
	switch e := e.AsAny().(type) {
	case sdk.ContentBlockStartEvent:
		if e.ContentBlock.AsAny() == nil {
			return fmt.Errorf("check event: block of type %q", e.ContentBlock.Type)
		}
	case sdk.ContentBlockDeltaEvent:
		if e.Delta.AsAny() == nil {
			return fmt.Errorf("check event: piece of type %q", e.Delta.Type)
		}
	case nil:
		if string(data) != `{"type":"ping"}` {
			return fmt.Errorf("check event: %s", data)
		}
	}
	return nil
}
