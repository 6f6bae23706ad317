package anthropic

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"math"
	"strconv"
	"strings"
	"time"

	"clank/computeruse"
	"clank/llm/anthropic"
)

// memberInput is the union of the inputs of both toolsets' members and of the beta tools.
type memberInput struct {
	Action          string          `json:"action"` // of a beta tool
	Coordinate      looseNumbers    `json:"coordinate"`
	StartCoordinate looseNumbers    `json:"start_coordinate"`
	Region          looseNumbers    `json:"region"`
	Text            string          `json:"text"`
	Modifiers       string          `json:"modifiers"`
	Repeat          looseNumber     `json:"repeat"`
	Duration        looseNumber     `json:"duration"` // seconds
	ScrollDirection string          `json:"scroll_direction"`
	ScrollAmount    looseNumber     `json:"scroll_amount"` // clicks of the wheel
	Target          *pageTarget     `json:"target"`
	From            *pageTarget     `json:"from"`
	TabID           string          `json:"tab_id"`
	URL             string          `json:"url"`
	Filter          string          `json:"filter"`
	Ref             string          `json:"ref"`
	Value           json.RawMessage `json:"value"`
}

// pageTarget is a place on a page: a point or an element.
type pageTarget struct {
	X   *looseNumber `json:"x"`
	Y   *looseNumber `json:"y"`
	Ref string       `json:"ref"`
}

// looseNumber is a number, or a string that is one: models are not always strict.
type looseNumber float64

// UnmarshalJSON implements json.Unmarshaler.
func (n *looseNumber) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	f, err := strconv.ParseFloat(strings.TrimSpace(strings.Trim(string(data), `"`)), 64)
	if err != nil || math.IsNaN(f) || math.Abs(f) > maxNumber {
		return fmt.Errorf("%.40s is not a number that can be used", data)
	}
	*n = looseNumber(f)
	return nil
}

// maxNumber is more than any screen or wait is.
const maxNumber = 1e6

// looseNumbers are a list of them, or a string that is one.
type looseNumbers []looseNumber

// UnmarshalJSON implements json.Unmarshaler.
func (n *looseNumbers) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil && text != "" {
		data = []byte("[" + strings.Trim(text, " []()") + "]")
	}
	var list []looseNumber
	if err := json.Unmarshal(data, &list); err != nil {
		return fmt.Errorf("read coordinates: %w", err)
	}
	*n = list
	return nil
}

// point returns the place meant; nil if none is named.
func (n looseNumbers) point() (*image.Point, error) {
	switch len(n) {
	case 0:
		return nil, nil //nolint:nilnil // no place is a place: where the mouse is
	case 2:
		p := image.Pt(n[0].round(), n[1].round())
		return &p, nil
	}
	return nil, errors.New("a coordinate is [x, y]")
}

// region returns the part of the picture meant.
func (n looseNumbers) region() (image.Rectangle, error) {
	if len(n) != 4 {
		return image.Rectangle{}, errors.New("a region is [x0, y0, x1, y1]")
	}
	r := image.Rect(n[0].round(), n[1].round(), n[2].round(), n[3].round())
	if r.Empty() {
		return image.Rectangle{}, errors.New("the region is empty")
	}
	return r, nil
}

// place returns the point or the element of t.
func (t *pageTarget) place() (at *image.Point, ref string, err error) {
	switch {
	case t == nil:
		return nil, "", nil
	case t.Ref != "":
		return nil, t.Ref, nil
	case t.X != nil && t.Y != nil:
		p := image.Pt(t.X.round(), t.Y.round())
		return &p, "", nil
	}
	return nil, "", errors.New("a target has x and y, or a ref")
}

func (n looseNumber) round() int { return int(math.Round(float64(n))) }

// times returns how often; at most max, and 0 if it does not say.
func (n looseNumber) times(most int) int { return min(max(n.round(), 0), most) }

// span returns a duration in seconds, limited to the maximum of a member.
func (n looseNumber) span() time.Duration {
	return time.Duration(min(max(float64(n), 0), maxSeconds) * float64(time.Second))
}

const (
	maxSeconds = 30
	maxRepeat  = 100
	maxWheel   = 50
)

// value returns the value for a form field, as text.
func (in memberInput) value() string {
	var s string
	if json.Unmarshal(in.Value, &s) == nil {
		return s
	}
	return string(in.Value)
}

// keyChords returns the key presses of a text such as "ctrl+s" or "Down Down Return".
func keyChords(text string) [][]string {
	if text != "" && strings.TrimSpace(text) == "" {
		return [][]string{{"space"}}
	}
	var all [][]string
	for word := range strings.FieldsSeq(text) {
		all = append(all, keyChord(word))
	}
	return all
}

// keyChord returns the keys of one press. A plus at the end is the key of that name.
func keyChord(word string) []string {
	var last []string
	if rest, ok := strings.CutSuffix(word, "+"); ok {
		word, last = strings.TrimSuffix(rest, "+"), []string{"+"}
	}
	var keys []string
	for key := range strings.SplitSeq(word, "+") {
		if key != "" {
			keys = append(keys, key)
		}
	}
	return append(keys, last...)
}

// heldKeys returns the keys to hold, such as "ctrl+shift".
func heldKeys(text string) []string {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return keyChord(strings.TrimSpace(text))
}

// appendInput adds the input to the conversation: answers to the open calls first, then people's notes, then a picture
// that belongs to no call.
func (t *conversation) appendInput(in computeruse.Input) {
	content, shown := t.callAnswers(in)
	t.open = nil
	for _, said := range in.Says {
		content = append(content, anthropic.OptionalText(said)...)
	}
	if in.Shot != nil {
		t.size, t.url = in.Shot.Size, in.Shot.URL
		if !shown {
			content = append(content, anthropic.NewText(in.Shot.Note()), t.screenshotBlock(in.Shot))
		}
	}
	last := len(t.messages) - 1
	told := last >= 0 && t.messages[last].Role == anthropic.RoleUser // but the model has not answered
	if len(content) == 0 && !told {
		content = append(content, anthropic.NewText(continueText))
	}
	if told {
		t.messages[last].Content = append(t.messages[last].Content, content...)
		return
	}
	t.messages = append(t.messages, anthropic.Message{Role: anthropic.RoleUser, Content: content})
}

// callAnswers returns the results of the open calls in order. The screenshot is part of the last executed action
// without a picture of its own; shown reports whether there is one.
func (t *conversation) callAnswers(in computeruse.Input) (content []anthropic.Content, shown bool) {
	with := ""
	for _, c := range t.open {
		if o, ok := in.Outcome(c.id); ok && c.screen && o.Err == "" && !o.Skipped && o.Image == nil && in.Shot != nil {
			with = c.id
		}
	}
	for _, c := range t.open {
		if r, ok := in.Result(c.id); ok {
			content = append(content, anthropic.NewResult(c.id, c.toolset, r.Text, anthropic.NewImages(r.Images), r.IsError))
			continue
		}
		o, ok := in.Outcome(c.id)
		switch {
		case !ok:
			content = append(content, anthropic.NewResult(c.id, c.toolset, noAnswerText, nil, true))
		case o.Skipped:
			content = append(content, anthropic.NewResult(c.id, c.toolset, skippedText, nil, true))
		case o.Err != "":
			content = append(content, anthropic.NewResult(c.id, c.toolset, joinLines(o.Err, o.Text), nil, true))
		default:
			text, images := cmp.Or(o.Text, doneText), []anthropic.ImageBlock(nil)
			if o.Image != nil {
				images = append(images, anthropic.NewImage(*o.Image))
			}
			if with == c.id {
				t.url = in.Shot.URL
				text, images = joinLines(text, in.Shot.Note()), append(images, t.screenshotBlock(in.Shot))
			}
			content = append(content, anthropic.NewResult(c.id, c.toolset, text, images, false))
		}
	}
	return content, with != ""
}

// screenshotBlock returns the screenshot. If the API allows it, the vendor is told not to shrink it, since clicks would
// miss.
func (t *conversation) screenshotBlock(s *computeruse.Screenshot) anthropic.ImageBlock {
	if isToolset(t.model.tools) {
		return anthropic.NewImage(s.Image).Unscaled()
	}
	return anthropic.NewImage(s.Image)
}

func joinLines(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}
