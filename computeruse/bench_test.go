package computeruse_test

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/color"
	"image/jpeg"
	"testing"

	"clank/computeruse"
	"clank/internal/test/computerusetest"
	"clank/llm"
	"clank/sessions"
)

// busy returns a picture as full as that of a page.
func busy(b *testing.B, size image.Point, seed uint8) []byte {
	b.Helper()
	img := image.NewRGBA(image.Rectangle{Max: size})
	for y := range size.Y {
		for x := range size.X {
			v := uint8(x/7*y/5) + seed
			img.SetRGBA(x, y, color.RGBA{v, v / 2, 255 - v, 255})
		}
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, img, &jpeg.Options{Quality: 80}); err != nil {
		b.Fatal(err)
	}
	return out.Bytes()
}

// still is a screen that shows two pictures in turn and names what is clicked.
type still struct {
	computerusetest.Screen

	size     image.Point
	pictures [2][]byte
	shots    int
}

func (s *still) Act(context.Context, string, map[string]any) ([]string, error) { return nil, nil }

func (s *still) Screenshot(context.Context) (sessions.Screenshot, error) {
	s.shots++
	return sessions.Screenshot{
		Image: llm.Image{MediaType: "image/jpeg", Data: s.pictures[s.shots%2]}, Width: float64(s.size.X), Height: float64(s.size.Y),
	}, nil
}

func (s *still) ElementAt(context.Context, float64, float64) (role, name string, err error) {
	return "button", "Next", nil
}

func (s *still) InputField(context.Context, string) (role, name string, secret bool, err error) {
	return "textbox", "Search", false, nil
}

type stillBrowser struct{ screen *still }

func (b stillBrowser) Open(context.Context, sessions.PageRequest) (sessions.Page, bool, error) {
	return b.screen, false, nil
}

func (stillBrowser) Close(context.Context, string) error { return nil }

// BenchmarkBatch measures the loop's time for a batch of a click and a text, with a model that answers at once
// and a screen that takes no time: with an image sent as it is, one that is scaled down, and one that did not
// change.
func BenchmarkBatch(b *testing.B) {
	for _, bc := range []struct {
		name   string
		pixels image.Point
		change bool
	}{
		{"as it is", image.Pt(1280, 800), true},
		{"scaled", image.Pt(2560, 1600), true},
		{"unchanged", image.Pt(2560, 1600), false},
	} {
		b.Run(bc.name, func(b *testing.B) {
			screen := &still{size: image.Pt(1280, 800), pictures: [2][]byte{busy(b, bc.pixels, 1), busy(b, bc.pixels, 2)}}
			if !bc.change {
				screen.pictures[1] = screen.pictures[0]
			}
			mind := &instant{next: func(n int) computeruse.Turn {
				if !b.Loop() {
					return say("done")
				}
				return do(click(n%1000, n/1000), computeruse.Action{Kind: computeruse.ActType, Text: "lamp"})
			}}
			agent := &computeruse.Agent{Browser: stillBrowser{screen}, Model: func(context.Context, string) (computeruse.Model, error) { return mind, nil }}
			task := sessions.Task{ID: "t1", Prompt: "go", MaxSteps: 1 << 30}
			b.ReportAllocs()
			for step, err := range agent.Run(b.Context(), sessions.Session{ID: "s1"}, task) {
				if err != nil || step.Failed {
					b.Fatal(err, step.Text)
				}
			}
		})
	}
}

// instant is a mind that answers at once and remembers nothing.
type instant struct {
	next func(n int) computeruse.Turn
	n    int
}

func (m *instant) Name() string { return "test:instant" }

func (m *instant) Fit(screen image.Point) image.Point {
	if screen.X > 1280 {
		return image.Pt(1280, screen.Y*1280/screen.X)
	}
	return screen
}

func (m *instant) Begin(computeruse.ConversationOptions) (computeruse.Conversation, error) {
	return m, nil
}

func (m *instant) Memory() (json.RawMessage, error) { return json.RawMessage(`{}`), nil }

func (m *instant) Next(context.Context, computeruse.Input) (computeruse.Turn, error) {
	m.n++
	return m.next(m.n), nil
}
