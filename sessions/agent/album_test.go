package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"

	"clank/internal/test/check"
	"clank/llm"
	"clank/sessions/agent"
)

func picture(of string) llm.Image { return llm.Image{Data: []byte(of)} }

// take takes pictures of all elements but e9.
func take(_ context.Context, ref string) (llm.Image, error) {
	if ref == "e9" {
		return llm.Image{}, errors.New("there is no e9")
	}
	return picture("element " + ref), nil
}

func TestAnAnswerShowsThePicturesThatWereChosen(t *testing.T) {
	lamp, element := picture("2"), picture("element e1")
	lamp.Caption, element.Caption = "the lamp", "its price"
	many := strings.Split("e10 e11 e12 e13 e14 e15 e16 e17 e18 e19 e20", " ")
	for name, tt := range map[string]struct {
		names, captions []string
		want            []llm.Image
		says, fails     string
	}{
		"taken and new ones": {
			[]string{"picture 2", "now", "@E1", "now"},
			[]string{" the lamp\n", " ", "its price"},
			[]llm.Image{lamp, picture("element "), element},
			"The answer shows picture 2, now, @E1.", "",
		},
		"none": {nil, nil, nil, "The answer shows no pictures.", ""},
		"one that there is": {
			[]string{"1", "e9"},
			nil,
			[]llm.Image{picture("1")},
			`The answer shows 1. Left out: "e9" (there is no e9).`, "",
		},
		"none that there is": {
			[]string{"7", "e9"},
			nil, nil, "",
			`nothing was chosen. Left out: "7" (there is no such picture); "e9" (there is no e9).`,
		},
		"too many": {many, nil, nil, "The answer shows " + strings.Join(many[:10], ", ") + `. Left out: "e20" (an answer shows 10).`, ""},
	} {
		var a agent.Album
		for n := 1; n <= 2; n++ {
			check.Equal(t, "number", a.Add(picture(strconv.Itoa(n))), n)
		}
		said, err := a.Choose(t.Context(), tt.names, tt.captions, take)
		check.Outcome(t, name, err, tt.fails)
		check.Equal(t, name+": said", said, tt.says)
		check.Equal(t, name+": decided", a.Decided(), tt.fails == "")
		otherwise := []llm.Image{picture("otherwise")}
		switch got := a.Chosen(otherwise); {
		case tt.fails != "":
			check.Diff(t, name+": chosen", got, otherwise)
		case name == "too many":
			check.Equal(t, name+": chosen", len(got), agent.MaxPictures)
		default:
			check.Diff(t, name+": chosen", got, tt.want)
		}
		a.Begin()
		check.Diff(t, name+": chosen for the next answer", a.Chosen(otherwise), otherwise)
	}
}

func TestOnlyTheNewestPicturesAreKept(t *testing.T) {
	var a agent.Album
	for range 21 {
		a.Add(picture("x"))
	}
	said, err := a.Choose(t.Context(), []string{"1", "2", "21"}, nil, take)
	check.Must(t, err)
	check.Equal(t, "said", said, `The answer shows 2, 21. Left out: "1" (there is no such picture).`)
}

func TestPicturesAreNamedByNumbersAndStrings(t *testing.T) {
	var names agent.PictureNames
	check.Must(t, json.Unmarshal([]byte(`[1,"now"]`), &names))
	check.Diff(t, "names", names, agent.PictureNames{"1", "now"})
	check.Fails(t, json.Unmarshal([]byte(`{}`), &names), nil, "object")
	schema := string(agent.ShowPicturesTool("which").Schema)
	check.Contains(t, schema, `"description":"which"`, `"captions"`)
}
