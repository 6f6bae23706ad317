package openai

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"clank/llm"
	"clank/llm/transport"
)

// phaseNote is the type of an Opaque that remembers the phase of the text that follows it.
const phaseNote = "phase"

// responsesEvent is an event of the Responses API, or a whole response, which Object distinguishes.
type responsesEvent struct {
	Type        string          `json:"type"`
	Object      string          `json:"object"`
	Delta       string          `json:"delta"`
	OutputIndex int             `json:"output_index"`
	Item        json.RawMessage `json:"item"`
	Response    json.RawMessage `json:"response"`
	Error       json.RawMessage `json:"error"`
}

type wholeResponse struct {
	ID                string            `json:"id"`
	Status            string            `json:"status"`
	Output            []json.RawMessage `json:"output"`
	Error             json.RawMessage   `json:"error"`
	IncompleteDetails struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage json.RawMessage `json:"usage"`
}

type responsesUsage struct {
	InputTokens        int `json:"input_tokens"`
	OutputTokens       int `json:"output_tokens"`
	InputTokensDetails struct {
		CachedTokens     int `json:"cached_tokens"`
		CacheWriteTokens int `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	OutputTokensDetails struct {
		ReasoningTokens int `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

type outputItem struct {
	Type      string `json:"type"`
	Phase     string `json:"phase"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Content   []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	} `json:"content"`
}

type responsesDecoder struct {
	owner   string
	items   map[int]json.RawMessage // finished, by output index
	spoken  int                     // output index of the last text, -1 if none
	whole   *wholeResponse
	parts   []llm.Part
	refused bool
	calls   bool
}

func newResponsesDecoder(owner string) *responsesDecoder {
	return &responsesDecoder{owner: owner, items: map[int]json.RawMessage{}, spoken: -1}
}

func (d *responsesDecoder) event(data []byte, emit func(llm.Delta)) error {
	if d.complete() { // the end told twice would double the answer
		return nil
	}
	var e responsesEvent
	if err := json.Unmarshal(data, &e); err != nil {
		return &transport.MalformedError{Err: fmt.Errorf("decode event: %w", err)}
	}
	switch {
	case e.Type == "error":
		return streamError(data)
	case e.Object == "response":
		return d.end(data, emit)
	case e.Type == "" && isPresent(e.Error):
		return streamError(e.Error)
	}
	switch e.Type {
	case "response.output_text.delta", "response.refusal.delta":
		if d.spoken >= 0 && d.spoken != e.OutputIndex {
			emit(llm.Delta{Text: "\n\n"})
		}
		d.spoken = e.OutputIndex
		emit(llm.Delta{Text: e.Delta})
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		emit(llm.Delta{Reasoning: e.Delta})
	case "response.output_item.done":
		d.items[e.OutputIndex] = e.Item
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled":
		return d.end(e.Response, emit)
	}
	return nil
}

// end takes the final response. Some servers leave its output empty and sent it in events only.
func (d *responsesDecoder) end(data []byte, emit func(llm.Delta)) error {
	var w wholeResponse
	if err := json.Unmarshal(data, &w); err != nil {
		return &transport.MalformedError{Err: fmt.Errorf("decode response: %w", err)}
	}
	switch w.Status {
	case "failed":
		return streamError(w.Error)
	case "completed", "incomplete":
	default:
		return &transport.TruncatedError{Err: fmt.Errorf("the response is %q", w.Status)}
	}
	if len(w.Output) == 0 {
		for _, i := range slices.Sorted(maps.Keys(d.items)) {
			w.Output = append(w.Output, d.items[i])
		}
	}
	for _, raw := range w.Output {
		if err := d.item(raw); err != nil {
			return err
		}
	}
	d.whole = &w
	if d.spoken < 0 { // an answer in one piece
		emit(llm.Delta{Text: llm.Message{Parts: d.parts}.Text()})
	}
	return nil
}

func (d *responsesDecoder) item(raw json.RawMessage) error {
	var it outputItem
	if err := json.Unmarshal(raw, &it); err != nil {
		return &transport.MalformedError{Err: fmt.Errorf("decode output item: %w", err)}
	}
	switch it.Type {
	case "reasoning":
		d.keep(raw)
	case "function_call":
		id := it.CallID
		if id == "" {
			id = "call_" + rand.Text()
		}
		c := toolCall(id, it.Name, []byte(it.Arguments))
		d.parts = append(d.parts, llm.Part{Call: &c})
		d.calls = true
	case "message":
		return d.message(it)
	}
	return nil
}

// message keeps the text of a message, and its phase before it.
func (d *responsesDecoder) message(it outputItem) error {
	var text strings.Builder
	for _, c := range it.Content {
		text.WriteString(c.Text + c.Refusal)
		d.refused = d.refused || c.Type == "refusal"
	}
	if text.Len() == 0 {
		return nil
	}
	if it.Phase != "" {
		note, err := json.Marshal(map[string]string{"type": phaseNote, "phase": it.Phase})
		if err != nil {
			return &transport.MalformedError{Err: err}
		}
		d.keep(note)
	}
	d.parts = append(d.parts, llm.Part{Text: text.String()})
	return nil
}

func (d *responsesDecoder) keep(data json.RawMessage) {
	d.parts = append(d.parts, llm.Part{Opaque: &llm.Opaque{Owner: d.owner, Data: slices.Clone(data)}})
}

func (d *responsesDecoder) complete() bool { return d.whole != nil }

func (d *responsesDecoder) reply() llm.Reply {
	r := llm.Reply{Message: llm.Message{Role: llm.RoleAssistant, Parts: d.parts}}
	if isPresent(d.whole.Usage) {
		var u responsesUsage
		_ = json.Unmarshal(d.whole.Usage, &u) // a count in another form than ours is not worth an answer
		r.Usage = llm.Usage{
			InputTokens: u.InputTokens, CachedTokens: u.InputTokensDetails.CachedTokens,
			CacheWriteTokens: u.InputTokensDetails.CacheWriteTokens,
			OutputTokens:     u.OutputTokens, ReasoningTokens: u.OutputTokensDetails.ReasoningTokens,
		}
	}
	switch {
	case d.whole.Status == "incomplete" && d.whole.IncompleteDetails.Reason == "max_output_tokens":
		r.Stop = llm.StopLength
	case d.whole.Status == "incomplete" && d.whole.IncompleteDetails.Reason == "content_filter":
		r.Stop = llm.StopFilter
	case d.whole.Status == "incomplete":
		r.Stop = llm.StopUnknown
	case d.calls:
		r.Stop = llm.StopTools
	case d.refused:
		r.Stop = llm.StopRefused
	default:
		r.Stop = llm.StopEnd
	}
	return r
}
