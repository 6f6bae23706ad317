package openai

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"clank/computeruse"
	"clank/llm"
	"clank/llm/openai"
)

// inputItem is one element of a request's input. It marshals to its stored form; request returns the form that is sent.
type inputItem struct {
	Raw json.RawMessage `json:"raw,omitempty"` // the model's own, replayed unchanged

	Kind         string                      `json:"kind,omitempty"` // one of the kinds, else
	CallID       string                      `json:"call_id,omitempty"`
	Parts        []inputPart                 `json:"parts,omitempty"`
	Acknowledged []computeruse.SafetyWarning `json:"acknowledged,omitempty"`
}

// The kinds of item that are ours.
const (
	kindMessage  = "message"
	kindScreen   = "computer_call_output" // its one part is the picture
	kindFunction = "function_call_output"
)

// inputPart is text or a picture; a picture without data stands for a removed one.
type inputPart struct {
	Text    string     `json:"text,omitempty"`
	Picture *llm.Image `json:"picture,omitempty"`
}

// removedImage replaces a removed picture: a small grey PNG, because an output must have one.
const removedImage = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAABAAAAAQAQMAAAAlPW0iAAAAA1BMVEWAgICQdD0xAAAAD0lEQVR42mIgEQACAAD//wAwAAHLqONBAAAAAElFTkSuQmCC"

// removedImageText replaces it where a picture is not required.
const removedImageText = "(an older picture is left out)"

func textPart(s string) inputPart { return inputPart{Text: s} }

// imagePart returns a picture, or one that is gone.
func imagePart(i *llm.Image) inputPart {
	if i == nil {
		return inputPart{Picture: &llm.Image{}}
	}
	return inputPart{Picture: i}
}

// request returns the item in the vendor's form. detail is the detail level of pictures; empty omits it where possible.
func (i inputItem) request(detail string) any {
	if i.Raw != nil {
		return i.Raw
	}
	switch i.Kind {
	case kindScreen:
		shot := map[string]any{"type": "computer_screenshot", "image_url": removedImage}
		if len(i.Parts) > 0 && i.Parts[0].hasImage() {
			shot["image_url"] = openai.DataURI(*i.Parts[0].Picture)
			if detail != "" {
				shot["detail"] = detail
			}
		}
		out := map[string]any{"type": kindScreen, "call_id": i.CallID, "output": shot}
		if len(i.Acknowledged) > 0 {
			out["acknowledged_safety_checks"] = i.Acknowledged
		}
		return out
	case kindFunction:
		return map[string]any{"type": kindFunction, "call_id": i.CallID, "output": i.content(detail)}
	default:
		return map[string]any{"role": "user", "content": i.content(detail)}
	}
}

func (i inputItem) content(detail string) []any {
	detail = cmp.Or(detail, "auto")
	all := []any{}
	for _, p := range i.Parts {
		switch {
		case p.hasImage():
			all = append(all, map[string]any{"type": "input_image", "image_url": openai.DataURI(*p.Picture), "detail": detail})
		case p.Picture != nil:
			all = append(all, map[string]any{"type": "input_text", "text": removedImageText})
		default:
			all = append(all, map[string]any{"type": "input_text", "text": p.Text})
		}
	}
	return all
}

func (p inputPart) hasImage() bool { return p.Picture != nil && len(p.Picture.Data) > 0 }

// withoutOldImages returns items with only the newest keep pictures. It does not change items.
func withoutOldImages(items []inputItem, keep int) []inputItem {
	out := append([]inputItem(nil), items...)
	for i := len(out) - 1; i >= 0; i-- {
		copied := false
		for n := len(out[i].Parts) - 1; n >= 0; n-- {
			if !out[i].Parts[n].hasImage() {
				continue
			}
			if keep > 0 {
				keep--
				continue
			}
			if !copied {
				out[i].Parts, copied = append([]inputPart(nil), out[i].Parts...), true
			}
			out[i].Parts[n] = imagePart(nil)
		}
	}
	return out
}

// inputItems returns the input as items: the answers to calls in order, and one message with everything else.
func inputItems(in computeruse.Input, open []openCall) []inputItem {
	var shot *llm.Image
	if in.Shot != nil {
		shot = &in.Shot.Image
	}
	var items []inputItem
	var rest []inputPart
	shown := false
	for _, c := range open {
		if !c.Screen {
			res, ok := in.Result(c.ID)
			if !ok {
				res = llm.ToolResult{ID: c.ID, Text: "interrupted", IsError: true}
			}
			items = append(items, functionOutput(res))
			continue
		}
		o, ok := in.Outcome(c.ID)
		if !ok {
			o.Err = "interrupted"
		}
		items = append(items, inputItem{
			Kind: kindScreen, CallID: c.ID, Parts: []inputPart{imagePart(shot)},
			Acknowledged: o.Acknowledged,
		})
		shown = true
		if about := resultText(o); about != "" {
			rest = append(rest, textPart(about))
		}
		if o.Image != nil {
			rest = append(rest, textPart("The part you wanted to see closer:"), imagePart(o.Image))
		}
	}
	for _, s := range in.Says {
		rest = append(rest, textPart(s))
	}
	if shot == nil && shown {
		rest = append(rest, textPart("The screen could not be seen: the grey picture is not it."))
	}
	if shot != nil { // the answer to a call holds a picture and no words
		rest = append(rest, textPart(in.Shot.Note()))
	}
	if shot != nil && !shown {
		rest = append(rest, imagePart(shot))
	}
	if len(rest) > 0 {
		items = append(items, inputItem{Kind: kindMessage, Parts: rest})
	}
	return items
}

// resultText returns the text of a result beside its picture.
func resultText(o computeruse.CallResult) string {
	var lines []string
	if o.Err != "" {
		lines = append(lines, "About your action: "+o.Err)
	}
	if o.Text != "" {
		lines = append(lines, "About your action: "+o.Text)
	}
	return strings.Join(lines, "\n")
}

func functionOutput(r llm.ToolResult) inputItem {
	said := r.Text
	switch {
	case r.IsError && said == "":
		said = "The tool failed."
	case r.IsError:
		said = "The tool failed: " + said
	case said == "":
		said = "(no output)"
	}
	out := inputItem{Kind: kindFunction, CallID: r.ID, Parts: []inputPart{textPart(said)}}
	for _, i := range r.Images {
		out.Parts = append(out.Parts, imagePart(&i))
	}
	return out
}

// unreadable returns an answer that is not what the API promises.
func unreadable(model, what string, err error) error {
	return &llm.Error{
		Kind: llm.ErrMalformed, Model: model, Message: "the answer could not be understood: " + what, Hint: "ask again",
		Err: fmt.Errorf("decode %s: %w", what, err),
	}
}
