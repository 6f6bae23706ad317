package controltest

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg" // for decoding
	_ "image/png"  // for decoding
	"math"
)

// pictureCases returns the cases about screenshots, PDF and the screencast.
func pictureCases() []testCase {
	return append(requestCases([]requestCase{
		{
			Name: "a full page of an element", Path: "/screenshot", Page: "/form", Body: m{"fullPage": true, "element": "#save"},
			Status: 400, Contains: []string{"fullPage is not supported for element screenshots"},
		},
		{
			Name: "an element that is not there", Path: "/screenshot", Page: "/form",
			Body: m{"element": "#nosuch", "timeoutMs": 1000}, Status: 500,
		},
		{Name: "an odd type is png", Path: "/screenshot", Page: "/form", Body: m{"type": "bmp"}, Contains: []string{".png"}},
		{
			Name: "highlight without a ref", Path: "/highlight", Page: "/form", Body: m{}, Status: 400,
			Contains: []string{"ref is required"},
		},
		{
			Name: "highlight of an unknown ref", Path: "/highlight", Page: "/form", Body: m{"ref": "e99"}, Status: 500,
			Reason: "unknown_ref", Contains: []string{"Unknown ref"},
		},
	}),
		testCase{Name: "the full page", Run: fullPicture},
		testCase{Name: "an element", Run: elementPicture},
		testCase{Name: "labels", Run: labelledPicture},
		testCase{Name: "labels with a snapshot", Run: labelledSnapshot},
		testCase{Name: "paper", Run: pdfCase},
		testCase{Name: "highlight", Run: highlightCase},
	)
}

type annotation struct {
	Ref, Role, Name string
	Number          int
	Box             struct{ X, Y, Width, Height float64 }
}

type screenshotAnswer struct {
	Path, ImagePath, TargetID, URL string
	Labels                         bool
	LabelsCount, LabelsSkipped     int
	Annotations                    []annotation
}

func takeScreenshot(s *suite, page string, body m) (screenshotAnswer, image.Image) {
	var got screenshotAnswer
	if page != "" {
		s.openPage(page)
	}
	s.call("POST", "/screenshot", body, &got)
	return got, decodePicture(s, got.Path)
}

func decodePicture(s *suite, path string) image.Image {
	s.Helper()
	data := s.read(path)
	if len(data) > 5<<20 {
		s.Fatalf("%s has %d bytes", path, len(data))
	}
	img, _, err := image.Decode(bytes.NewReader(data))
	s.check(err)
	return img
}

func pixelIs(img image.Image, x, y int, want color.RGBA) error {
	r, g, b, _ := img.At(x, y).RGBA()
	got := color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 255}
	near := func(a, b uint8) bool { return math.Abs(float64(a)-float64(b)) <= 12 }
	if !near(got.R, want.R) || !near(got.G, want.G) || !near(got.B, want.B) {
		return fmt.Errorf("pixel %d,%d is %v, want %v", x, y, got, want)
	}
	return nil
}

var bluePixel = color.RGBA{0, 0, 255, 255}

func fullPicture(s *suite) {
	_, img := takeScreenshot(s, "/colours", m{"fullPage": "true"})
	if h := img.Bounds().Dy(); h != 1500 {
		s.Fatalf("height = %d, want 1500", h)
	}
	s.check(pixelIs(img, 50, 1450, bluePixel))
}

func elementPicture(s *suite) {
	_, img := takeScreenshot(s, "/colours", m{"element": "#end", "type": "jpeg"})
	s.wantEqual("size", []int{img.Bounds().Dx(), img.Bounds().Dy()}, []int{100, 100})
	s.check(pixelIs(img, 50, 50, bluePixel))
}

func labelledPicture(s *suite) {
	for _, full := range []bool{false, true} {
		got, img := takeScreenshot(s, "/form", m{"labels": true, "fullPage": full})
		if !got.Labels || got.LabelsCount == 0 {
			s.Fatalf("labels: %+v", got)
		}
		boxFits(s, got.Annotations, img, full)
	}
	s.wantPage("document.querySelectorAll('[data-openclaw-labels]').length", 0)
}

// boxFits compares the annotation of the button with its position in the page.
func boxFits(s *suite, all []annotation, img image.Image, full bool) {
	var box struct{ X, Y, Width, Height, Tall float64 }
	s.evaluate("const r = document.getElementById('save').getBoundingClientRect(); return {x: r.x, y: r.y, width: "+
		"r.width, height: r.height, tall: document.documentElement.scrollHeight}", &box)
	scale := 1.0
	if full {
		scale = float64(img.Bounds().Dy()) / box.Tall
	}
	for _, a := range all {
		if a.Name != "Save" {
			continue
		}
		for _, pair := range [][2]float64{
			{a.Box.X, box.X},
			{a.Box.Y, box.Y},
			{a.Box.Width, box.Width},
			{a.Box.Height, box.Height},
		} {
			if math.Abs(pair[0]-pair[1]*scale) > 1 {
				s.Fatalf("box %+v, want %+v × %.3f", a.Box, box, scale)
			}
		}
		return
	}
	s.Fatalf("the button has no annotation: %+v", all)
}

func labelledSnapshot(s *suite) {
	s.openPage("/form")
	var got struct {
		screenshotAnswer

		Snapshot, ImageType string
		Refs                map[string]snapshotRef
	}
	s.call("GET", "/snapshot?labels=true", nil, &got)
	if got.ImagePath == "" || got.ImageType == "" || got.LabelsCount == 0 || len(got.Refs) == 0 {
		s.Fatalf("answer %+v", got)
	}
	decodePicture(s, got.ImagePath)
}

func pdfCase(s *suite) {
	s.openPage("/form")
	var got struct{ Path, TargetID, URL string }
	s.call("POST", "/pdf", m{}, &got)
	data := s.read(got.Path)
	if !bytes.HasPrefix(data, []byte("%PDF-")) || got.TargetID == "" || got.URL == "" {
		s.Fatalf("answer %+v, %d bytes", got, len(data))
	}
}

func highlightCase(s *suite) {
	id := s.refOn("/form", "button", "Save")
	s.call("POST", "/highlight", m{"ref": id}, nil)
}
