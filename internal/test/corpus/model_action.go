package corpus

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"slices"

	"clank/internal/test/llmtest"
	"clank/llm"
)

// PicturePoint is somewhere on a picture, as a share of its width and height: 0, 0 is the upper left corner, 1, 1 the lower right.
type PicturePoint struct{ X, Y float64 }

// actionKind says what a deed does.
type actionKind string

const (
	actionClick    actionKind = "click"     // at[0], button, times, held
	actionMove     actionKind = "move"      // at[0]
	actionDrag     actionKind = "drag"      // at
	actionScroll   actionKind = "scroll"    // at[0], by
	actionKeys     actionKind = "keys"      // text: "Control+a", "ArrowDown"
	actionType     actionKind = "type"      // text
	actionWait     actionKind = "wait"      // a moment
	actionNavigate actionKind = "navigate"  // text: the address
	actionBack     actionKind = "back"      // text: the address it is the way back to
	actionCloseTab actionKind = "close tab" //
	actionDialog   actionKind = "dialog"    // text: for a prompt
)

// modelAction is one thing that a model wants done, in no vendor's words.
type modelAction struct {
	kind     actionKind
	at       []PicturePoint
	button   string // "right"; "" for the left one
	times    int    // of a click; 0 = 1
	held     string // key that is held meanwhile
	text     string
	scrollBy image.Point // pixels of the picture
}

// pixel returns the pixel of a picture in which a place lies.
func (p PicturePoint) pixel(size image.Point) image.Point {
	return image.Pt(gridCell(p.X, size.X), gridCell(p.Y, size.Y))
}

// gridCell returns which of so many equal cells a share lies in.
func gridCell(share float64, cells int) int { return min(max(int(share*float64(cells)), 0), cells-1) }

// mustJSON returns v as JSON. Its values are made here and always marshal.
func mustJSON(v map[string]any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return "{}"
	}
	return string(data)
}

// function returns a call of one of the loop's own tools, where a deed is not the hands'. ok is false for the others.
func (d modelAction) function() (call llmtest.Call, ok bool) {
	switch d.kind {
	case actionNavigate:
		return llmtest.Call{Name: "navigate", Arguments: mustJSON(map[string]any{"url": d.text})}, true
	case actionCloseTab:
		return llmtest.Call{Name: "close_tab", Arguments: "{}"}, true
	case actionDialog:
		return llmtest.Call{Name: "answer_dialog", Arguments: mustJSON(map[string]any{"accept": true, "text": d.text})}, true
	default:
		return llmtest.Call{}, false
	}
}

// NewestPicture returns the newest picture in a request; nil if there is none.
func NewestPicture(r llmtest.Request) []byte {
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

// pictureSize returns the size of the newest picture in a request.
func pictureSize(r llmtest.Request) (image.Point, error) {
	data := NewestPicture(r)
	if data == nil {
		return image.Point{}, errors.New("the model was sent no picture")
	}
	c, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return image.Point{}, fmt.Errorf("read the picture: %w", err)
	}
	return image.Pt(c.Width, c.Height), nil
}

// fixedUsage returns what every answer costs.
func fixedUsage() *llm.Usage { return &llm.Usage{InputTokens: 10, OutputTokens: 5} }
