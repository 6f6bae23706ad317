package computeruse_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	_ "image/jpeg"
	"image/png"
	_ "image/png"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"clank/computeruse"
	"clank/internal/test/check"
	"clank/internal/test/computerusetest"
	"clank/sessions"

	"github.com/google/go-cmp/cmp"
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
				b.model.Size = image.Pt(most, most)
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
		Kind: computeruse.ActDrag, Path: []image.Point{{X: -1, Y: -1}, {X: 10, Y: 10}, {X: 1 << 30, Y: 5}},
		Held: []string{"shift"},
	}), say("done"))
	b.answer(t)
	want := "clickCoords button=left clickCount=1 x=0 y=179.5; dragCoords button=left modifiers=[Shift] path=[0,0 " +
		"10.5,10.5 319.5,5.5]"
	check.Equal(t, "b.acts()", b.acts(), want)
}

func TestThePictureHasTheSizeThatTheModelWants(t *testing.T) {
	b := newBench(t, do(computeruse.Action{Kind: computeruse.ActZoom, Region: image.Rect(20, 20, 40, 30)}), say("done"))
	b.model.Size = image.Pt(160, 160)
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
	check.Equal(t, "the part", decoded(t, zoomed.Data), image.Pt(160, 80))
}

func decoded(t *testing.T, data []byte) image.Point {
	t.Helper()
	c, _, err := image.DecodeConfig(bytes.NewReader(data))
	check.Must(t, err)
	return image.Pt(c.Width, c.Height)
}

func TestTheMouseIsWhereItWasLeft(t *testing.T) {
	here := computeruse.Action{Kind: computeruse.ActClick, Button: computeruse.ButtonRight, Clicks: 2}
	b := newBench(t, do(here), do(click(10, 20), here, computeruse.Action{Kind: computeruse.ActCursor}), say("done"))
	b.answer(t)
	want := "clickCoords button=right clickCount=2 x=160 y=90; clickCoords button=left clickCount=1 x=10.5 y=20.5; " +
		"clickCoords button=right clickCount=2 x=10.5 y=20.5"
	check.Equal(t, "b.acts()", b.acts(), want)
	check.Equal(t, "the model was told", b.told(t, 2).Outcomes[0].Text, "The mouse is at x=10, y=20.")
}

func TestPeopleReadPointsOnAGridAsPixels(t *testing.T) {
	b := newBench(t, do(computeruse.Action{
		Kind: computeruse.ActClick, At: &image.Point{X: 500, Y: 500},
		Grid: image.Pt(1000, 1000),
	}), say("done"))
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
		"pointerUp button=middle x=9.5 y=9.5": {
			Kind: computeruse.ActUp, At: at,
			Button: computeruse.ButtonMiddle,
		},
		"pointerMove modifiers=[Control] x=9.5 y=9.5": {
			Kind: computeruse.ActMove, At: at,
			Held: []string{"CTRL"},
		},
		"back":                        {Kind: computeruse.ActClick, At: at, Button: computeruse.ButtonBack},
		"forward":                     {Kind: computeruse.ActForward},
		"press count=3 key=ArrowDown": {Kind: computeruse.ActKeys, Keys: []string{"Down"}, Repeat: 3},
		"press delayMs=5000 key=w":    {Kind: computeruse.ActKeys, Keys: []string{"w"}, For: 3600e9},
		"keyDown key=Control; keyDown key=a; keyUp key=a; keyUp key=Control": {
			Kind: computeruse.ActKeyDown,
			Keys: []string{"ctrl+a"},
		},
		"keyUp key=Shift": {Kind: computeruse.ActKeyUp, Keys: []string{"SHIFT"}},
		"insertText clear=true text=x; press key=Enter": {Kind: computeruse.ActType, Text: "x", Clear: true, Enter: true},
		"press key=Enter": {Kind: computeruse.ActType, Enter: true},
		"wheel deltaX=0 deltaY=-20000 modifiers=[Meta] x=160 y=90": {
			Kind: computeruse.ActScroll, Scroll: image.Pt(0, -1<<30),
			Held: []string{"win"},
		},
		"clickCoords button=left clickCount=1 x=3.04 y=1.71": {
			Kind: computeruse.ActClick, At: at,
			Grid: image.Pt(1000, 1000),
		},
		"dragCoords button=left path=[3.04,1.71 319.5,179.5]": {
			Kind: computeruse.ActDrag,
			Path: []image.Point{*at, {X: 999, Y: 999}}, Grid: image.Pt(1000, 1000),
		},
		"type ref=e3 text=v":                        {Kind: computeruse.ActFill, Ref: "e3", Text: "v"},
		"scrollIntoView ref=e3":                     {Kind: computeruse.ActReveal, Ref: "e3"},
		"click button=left doubleClick=true ref=e3": {Kind: computeruse.ActClick, Ref: "e3", Clicks: 2},
		"hover ref=e3":                              {Kind: computeruse.ActMove, Ref: "e3"},
		"scroll direction=up pixels=300 ref=e3":     {Kind: computeruse.ActScroll, Ref: "e3", Scroll: image.Pt(0, -300)},
		"navigate url=http://localhost:80/":         {Kind: computeruse.ActNavigate, URL: "localhost:80/"},
	} {
		b := newBench(t, do(a), say("done"))
		b.answer(t)
		check.Equal(t, fmt.Sprintf("%+v: the screen", a), b.acts(), want)
	}
}

// drawn returns a PNG; noise makes it hard to compress.
func drawn(t *testing.T, size image.Point, noise bool) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rectangle{Max: size})
	seed := uint32(1)
	for x := range size.X {
		for y := range size.Y {
			if noise {
				seed = seed*1664525 + 1013904223
			}
			img.Set(x, y, color.RGBA{byte(seed >> 24), byte(seed >> 16), byte(seed >> 8), 255})
		}
	}
	var b bytes.Buffer
	check.Must(t, png.Encode(&b, img))
	return b.Bytes()
}

func half(p image.Point) image.Point { return p.Div(2) }
func same(p image.Point) image.Point { return p }

func TestAPictureThatFitsIsPassedOn(t *testing.T) {
	data := drawn(t, image.Pt(20, 10), false)
	img, size, err := computeruse.FitImage(data, same)
	if err != nil || img.MediaType != "image/png" || !bytes.Equal(img.Data, data) || size != image.Pt(20, 10) {
		t.Errorf("got %s of %v, %v; want it as it was", img.MediaType, size, err)
	}
}

func TestTheSmallerFormIsSent(t *testing.T) {
	for noise, want := range map[bool]string{true: "image/jpeg", false: "image/png"} {
		img, size, err := computeruse.FitImage(drawn(t, image.Pt(200, 100), noise), half)
		if err != nil || img.MediaType != want || size != image.Pt(100, 50) {
			t.Errorf("noise %t: got %s of %v, %v; want %s", noise, img.MediaType, size, err, want)
		}
		config, _, err := image.DecodeConfig(bytes.NewReader(img.Data))
		if err != nil || config.Width != 100 || config.Height != 50 {
			t.Errorf("noise %t: it is %d by %d, %v", noise, config.Width, config.Height, err)
		}
	}
}

func TestASizeThatIsNoneIsNotTaken(t *testing.T) {
	_, size, err := computeruse.FitImage(drawn(t, image.Pt(20, 10), false),
		func(image.Point) image.Point { return image.Point{} })
	if err != nil || size != image.Pt(20, 10) {
		t.Errorf("got %v, %v; want the picture's own size", size, err)
	}
}

func TestGarbageIsNoPicture(t *testing.T) {
	whole := drawn(t, image.Pt(20, 10), true)
	for data, want := range map[string]string{
		"": "unknown format", "<html>": "unknown format", string(whole[:len(whole)/2]): "not enough pixel data",
	} {
		_, _, err := computeruse.FitImage([]byte(data), half)
		check.Fails(t, err, nil, want)
	}
}

func TestAPartIsCutFromTheWholePicture(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 200, 100))
	for x := 100; x < 120; x++ {
		for y := 40; y < 50; y++ {
			img.Set(x, y, color.White)
		}
	}
	var b bytes.Buffer
	check.Must(t, png.Encode(&b, img))
	part, err := computeruse.CropImage(b.Bytes(), image.Rect(60, 25, 50, 20), image.Pt(100, 50)) // corners in any order
	check.Must(t, err)
	got, _, err := image.Decode(bytes.NewReader(part.Data))
	if err != nil || got.Bounds().Size() != image.Pt(100, 50) {
		t.Fatalf("got %v, %v; want it as large as fits", got, err)
	}
	if r, _, _, _ := got.At(50, 25).RGBA(); r < 0xf000 {
		t.Errorf("its middle is %x, want white", r)
	}
	for _, region := range map[string]image.Rectangle{"outside": image.Rect(500, 500, 600, 600), "empty": {}} {
		check.Fails(t, check.Err(computeruse.CropImage(b.Bytes(), region, image.Pt(100, 50))), nil, "the region is too small")
	}
}

func TestPixelsAreReadFromPicturesInJPEG(t *testing.T) {
	var b bytes.Buffer
	check.Must(t, jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 30, 20)), nil))
	if img, _, err := computeruse.FitImage(b.Bytes(), same); err != nil || img.MediaType != "image/jpeg" {
		t.Errorf("got %s, %v", img.MediaType, err)
	}
}

func TestPointsAreInsideOfTheViewport(t *testing.T) {
	g := computeruse.ScreenGeometry{Picture: image.Pt(100, 50), Width: 300, Height: 150}
	for in, want := range map[image.Point]computeruse.CSSPoint{
		{}: {X: 1.5, Y: 1.5}, {X: 99, Y: 49}: {X: 298.5, Y: 148.5}, {X: -9, Y: 1 << 40}: {X: 0, Y: 149.5},
	} {
		check.Equal(t, fmt.Sprintf("%v is at", in), g.ToViewport(in), want)
	}
	check.Equal(t, "there and back", g.ToPicture(g.ToViewport(image.Pt(7, 9))), image.Pt(7, 9))
}

func TestChordsOfAllVendorsBecomeThoseOfTheControlAPI(t *testing.T) {
	for _, tc := range []struct {
		names []string
		want  []string
	}{
		{[]string{"CTRL", "A"}, []string{"Control+a"}},
		{[]string{"ctrl+s"}, []string{"Control+s"}},
		{[]string{"Control_L+Shift_L+t"}, []string{"Control+Shift+t"}},
		{[]string{"SHIFT", "T", "ctrl"}, []string{"Control+Shift+T"}},
		{[]string{"Return"}, []string{"Enter"}},
		{[]string{"KP_Enter"}, []string{"Enter"}},
		{[]string{"Page_Up"}, []string{"PageUp"}},
		{[]string{"Page Down"}, []string{"PageDown"}},
		{[]string{"ARROWLEFT"}, []string{"ArrowLeft"}},
		{[]string{"super"}, []string{"Meta"}},
		{[]string{"alt+F4"}, []string{"Alt+F4"}},
		{[]string{"Down Down Return"}, []string{"ArrowDown", "ArrowDown", "Enter"}},
		{[]string{"ctrl++"}, []string{"Control++"}},
		{[]string{"+"}, []string{"+"}},
		{[]string{"ctrl", "plus"}, []string{"Control++"}},
		{[]string{"A"}, []string{"A"}},
		{[]string{"é"}, []string{"é"}},
		{[]string{" "}, []string{"Space"}},
		{[]string{"\n"}, []string{"Enter"}},
		{[]string{"KP_5"}, []string{"5"}},
		{[]string{"ctrl", "Control"}, []string{"Control"}},
	} {
		got, err := computeruse.ParseChords(tc.names)
		if err != nil {
			t.Errorf("%q: %v", tc.names, err)
			continue
		}
		check.Diff(t, fmt.Sprint(tc.names), got, tc.want)
	}
}

func TestKeysThatDoNotExistAreToldPlainly(t *testing.T) {
	for want, names := range map[string][]string{
		"the keys are missing": nil, `unknown key ""`: {"ctrl+"}, `unknown key "": `: {""},
		`unknown key "Hyper_L"`: {"Hyper_L"}, "not both a and b": {"a", "b"}, `unknown key "F13"`: {"F13"},
		`unknown key "Dwon"`: {"Down Dwon"}, `unknown key "\x00"`: {"\x00"}, `unknown key "\xff"`: {"\xff"},
	} {
		check.Fails(t, check.Err(computeruse.ParseChords(names)), nil, want)
	}
	check.Fails(t, check.Err(computeruse.ParseKey("Turbo")), nil, `unknown key "Turbo"`)
}

func TestOnlyModifiersAreHeldBesideTheMouse(t *testing.T) {
	got, err := computeruse.ParseModifiers([]string{"SHIFT", "ctrl+shift", "cmd"})
	if diff := cmp.Diff([]string{"Shift", "Control", "Meta"}, got); diff != "" || err != nil {
		t.Errorf("err = %v, %s", err, diff)
	}
	check.Fails(t, check.Err(computeruse.ParseModifiers([]string{"Tab"})), nil, "Tab cannot be held")
}

func FuzzChords(f *testing.F) {
	for _, s := range []string{"ctrl+s", "Down Down Return", "Page_Up", "ctrl++", "+", "++", "a+b", "KP_Enter", "é", " "} {
		f.Add(s, "A")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, names := range [][]string{{a}, {a, b}} {
			chords, err := computeruse.ParseChords(names)
			if err != nil {
				continue
			}
			if len(chords) == 0 {
				t.Fatalf("%q became nothing", names)
			}
			for _, c := range chords {
				again, err := computeruse.ParseChords([]string{c})
				if err != nil || !slices.Equal(again, []string{c}) {
					t.Errorf("%q became %q, which becomes %q (%v)", names, c, again, err)
				}
			}
		}
	})
}
