package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg" // for decoding
	_ "image/png"  // for decoding
	"math"
	"net/http"
	"os"
	"strings"

	"github.com/coder/websocket"
)

// pictureCases are screenshots, PDF and the live picture.
func pictureCases() []testCase {
	type m = map[string]any
	return append(requestCases([]requestCase{
		{Name: "a full page of an element", Path: "/screenshot", Page: "/form", Body: m{"fullPage": true, "element": "#save"}, Status: 400, Contains: []string{"fullPage is not supported for element screenshots"}},
		{Name: "an element that is not there", Path: "/screenshot", Page: "/form", Body: m{"element": "#nosuch", "timeoutMs": 1000}, Status: 500},
		{Name: "a malformed time limit", Path: "/screenshot", Page: "/form", Body: m{"timeoutMs": "x"}, Status: 400, Contains: []string{"must be a positive integer."}},
		{Name: "an odd type is png", Path: "/screenshot", Page: "/form", Body: m{"type": "bmp"}, Contains: []string{".png"}},
		{Name: "highlight without a ref", Path: "/highlight", Page: "/form", Body: m{}, Status: 400, Contains: []string{"ref is required"}},
		{Name: "highlight of an unknown ref", Path: "/highlight", Page: "/form", Body: m{"ref": "e99"}, Status: 500, Contains: []string{"Unknown ref"}},
	}),
		testCase{Name: "the view", Run: viewPicture},
		testCase{Name: "the full page", Run: fullPicture},
		testCase{Name: "a page too large", Run: largePicture},
		testCase{Name: "an element", Run: elementPicture},
		testCase{Name: "labels", Run: labelledPicture},
		testCase{Name: "labels with a snapshot", Run: labelledSnapshot},
		testCase{Name: "device pixels", Run: devicePixels},
		testCase{Name: "geometry is as before", Run: geometryKept},
		testCase{Name: "paper", Run: pdfCase},
		testCase{Name: "highlight", Run: highlightCase},
		testCase{Name: "the live picture", Run: screencastCase},
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

func takeScreenshot(ctx context.Context, s *controlSuite, page string, body map[string]any) (screenshotAnswer, image.Image, error) {
	var got screenshotAnswer
	if page != "" {
		if err := s.openPage(ctx, page); err != nil {
			return got, nil, err
		}
	}
	if err := s.Call(ctx, "POST", "/screenshot", body, &got); err != nil {
		return got, nil, err
	}
	img, err := decodePicture(got.Path)
	return got, img, err
}

func decodePicture(path string) (image.Image, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(data) > 5<<20 {
		return nil, fmt.Errorf("%s has %d bytes", path, len(data))
	}
	img, _, err := image.Decode(bytes.NewReader(data))
	return img, err
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

var (
	redPixel  = color.RGBA{255, 0, 0, 255}
	bluePixel = color.RGBA{0, 0, 255, 255}
)

func viewPicture(ctx context.Context, s *controlSuite) error {
	_, img, err := takeScreenshot(ctx, s, "/colours", map[string]any{})
	if err != nil {
		return err
	}
	var view []int
	if err := s.Evaluate(ctx, "[innerWidth, innerHeight]", &view); err != nil {
		return err
	}
	if err := wantEqualJSON("size", []int{img.Bounds().Dx(), img.Bounds().Dy()}, view); err != nil {
		return err
	}
	return pixelIs(img, 50, 50, redPixel)
}

func fullPicture(ctx context.Context, s *controlSuite) error {
	_, img, err := takeScreenshot(ctx, s, "/colours", map[string]any{"fullPage": "true"})
	if err != nil {
		return err
	}
	if h := img.Bounds().Dy(); h != 1500 {
		return fmt.Errorf("height = %d, want 1500", h)
	}
	return pixelIs(img, 50, 1450, bluePixel)
}

func largePicture(ctx context.Context, s *controlSuite) error {
	_, img, err := takeScreenshot(ctx, s, "/form", map[string]any{"fullPage": true})
	if err != nil {
		return err
	}
	if b := img.Bounds(); max(b.Dx(), b.Dy()) > 2000 {
		return fmt.Errorf("size %v", b)
	}
	return nil
}

func elementPicture(ctx context.Context, s *controlSuite) error {
	_, img, err := takeScreenshot(ctx, s, "/colours", map[string]any{"element": "#end", "type": "jpeg"})
	if err != nil {
		return err
	}
	if err := wantEqualJSON("size", []int{img.Bounds().Dx(), img.Bounds().Dy()}, []int{100, 100}); err != nil {
		return err
	}
	return pixelIs(img, 50, 50, bluePixel)
}

func labelledPicture(ctx context.Context, s *controlSuite) error {
	for _, full := range []bool{false, true} {
		got, img, err := takeScreenshot(ctx, s, "/form", map[string]any{"labels": true, "fullPage": full})
		if err != nil {
			return err
		}
		if !got.Labels || got.LabelsCount == 0 {
			return fmt.Errorf("labels: %+v", got)
		}
		if err := boxFits(ctx, s, got.Annotations, img, full); err != nil {
			return err
		}
	}
	var left int
	if err := s.Evaluate(ctx, "document.querySelectorAll('[data-openclaw-labels]').length", &left); err != nil {
		return err
	}
	return wantEqualJSON("overlays left", left, 0)
}

// boxFits compares the annotation of the button with where the page has it.
func boxFits(ctx context.Context, s *controlSuite, all []annotation, img image.Image, full bool) error {
	var box struct{ X, Y, Width, Height, Tall float64 }
	if err := s.Evaluate(ctx, "const r = document.getElementById('save').getBoundingClientRect(); return {x: r.x, y: r.y, width: r.width, height: r.height, tall: document.documentElement.scrollHeight}", &box); err != nil {
		return err
	}
	scale := 1.0
	if full {
		scale = float64(img.Bounds().Dy()) / box.Tall
	}
	for _, a := range all {
		if a.Name != "Save" {
			continue
		}
		for _, pair := range [][2]float64{{a.Box.X, box.X}, {a.Box.Y, box.Y}, {a.Box.Width, box.Width}, {a.Box.Height, box.Height}} {
			if math.Abs(pair[0]-pair[1]*scale) > 1 {
				return fmt.Errorf("box %+v, want %+v × %.3f", a.Box, box, scale)
			}
		}
		return nil
	}
	return fmt.Errorf("the button has no annotation: %+v", all)
}

func labelledSnapshot(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/form"); err != nil {
		return err
	}
	var got struct {
		screenshotAnswer

		Snapshot, ImageType string
		Refs                map[string]snapshotRef
	}
	if err := s.Call(ctx, "GET", "/snapshot?labels=true", nil, &got); err != nil {
		return err
	}
	if got.ImagePath == "" || got.ImageType == "" || got.LabelsCount == 0 || len(got.Refs) == 0 {
		return fmt.Errorf("answer %+v", got)
	}
	_, err := decodePicture(got.ImagePath)
	return err
}

func devicePixels(ctx context.Context, s *controlSuite) error {
	t, err := s.NewTab(ctx, "/colours", "")
	if err != nil {
		return err
	}
	if err := s.Call(ctx, "POST", "/set/device", map[string]any{"name": "iPhone 14"}, nil); err != nil {
		return err
	}
	_, img, err := takeScreenshot(ctx, s, "/colours", map[string]any{})
	if err != nil {
		return err
	}
	if w := img.Bounds().Dx(); w != 1170 {
		return fmt.Errorf("width = %d, want 1170", w)
	}
	return s.CloseTab(ctx, t.TargetID)
}

func geometryKept(ctx context.Context, s *controlSuite) error {
	const look = "[innerWidth, innerHeight, devicePixelRatio, scrollX, scrollY, screen.width, navigator.maxTouchPoints].join()"
	if err := s.openPage(ctx, "/form"); err != nil {
		return err
	}
	if _, err := s.Act(ctx, map[string]any{"kind": "evaluate", "fn": "scrollTo(0, 700); 1"}); err != nil {
		return err
	}
	var before, after string
	if err := s.Evaluate(ctx, look, &before); err != nil {
		return err
	}
	for _, body := range []map[string]any{{}, {"fullPage": true}, {"labels": true}} {
		if _, _, err := takeScreenshot(ctx, s, "", body); err != nil {
			return err
		}
		if err := s.Evaluate(ctx, look, &after); err != nil {
			return err
		}
		if err := wantEqualJSON(fmt.Sprint("geometry after ", body), after, before); err != nil {
			return err
		}
	}
	return nil
}

func pdfCase(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/form"); err != nil {
		return err
	}
	var got struct{ Path, TargetID, URL string }
	if err := s.Call(ctx, "POST", "/pdf", map[string]any{}, &got); err != nil {
		return err
	}
	data, err := os.ReadFile(got.Path)
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(data, []byte("%PDF-")) || got.TargetID == "" || got.URL == "" {
		return fmt.Errorf("answer %+v, %d bytes", got, len(data))
	}
	return nil
}

func highlightCase(ctx context.Context, s *controlSuite) error {
	snap, err := s.SnapshotOf(ctx, "/form", "")
	if err != nil {
		return err
	}
	id, err := snap.Ref("button", "Save")
	if err != nil {
		return err
	}
	return s.Call(ctx, "POST", "/highlight", map[string]any{"ref": id}, nil)
}

// screencastCase watches the page over a WebSocket until a picture has come.
func screencastCase(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/colours"); err != nil {
		return err
	}
	conn, res, err := websocket.Dial(ctx, strings.Replace(s.URL, "http", "ws", 1)+"/screencast", &websocket.DialOptions{
		HTTPHeader: http.Header{"Authorization": {"Bearer " + s.Token}},
	})
	if err != nil {
		return err
	}
	if res.Body != nil {
		defer res.Body.Close()
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(16 << 20)
	for {
		kind, data, err := conn.Read(ctx)
		if err != nil {
			return err
		}
		if kind == websocket.MessageText {
			var note map[string]any
			if err := json.Unmarshal(data, &note); err != nil {
				return err
			}
			continue
		}
		img, _, err := image.Decode(bytes.NewReader(data))
		if err != nil {
			return fmt.Errorf("a frame of %d bytes: %w", len(data), err)
		}
		if err := pixelIs(img, 20, 20, redPixel); err != nil {
			return err
		}
		return conn.Close(websocket.StatusNormalClosure, "")
	}
}
