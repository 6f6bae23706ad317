package minds

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"slices"

	"clank/llm"
	"clank/llm/llmtest"
)

// Place is somewhere on a picture, as a share of its width and height: 0, 0 is the upper left corner, 1, 1 the lower right.
type Place struct{ X, Y float64 }

// deedKind says what a deed does.
type deedKind string

const (
	deedClick    deedKind = "click"     // at[0], button, times, held
	deedMove     deedKind = "move"      // at[0]
	deedDrag     deedKind = "drag"      // at
	deedScroll   deedKind = "scroll"    // at[0], by
	deedKeys     deedKind = "keys"      // text: "Control+a", "ArrowDown"
	deedType     deedKind = "type"      // text
	deedWait     deedKind = "wait"      // a moment
	deedNavigate deedKind = "navigate"  // text: the address
	deedBack     deedKind = "back"      // text: the address it is the way back to
	deedCloseTab deedKind = "close tab" //
	deedDialog   deedKind = "dialog"    // text: for a prompt
)

// deed is one thing that a model wants done, in no vendor's words.
type deed struct {
	kind   deedKind
	at     []Place
	button string // "right"; "" for the left one
	times  int    // of a click; 0 = 1
	held   string // key that is held meanwhile
	text   string
	by     image.Point // pixels of the picture
}

// pixel is the pixel of a picture in which a place lies.
func (p Place) pixel(size image.Point) image.Point {
	return image.Pt(cell(p.X, size.X), cell(p.Y, size.Y))
}

// cell is which of so many equal cells a share lies in.
func cell(share float64, cells int) int { return min(max(int(share*float64(cells)), 0), cells-1) }

// object is JSON of values made here, which always marshal.
func object(v map[string]any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return "{}"
	}
	return string(data)
}

// function is a call of one of the loop's own tools, where a deed is not the hands'. ok is false for the others.
func (d deed) function() (call llmtest.Call, ok bool) {
	switch d.kind {
	case deedNavigate:
		return llmtest.Call{Name: "navigate", Arguments: object(map[string]any{"url": d.text})}, true
	case deedCloseTab:
		return llmtest.Call{Name: "close_tab", Arguments: "{}"}, true
	case deedDialog:
		return llmtest.Call{Name: "answer_dialog", Arguments: object(map[string]any{"accept": true, "text": d.text})}, true
	default:
		return llmtest.Call{}, false
	}
}

// Picture is the newest picture in a request; nil if there is none.
func Picture(r llmtest.Request) []byte {
	for _, m := range slices.Backward(r.Messages) {
		for _, p := range slices.Backward(m.Parts) {
			if p.Image != nil {
				return p.Image.Data
			}
			if p.Result != nil && len(p.Result.Images) > 0 {
				return p.Result.Images[len(p.Result.Images)-1].Data
			}
		}
	}
	return nil
}

// sizeOf is the size of the newest picture in a request.
func sizeOf(r llmtest.Request) (image.Point, error) {
	data := Picture(r)
	if data == nil {
		return image.Point{}, errors.New("the model was sent no picture")
	}
	c, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return image.Point{}, fmt.Errorf("read the picture: %w", err)
	}
	return image.Pt(c.Width, c.Height), nil
}

// usage is what every answer costs.
func usage() *llm.Usage { return &llm.Usage{InputTokens: 10, OutputTokens: 5} }
