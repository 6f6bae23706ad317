package screenshot_test

import (
	"fmt"
	"image"
	"math"
	"strconv"
	"strings"
	"testing"

	"clank/browsermgr/page"
	"clank/browsermgr/page/screenshot"
	"clank/internal/test/browsertest"

	"github.com/go-rod/rod/lib/proto"
)

const labelled = `<style>body{height:600px;background:#fff} button{position:absolute;border:0;padding:0;width:121px;height:45px;background:#0000ff;color:#00f}</style>
	<button style="left:33px;top:51px">One</button><button style="left:201px;top:203px">Two</button><button style="left:60px;top:500px">Below</button>
	<button id=gone style="left:200px;top:20px">Gone</button><button id=hid style="left:270px;top:120px">Hid</button>`

// blue returns the bounding box of what is blue in the given area.
func blue(img image.Image, area image.Rectangle) image.Rectangle {
	var found image.Rectangle
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			if r, g, b, _ := img.At(x, y).RGBA(); b>>8 > 180 && r>>8 < 90 && g>>8 < 90 {
				found = found.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return found
}

// wantBox compares an annotation with what is drawn, to one pixel. plain is the same picture without labels.
func wantBox(t *testing.T, plain image.Image, a screenshot.Annotation) {
	t.Helper()
	b := a.Box
	area := image.Rect(b.X, b.Y, b.X+b.Width, b.Y+b.Height).Inset(-12).Intersect(plain.Bounds())
	got := blue(plain, area)
	off := func(p, q int) bool { return math.Abs(float64(p-q)) > 1 }
	if off(got.Min.X, b.X) || off(got.Min.Y, b.Y) || off(got.Max.X, b.X+b.Width) || off(got.Max.Y, b.Y+b.Height) {
		t.Errorf("%s: the box is %+v, but the element is drawn at %v", a.Name, b, got)
	}
}

func TestLabelsAreWhereTheElementsAre(t *testing.T) {
	for _, dpr := range []float64{1, 3} {
		t.Run(fmt.Sprintf("dpr %g", dpr), func(t *testing.T) {
			tab := show(t, labelled, dpr)
			size(t, tab, 400, 300, dpr, false)
			found := refs(t, tab, 5)
			browsertest.JS(t, tab, "(gone.remove(), hid.style.visibility = 'hidden', scrollTo(0, 17), 1)")
			labels := []screenshot.Label{found["One"], found["Two"], found["Below"], found["Gone"], found["Hid"], {Ref: "rubbish"}, {}}
			before := browsertest.JS(t, tab, geometry+"+document.documentElement.outerHTML")
			tests := []struct {
				name    string
				opts    screenshot.Options
				drawn   []string
				skipped int
			}{
				{"viewport", screenshot.Options{}, []string{"One", "Two"}, 5},
				{"full page", screenshot.Options{FullPage: true}, []string{"One", "Two", "Below"}, 4},
				{"element", screenshot.Options{Element: "body > button"}, []string{"One"}, 6},
			}
			for _, tt := range tests {
				_, plain := shoot(t, tab, tt.opts)
				tt.opts.Labels = labels
				shot, img := shoot(t, tab, tt.opts)
				if shot.Drawn != len(tt.drawn) || shot.Skipped != tt.skipped || len(shot.Annotations) != 4 || shot.Truncated {
					t.Errorf("%s: got %d drawn, %d skipped, %d listed", tt.name, shot.Drawn, shot.Skipped, len(shot.Annotations))
				}
				for _, a := range shot.Annotations {
					for _, name := range tt.drawn {
						if a.Name != name {
							continue
						}
						wantBox(t, plain, a)
						wantColor(t, img, a.Box.X+1, max(a.Box.Y-3, 1), "#ffb020")
						if a.Role != "button" || "e"+strconv.Itoa(a.Number) != a.Ref {
							t.Errorf("got annotation %+v", a)
						}
					}
				}
				if after := browsertest.JS(t, tab, geometry+"+document.documentElement.outerHTML"); after != before {
					t.Errorf("%s: the page changed", tt.name)
				}
			}
		})
	}
}

func TestLabelsOfAPinchedPageAndItsFrames(t *testing.T) {
	tab := open(t, "")
	size(t, tab, 390, 664, 2, true)
	browsertest.Navigate(t, tab, site(t, map[string]string{
		"/": labelled + `<iframe style="position:absolute;left:40px;top:150px;width:200px;height:120px;border:4px solid;padding:3px" src="HOST/far"></iframe>`,
		"/far": `<style>button{position:absolute;border:0;padding:0;left:21px;top:31px;width:60px;height:20px;background:#0000ff;color:#00f}</style>
			<button>Far</button><button style="top:500px">Deep</button>`,
	}))
	found := refs(t, tab, 7)
	labels := []screenshot.Label{found["One"], found["Far"], found["Deep"]}
	for _, scale := range []float64{1, 1.6} {
		browsertest.Must(t, tab.MainFrame().Do(browsertest.Within(t, browsertest.Patience), proto.EmulationSetPageScaleFactor{PageScaleFactor: scale}))
		before := browsertest.JS(t, tab, geometry)
		for _, o := range []screenshot.Options{{}, {FullPage: true}, {Ref: found["One"].Ref}} {
			_, plain := shoot(t, tab, o)
			o.Labels = labels
			shot, _ := shoot(t, tab, o)
			for _, a := range shot.Annotations {
				if a.Name == "One" || a.Name == "Far" && o.Ref == "" {
					wantBox(t, plain, a)
				}
			}
			want := 2
			if o.Ref != "" {
				want = 1
			}
			if shot.Drawn != want || len(shot.Annotations) != 3 {
				t.Errorf("scale %g, %+v: got %d drawn of %d", scale, o.FullPage, shot.Drawn, len(shot.Annotations))
			}
		}
		if after := browsertest.JS(t, tab, geometry); after != before {
			t.Errorf("scale %g: got geometry %s afterwards, want %s", scale, after, before)
		}
	}
}

func TestAtMostSoManyLabels(t *testing.T) {
	tab := show(t, strings.Repeat("<button>x</button>", 180), 1)
	snap, err := tab.Snapshot(browsertest.Within(t, browsertest.Patience), page.SnapshotOptions{})
	browsertest.Must(t, err)
	var labels []screenshot.Label
	for _, r := range snap.Refs() {
		labels = append(labels, screenshot.Label{Ref: r.Ref, Role: r.Role, Name: r.Name})
	}
	shot, _ := shoot(t, tab, screenshot.Options{Labels: labels})
	if !shot.Truncated || shot.Drawn != screenshot.MaxLabels || len(shot.Annotations) != screenshot.MaxLabels {
		t.Errorf("got %d drawn, truncated %t", shot.Drawn, shot.Truncated)
	}
	shot, _ = shoot(t, tab, screenshot.Options{Labels: []screenshot.Label{}})
	if shot.Annotations == nil || shot.Drawn != 0 || shot.Skipped != 0 {
		t.Errorf("no labels: got %+v", shot.Annotations)
	}
}
