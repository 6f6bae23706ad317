package anthropic

import "clank/llm"

// Decode feeds data of events to a decoder, as long as they last. It says false for an answer that is not complete.
func Decode(events ...string) (MessageResponse, bool, error) {
	d := newDecoder()
	for _, e := range events {
		if err := d.event([]byte(e), func(llm.Delta) {}); err != nil {
			return MessageResponse{}, false, err
		}
	}
	return d.answer().MessageResponse, d.complete, nil
}
