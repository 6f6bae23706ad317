package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"clank/internal/untrusted"
	"clank/llm"
)

// The tool with which a model chooses the pictures of an answer.
const (
	ToolShowPictures  = "show_pictures"
	ShowPicturesAbout = "Choose the pictures that the person gets with your answer, just before you give it: these and " +
		"no others, in this order. An empty list shows none."
	ShowPicturesNames = `numbers of pictures that you took, "now" for the page as it is, or refs of elements, of each of which ` +
		"the picture shows that part alone"
	ShowPicturesCaptions = "for each of them a line that says what it shows, for people who cannot see it"
)

const (
	// MaxPictures is how many pictures an answer shows.
	MaxPictures = 10

	keptPictures = 20
	maxCaption   = 300 // characters
)

// Album holds the pictures of a session, which its model refers to by number, and those chosen for the answer.
type Album struct {
	pictures map[int]llm.Image // the newest ones
	last     int
	chosen   []llm.Image
	decided  bool // the model has chosen, perhaps none
}

// Begin resets the choice for a new answer.
func (a *Album) Begin() { a.chosen, a.decided = nil, false }

// Add adds a picture and returns its number.
func (a *Album) Add(picture llm.Image) int {
	if a.pictures == nil {
		a.pictures = map[int]llm.Image{}
	}
	a.last++
	a.pictures[a.last] = picture
	delete(a.pictures, a.last-keptPictures)
	return a.last
}

// Chosen returns the pictures that the model chose for the answer, or otherwise if it has not chosen.
func (a *Album) Chosen(otherwise []llm.Image) []llm.Image {
	if a.decided {
		return a.chosen
	}
	return otherwise
}

// Decided reports whether the model has chosen, even if it chose none.
func (a *Album) Decided() bool { return a.decided }

// Choose sets the pictures of the answer by name. take takes a screenshot of the element with a ref, or of the page
// if ref is empty. Choose returns the text for the model. If no picture is available, nothing changes and it returns
// an error.
func (a *Album) Choose(
	ctx context.Context, names, captions []string, take func(ctx context.Context, ref string) (llm.Image, error),
) (string, error) {
	var chosen []llm.Image
	var shown, missing []string
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			continue
		}
		if len(chosen) == MaxPictures {
			missing = append(missing, fmt.Sprintf("%s (an answer shows %d)", Quote(name), MaxPictures))
			continue
		}
		picture, err := a.find(ctx, name, take)
		if err != nil {
			missing = append(missing, fmt.Sprintf("%s (%s)", Quote(name), untrusted.CleanLine(err.Error(), maxCaption)))
			continue
		}
		if i < len(captions) && strings.TrimSpace(captions[i]) != "" {
			picture.Caption = untrusted.ShortenLine(strings.TrimSpace(captions[i]), maxCaption)
		}
		chosen, shown = append(chosen, picture), append(shown, Shorten(name, 60))
	}
	left := ""
	if len(missing) > 0 {
		left = " Left out: " + strings.Join(missing, "; ") + "."
	}
	if len(chosen) == 0 && len(missing) > 0 {
		return "", errors.New("nothing was chosen." + left)
	}
	a.chosen, a.decided = chosen, true
	if len(chosen) == 0 {
		return "The answer shows no pictures.", nil
	}
	return "The answer shows " + strings.Join(shown, ", ") + "." + left, nil
}

func (a *Album) find(
	ctx context.Context, name string, take func(ctx context.Context, ref string) (llm.Image, error),
) (llm.Image, error) {
	if n, err := strconv.Atoi(strings.TrimPrefix(strings.ToLower(name), "picture ")); err == nil {
		picture, known := a.pictures[n]
		if !known {
			return picture, errors.New("there is no such picture")
		}
		return picture, nil
	}
	if strings.EqualFold(name, "now") {
		name = ""
	}
	return take(ctx, NormalizeRef(name))
}

// ShowPicturesTool returns the tool definition for loops without their own table of tools. names describes how
// pictures are named.
func ShowPicturesTool(names string) llm.Tool {
	list := func(about string) map[string]any {
		return map[string]any{"type": "array", "items": map[string]string{"type": "string"}, "description": about}
	}
	schema, err := json.Marshal(map[string]any{
		"type": "object", "additionalProperties": false,
		"properties": map[string]any{"pictures": list(names), "captions": list(ShowPicturesCaptions)},
	})
	if err != nil {
		schema = nil // strings always marshal
	}
	return llm.Tool{Name: ToolShowPictures, Description: ShowPicturesAbout, Schema: schema}
}

// PictureNames is a list of numbers and strings that name pictures: models write numbers as either.
type PictureNames []string

// UnmarshalJSON implements [json.Unmarshaler].
func (n *PictureNames) UnmarshalJSON(data []byte) error {
	var list []any
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	*n = nil
	for _, name := range list {
		*n = append(*n, fmt.Sprint(name))
	}
	return nil
}

// LabelPictures returns a label for people: how many pictures were chosen.
func LabelPictures(n int) string {
	switch n {
	case 0:
		return "choose no pictures for the answer"
	case 1:
		return "choose a picture for the answer"
	}
	return fmt.Sprintf("choose %d pictures for the answer", n)
}
