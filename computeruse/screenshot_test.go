package computeruse_test

import (
	"bytes"
	"fmt"
	"image"
	_ "image/jpeg"
	_ "image/png"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"clank/computeruse"
	"clank/internal/test/computerusetest"
	"clank/sessions"
)

func TestClicksLandWhereTheModelSawThem(t *testing.T) {
	viewport := image.Pt(400, 240)
	for _, ratio := range []float64{1, 1.5, 2, 3} {
		for _, most := range []int{400, 333, 259} {
			t.Run(fmt.Sprintf("ratio %g, picture of %d", ratio, most), func(t *testing.T) {
				var actions []computeruse.Action
				var want []image.Point
				by := math.Min(float64(most), float64(viewport.X)*ratio) / float64(viewport.X)
				for x := 5; x < viewport.X; x += 131 {
					for y := 3; y < viewport.Y; y += 77 {
						want = append(want, image.Pt(x, y))
						actions = append(actions, click(int(float64(x)*by), int(float64(y)*by)))
					}
				}
				b := newBench(t, do(actions...), say("done"))
				b.mind.Size = image.Pt(most, most)
				b.browser.New = func() *computerusetest.Screen {
					return &computerusetest.Screen{Size: viewport, Ratio: ratio}
				}
				b.answer(t)
				done := b.browser.Screen().Acts()
				if len(done) != len(want) || len(want) == 0 {
					t.Fatalf("%d clicks were done, want %d", len(done), len(want))
				}
				for i, act := range done {
					x, y := coordinates(t, act)
					if math.Abs(x-float64(want[i].X)) > 1 || math.Abs(y-float64(want[i].Y)) > 1 {
						t.Errorf("%v was clicked at %g, %g", want[i], x, y)
					}
				}
			})
		}
	}
}

func coordinates(t *testing.T, act string) (x, y float64) {
	t.Helper()
	for word := range strings.FieldsSeq(act) {
		name, value, _ := strings.Cut(word, "=")
		v, err := strconv.ParseFloat(value, 64)
		switch {
		case err != nil:
		case name == "x":
			x = v
		case name == "y":
			y = v
		}
	}
	return x, y
}

func TestPointsOutsideAreBroughtInside(t *testing.T) {
	b := newBench(t, do(click(-50, 9999), computeruse.Action{
		Kind: computeruse.ActDrag, Path: []image.Point{{X: -1, Y: -1}, {X: 10, Y: 10}, {X: 1 << 30, Y: 5}}, Held: []string{"shift"},
	}), say("done"))
	b.answer(t)
	want := "clickCoords button=left clickCount=1 x=0 y=179.5; dragCoords button=left modifiers=[Shift] path=[0,0 10.5,10.5 319.5,5.5]"
	if got := b.acts(); got != want {
		t.Errorf("the screen got  %s\nwant %s", got, want)
	}
}

func TestThePictureHasTheSizeThatTheModelWants(t *testing.T) {
	b := newBench(t, do(computeruse.Action{Kind: computeruse.ActZoom, Region: image.Rect(20, 20, 40, 30)}), say("done"))
	b.mind.Size = image.Pt(160, 160)
	b.browser.New = func() *computerusetest.Screen { return &computerusetest.Screen{Ratio: 2} }
	b.answer(t)
	told := b.told(t, 0).Shot
	if got := decoded(t, told.Image.Data); got != image.Pt(160, 90) || told.Size != got {
		t.Errorf("the picture is %v and said to be %v, want 160 by 90", got, told.Size)
	}
	zoomed := b.told(t, 1).Outcomes[0].Image
	if zoomed == nil {
		t.Fatal("there is no picture of the part")
	}
	if got := decoded(t, zoomed.Data); got != image.Pt(160, 80) {
		t.Errorf("the part is %v, want it as large as fits", got)
	}
}

func decoded(t *testing.T, data []byte) image.Point {
	t.Helper()
	c, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return image.Pt(c.Width, c.Height)
}

func TestTheMouseIsWhereItWasLeft(t *testing.T) {
	here := computeruse.Action{Kind: computeruse.ActClick, Button: computeruse.ButtonRight, Clicks: 2}
	b := newBench(t, do(here), do(click(10, 20), here, computeruse.Action{Kind: computeruse.ActCursor}), say("done"))
	b.answer(t)
	want := "clickCoords button=right clickCount=2 x=160 y=90; clickCoords button=left clickCount=1 x=10.5 y=20.5; clickCoords button=right clickCount=2 x=10.5 y=20.5"
	if got := b.acts(); got != want {
		t.Errorf("the screen got  %s\nwant %s", got, want)
	}
	if got := b.told(t, 2).Outcomes[0].Text; got != "The mouse is at x=10, y=20." {
		t.Errorf("the model was told %q", got)
	}
}

func TestPeopleReadPointsOnAGridAsPixels(t *testing.T) {
	b := newBench(t, do(computeruse.Action{Kind: computeruse.ActClick, At: &image.Point{X: 500, Y: 500}, Grid: image.Pt(1000, 1000)}), say("done"))
	_, steps := b.answer(t)
	var got []string
	for _, s := range steps {
		if s.Kind == sessions.StepAct {
			got = append(got, s.Label+" "+string(s.Input))
		}
	}
	one := `click at 160, 90 {"x":160,"y":90}`
	if want := []string{one, one}; !slices.Equal(got, want) { // begun and done
		t.Errorf("the acts are %q, want %q", got, want)
	}
}

func TestEachKindOfActionHasItsMoves(t *testing.T) {
	at := &image.Point{X: 9, Y: 9}
	for want, a := range map[string]computeruse.Action{
		"pointerDown button=left x=9.5 y=9.5; pointerUp button=left x=9.5 y=9.5": {Kind: computeruse.ActDown, At: at},
		"pointerUp button=middle x=9.5 y=9.5":                                    {Kind: computeruse.ActUp, At: at, Button: computeruse.ButtonMiddle},
		"pointerMove modifiers=[Control] x=9.5 y=9.5":                            {Kind: computeruse.ActMove, At: at, Held: []string{"CTRL"}},
		"back":                        {Kind: computeruse.ActClick, At: at, Button: computeruse.ButtonBack},
		"forward":                     {Kind: computeruse.ActForward},
		"press count=3 key=ArrowDown": {Kind: computeruse.ActKeys, Keys: []string{"Down"}, Repeat: 3},
		"press delayMs=5000 key=w":    {Kind: computeruse.ActKeys, Keys: []string{"w"}, For: 3600e9},
		"keyDown key=Control; keyDown key=a; keyUp key=a; keyUp key=Control": {Kind: computeruse.ActKeyDown, Keys: []string{"ctrl+a"}},
		"keyUp key=Shift": {Kind: computeruse.ActKeyUp, Keys: []string{"SHIFT"}},
		"insertText clear=true text=x; press key=Enter": {Kind: computeruse.ActType, Text: "x", Clear: true, Enter: true},
		"press key=Enter": {Kind: computeruse.ActType, Enter: true},
		"wheel deltaX=0 deltaY=-20000 modifiers=[Meta] x=160 y=90": {Kind: computeruse.ActScroll, Scroll: image.Pt(0, -1<<30), Held: []string{"win"}},
		"clickCoords button=left clickCount=1 x=3.04 y=1.71":       {Kind: computeruse.ActClick, At: at, Grid: image.Pt(1000, 1000)},
		"dragCoords button=left path=[3.04,1.71 319.5,179.5]":      {Kind: computeruse.ActDrag, Path: []image.Point{*at, {X: 999, Y: 999}}, Grid: image.Pt(1000, 1000)},
		"type ref=e3 text=v":                        {Kind: computeruse.ActFill, Ref: "e3", Text: "v"},
		"scrollIntoView ref=e3":                     {Kind: computeruse.ActReveal, Ref: "e3"},
		"click button=left doubleClick=true ref=e3": {Kind: computeruse.ActClick, Ref: "e3", Clicks: 2},
		"hover ref=e3":                              {Kind: computeruse.ActMove, Ref: "e3"},
		"navigate url=http://localhost:80/":         {Kind: computeruse.ActNavigate, URL: "localhost:80/"},
	} {
		b := newBench(t, do(a), say("done"))
		b.answer(t)
		if got := b.acts(); got != want {
			t.Errorf("%+v: the screen got  %s\nwant %s", a, got, want)
		}
	}
}
