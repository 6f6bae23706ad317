package controltest

import (
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/coder/websocket"
)

// labelMarkCases returns cases that check pictures pixel by pixel: at a density of one and of three, of the
// view, the whole page and an element, with and without labels, made smaller, pinched; and that a picture leaves
// nothing behind.
func labelMarkCases() []testCase {
	var out []testCase
	for _, dense := range []bool{false, true} {
		for _, p := range []markedPicture{
			{"the view", m{}, 0, "green"},
			{"the view as JPEG", m{"type": "jpeg"}, 0, "green"},
			{"the view with labels", m{"labels": true}, 0, "green"},
			{"the whole page", m{"fullPage": true}, 0, "violet"},
			{"the whole page with labels", m{"fullPage": true, "labels": true}, 0, "violet"},
			{"a scrolled view", m{}, 300, ""},
			{"a scrolled view with labels", m{"labels": true}, 300, ""},
			{"the whole page, scrolled, with labels", m{"fullPage": true, "labels": true}, 300, "violet"},
			{"an element", m{"element": "#violet"}, 0, ""},
			{"an element as JPEG, scrolled", m{"element": "#green", "type": "jpeg"}, 300, ""},
		} {
			name := p.name
			if dense {
				name += " at three pixels to one"
			}
			out = append(out, testCase{Name: name, Run: func(s *suite) { inTab(s, dense, p.look) }})
		}
	}
	return append(out,
		testCase{Name: "an element by its ref, with its label", Run: labelledElement},
		testCase{Name: "labels inside frames", Run: func(s *suite) { inTab(s, false, labelledFrames) }},
		testCase{Name: "a pinched page with labels", Run: pinchZoomed},
		testCase{Name: "no more than 150 labels", Run: manyLabels},
		testCase{Name: "too many bytes", Run: noisyPicture},
		testCase{Name: "too long a side", Run: longPicture},
		testCase{Name: "a picture that fits stays as it is", Run: fittingPicture},
		testCase{Name: "an error leaves no labels behind", Run: labelsAfterError},
	)
}

type markedPicture struct {
	name   string
	body   m
	scroll int
	shows  string // a mark that lies in it, looked at by its colour; besides those of annotations
}

// inTab does it in a tab that these checks share, one of a phone or one of a desk, freshly loaded.
func inTab(s *suite, phone bool, work func(*suite)) {
	label := map[bool]string{true: "phone", false: "desk"}[phone]
	a := s.request("POST", "/tabs/focus", m{"targetId": label})
	if a.Status != http.StatusOK {
		s.newTab("/plain", label)
		if phone {
			s.call("POST", "/set/device", m{"name": "iPhone 14"}, nil)
		}
	}
	if !phone {
		s.act(m{"kind": "resize", "width": 800, "height": 600})
	}
	s.openPage("/marks")
	work(s)
}

const geometryScript = `[innerWidth, innerHeight, outerWidth, outerHeight, devicePixelRatio, scrollX, scrollY, screen.width, screen.height, navigator.maxTouchPoints,
	visualViewport.scale, document.documentElement.clientWidth, document.documentElement.scrollHeight, document.querySelectorAll('*').length].join()`

// viewportState is where the page has its marks, in CSS pixels of the document.
type viewportState struct {
	Width, Height, Tall, DPR, X, Y float64
	Marks                          map[string]struct{ X, Y, Width, Height float64 }
	Geometry                       string
}

func readViewport(s *suite) viewportState {
	var sc viewportState
	s.evaluate(`({width: innerWidth, height: innerHeight, tall: document.documentElement.scrollHeight, dpr: devicePixelRatio, x: scrollX, y: scrollY,
		geometry: `+geometryScript+`, marks: Object.fromEntries([...document.querySelectorAll('button')].map(b => { const r = b.getBoundingClientRect();
		return [b.id, {x: r.x + scrollX, y: r.y + scrollY, width: r.width, height: r.height}] }))})`, &sc)
	return sc
}

var markColours = map[string]color.RGBA{"green": {0, 128, 0, 255}, "violet": {238, 130, 238, 255}}

// look takes the picture and compares it with the page.
func (p markedPicture) look(s *suite) {
	s.run(fmt.Sprintf("scrollTo(0, %d); 1", p.scroll))
	before := readViewport(s)
	got, img := takeScreenshot(s, "", p.body)
	after := readViewport(s)
	s.wantEqual("geometry", after.Geometry, before.Geometry)
	s.check(p.judge(got, img, before))
}

func (p markedPicture) judge(got screenshotAnswer, img image.Image, sc viewportState) error {
	size, origin := [2]float64{sc.Width, sc.Height}, [2]float64{sc.X, sc.Y}
	id, _ := p.body["element"].(string)
	switch {
	case id != "":
		m := sc.Marks[id[1:]]
		size, origin = [2]float64{m.Width, m.Height}, [2]float64{m.X, m.Y}
	case p.body["fullPage"] == true:
		size, origin = [2]float64{sc.Width, sc.Tall}, [2]float64{}
	}
	scale := sc.DPR
	if longest := max(size[0], size[1]) * scale; longest > 2000 {
		scale *= 2000 / longest
	}
	b := img.Bounds()
	if math.Abs(float64(b.Dx())-size[0]*scale) > 1 || math.Abs(float64(b.Dy())-size[1]*scale) > 1 {
		return fmt.Errorf("size %v, want %v × %.3f", b, size, scale)
	}
	if id != "" {
		return pixelIs(img, b.Dx()/2, b.Dy()/2, markColours[id[1:]])
	}
	if m, ok := sc.Marks[p.shows]; ok {
		// Not in its middle and not at its edge, where labels are drawn.
		if err := pixelIs(img, int((m.X-origin[0]+m.Width*0.8)*scale), int((m.Y-origin[1]+m.Height*0.6)*scale), markColours[p.shows]); err != nil {
			return err
		}
	}
	if p.body["labels"] != true {
		return nil
	}
	if !got.Labels || got.LabelsCount+got.LabelsSkipped != len(sc.Marks) || len(got.Annotations) != len(sc.Marks) {
		return fmt.Errorf("%d labels drawn, %d skipped, %d annotations of %d marks", got.LabelsCount, got.LabelsSkipped, len(got.Annotations), len(sc.Marks))
	}
	for _, a := range got.Annotations {
		m := sc.Marks[a.Name]
		if err := a.at((m.X-origin[0])*scale, (m.Y-origin[1])*scale, m.Width*scale, m.Height*scale); err != nil {
			return err
		}
	}
	return nil
}

func (a annotation) at(x, y, width, height float64) error {
	for _, pair := range [][2]float64{{a.Box.X, x}, {a.Box.Y, y}, {a.Box.Width, width}, {a.Box.Height, height}} {
		if math.Abs(pair[0]-pair[1]) > 1.01 {
			return fmt.Errorf("%s %q is at %+v, want %.1f,%.1f %.1f×%.1f", a.Ref, a.Name, a.Box, x, y, width, height)
		}
	}
	if strconv.Itoa(a.Number) != strings.TrimLeft(a.Ref, "efax") || a.Role == "" {
		return fmt.Errorf("annotation %+v", a)
	}
	return nil
}

func labelledElement(s *suite) {
	inTab(s, true, func(s *suite) {
		snap := s.snapshot("interactive=true")
		id := s.ref(snap, "button", "violet")
		got, img := takeScreenshot(s, "", m{"ref": id, "labels": true})
		if len(got.Annotations) != 1 || got.LabelsCount != 1 || got.LabelsSkipped != 0 || got.Annotations[0].Ref != id {
			s.Fatalf("answer %+v", got)
		}
		s.check(got.Annotations[0].at(0, 0, float64(img.Bounds().Dx()), float64(img.Bounds().Dy())))
	})
}

func labelledFrames(s *suite) {
	s.openScope()
	got, _ := takeScreenshot(s, "", m{"labels": true})
	seen := 0
	for _, a := range got.Annotations {
		frame, ok := map[string]string{"Go same": "same", "Go other": "other", "Go near": "near"}[a.Name]
		if !ok || a.Role != "button" {
			continue
		}
		seen++
		var at struct{ X, Y float64 }
		// The body's margin, a line of text and its margins lie above the button in the frame.
		s.evaluate(fmt.Sprintf("const r = document.getElementById(%q).getBoundingClientRect(); return {x: r.x + 2, y: r.y + 2}", frame), &at)
		if math.Abs(a.Box.X-at.X-8) > 1 || a.Box.Y <= at.Y || a.Box.Y > at.Y+120 || a.Box.Width < 20 {
			s.Fatalf("%q is at %+v in a frame at %+v", a.Name, a.Box, at)
		}
	}
	s.wantEqual("buttons in frames", seen, 3)
}

// pinchZoomed has another client pinch the page, which no request can.
func pinchZoomed(s *suite) {
	inTab(s, true, func(s *suite) {
		snap := s.snapshot("")
		var status struct{ CDPPort int }
		s.call("GET", "/", nil, &status)
		ctx := s.ctx()
		conn, res, err := websocket.Dial(ctx, fmt.Sprintf("ws://127.0.0.1:%d/devtools/page/%s", status.CDPPort, snap.TargetID), nil)
		s.check(err)
		if res.Body != nil {
			defer res.Body.Close()
		}
		defer func() { _ = conn.CloseNow() }()
		order, _ := json.Marshal(m{"id": 1, "method": "Emulation.setPageScaleFactor", "params": m{"pageScaleFactor": 2}})
		s.check(conn.Write(ctx, websocket.MessageText, order))
		_, _, err = conn.Read(ctx)
		s.check(err)
		s.act(m{"kind": "wait", "fn": "visualViewport.scale > 1.9", "timeoutMs": 3000})
		before := readViewport(s)
		got, img := takeScreenshot(s, "", m{"labels": true})
		after := readViewport(s)
		s.wantEqual("geometry", after.Geometry, before.Geometry)
		var left, top, scale float64
		var view []float64
		s.evaluate("[visualViewport.pageLeft, visualViewport.pageTop, visualViewport.scale, visualViewport.width]", &view)
		left, top, scale = view[0], view[1], float64(img.Bounds().Dx())/view[3]
		for _, a := range got.Annotations {
			m := before.Marks[a.Name]
			s.check(a.at((m.X-left)*scale, (m.Y-top)*scale, m.Width*scale, m.Height*scale))
		}
		m := before.Marks["green"]
		s.check(pixelIs(img, int((m.X-left+m.Width*0.8)*scale), int((m.Y-top+m.Height*0.6)*scale), markColours["green"]))
	})
}
