package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	"clank/computeruse"
	"clank/llm"
	"clank/llm/openai"
)

// item is one element of a request's input. It marshals to JSON as it is kept;
// wire is how it is sent.
type item struct {
	Raw json.RawMessage `json:"raw,omitempty"` // the model's own, replayed unchanged

	Kind         string               `json:"kind,omitempty"` // one of the kinds, else
	CallID       string               `json:"call_id,omitempty"`
	Parts        []part               `json:"parts,omitempty"`
	Acknowledged []computeruse.Safety `json:"acknowledged,omitempty"`
}

// The kinds of item that are ours.
const (
	kindMessage  = "message"
	kindScreen   = "computer_call_output" // its one part is the picture
	kindFunction = "function_call_output"
)

// part is text or a picture; a picture without data stands for one that is gone.
type part struct {
	Text    string     `json:"text,omitempty"`
	Picture *llm.Image `json:"picture,omitempty"`
}

// gone stands for a picture that is no longer sent: a small grey PNG, because an
// output must have one.
const gone = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAABAAAAAQAQMAAAAlPW0iAAAAA1BMVEWAgICQdD0xAAAAD0lEQVR42mIgEQACAAD//wAwAAHLqONBAAAAAElFTkSuQmCC"

// goneText stands for it where it need not be there.
const goneText = "(an older picture is left out)"

func text(s string) part { return part{Text: s} }

// picture is a picture, or one that is gone.
func picture(i *llm.Image) part {
	if i == nil {
		return part{Picture: &llm.Image{}}
	}
	return part{Picture: i}
}

// wire is the item as the vendor reads it. detail is how pictures are to be looked
// at; empty leaves it out where it may be.
func (i item) wire(detail string) any {
	if i.Raw != nil {
		return i.Raw
	}
	switch i.Kind {
	case kindScreen:
		shot := map[string]any{"type": "computer_screenshot", "image_url": gone}
		if len(i.Parts) > 0 && i.Parts[0].has() {
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

func (i item) content(detail string) []any {
	if detail == "" {
		detail = "auto"
	}
	all := []any{}
	for _, p := range i.Parts {
		switch {
		case p.has():
			all = append(all, map[string]any{"type": "input_image", "image_url": openai.DataURI(*p.Picture), "detail": detail})
		case p.Picture != nil:
			all = append(all, map[string]any{"type": "input_text", "text": goneText})
		default:
			all = append(all, map[string]any{"type": "input_text", "text": p.Text})
		}
	}
	return all
}

func (p part) has() bool { return p.Picture != nil && len(p.Picture.Data) > 0 }

// thinned returns items with all but the newest keep pictures gone. The given ones
// are not changed.
func thinned(items []item, keep int) []item {
	out := append([]item(nil), items...)
	for i := len(out) - 1; i >= 0; i-- {
		copied := false
		for n := len(out[i].Parts) - 1; n >= 0; n-- {
			if !out[i].Parts[n].has() {
				continue
			}
			if keep > 0 {
				keep--
				continue
			}
			if !copied {
				out[i].Parts, copied = append([]part(nil), out[i].Parts...), true
			}
			out[i].Parts[n] = picture(nil)
		}
	}
	return out
}

// inputs is what is told, as items: the answers to calls in the order in which they
// were made, and a message with all the rest.
func inputs(in computeruse.Input, open []openCall) []item {
	var shot *llm.Image
	if in.Shot != nil {
		shot = &in.Shot.Image
	}
	var items []item
	var rest []part
	shown := false
	outcomes, results := byID(in)
	for _, c := range open {
		if res, ok := results[c.ID]; ok && !c.Screen {
			items = append(items, functionOutput(res))
			continue
		}
		if !c.Screen {
			items = append(items, functionOutput(llm.ToolResult{ID: c.ID, Text: "interrupted", IsError: true}))
			continue
		}
		o, ok := outcomes[c.ID]
		if !ok {
			o.Err = "interrupted"
		}
		items = append(items, item{Kind: kindScreen, CallID: c.ID, Parts: []part{picture(shot)}, Acknowledged: o.Acknowledged})
		shown = true
		if about := aboutOutcome(o); about != "" {
			rest = append(rest, text(about))
		}
		if o.Image != nil {
			rest = append(rest, text("The part you wanted to see closer:"), picture(o.Image))
		}
	}
	for _, s := range in.Says {
		rest = append(rest, text(s))
	}
	if shot == nil && shown {
		rest = append(rest, text("The screen could not be seen: the grey picture is not it."))
	}
	if shot != nil && !shown {
		rest = append(rest, picture(shot))
	}
	if len(rest) > 0 {
		items = append(items, item{Kind: kindMessage, Parts: rest})
	}
	return items
}

func byID(in computeruse.Input) (map[string]computeruse.Outcome, map[string]llm.ToolResult) {
	outcomes, results := map[string]computeruse.Outcome{}, map[string]llm.ToolResult{}
	for _, o := range in.Outcomes {
		outcomes[o.CallID] = o
	}
	for _, r := range in.Results {
		results[r.ID] = r
	}
	return outcomes, results
}

// aboutOutcome is what the model is told beside the picture.
func aboutOutcome(o computeruse.Outcome) string {
	var lines []string
	if o.Err != "" {
		lines = append(lines, "About your action: "+o.Err)
	}
	if o.Text != "" {
		lines = append(lines, "About your action: "+o.Text)
	}
	return strings.Join(lines, "\n")
}

func functionOutput(r llm.ToolResult) item {
	said := r.Text
	switch {
	case r.IsError && said == "":
		said = "The tool failed."
	case r.IsError:
		said = "The tool failed: " + said
	case said == "":
		said = "(no output)"
	}
	out := item{Kind: kindFunction, CallID: r.ID, Parts: []part{text(said)}}
	for _, i := range r.Images {
		out.Parts = append(out.Parts, picture(&i))
	}
	return out
}

// unreadable is an answer that is not what the API promises.
func unreadable(model, what string, err error) error {
	return &llm.Error{
		Kind: llm.ErrMalformed, Model: model, Message: "the answer could not be understood: " + what, Hint: "ask again", Err: fmt.Errorf("decode %s: %w", what, err),
	}
}
