package corpus_test

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"net/http"
	"strconv"
	"strings"
)

// TargetCenters returns where the targets are on a picture of the page, as somebody sees it who knows their colours, in
// pixels from its upper left corner: the middle of the first pixel is at 0.5, 0.5. Those that do not show are left out.
//
// A pixel at the edge of a target counts for as much of it as the target covers.
func TargetCenters(picture image.Image) map[string][2]float64 {
	img := image.NewRGBA(image.Rectangle{Max: picture.Bounds().Size()})
	draw.Draw(img, img.Rect, picture, picture.Bounds().Min, draw.Src)
	found := map[string][2]float64{}
	for name, box := range solidBoxes(img) {
		i := 0
		for i < len(Targets())-1 && Targets()[i].Name != name {
			i++
		}
		var sx, sy, sum float64
		box = box.Inset(-2).Intersect(img.Rect)
		for y := box.Min.Y; y < box.Max.Y; y++ {
			for x := box.Min.X; x < box.Max.X; x++ {
				w := coverage(img.RGBAAt(x, y), Targets()[i].Color)
				sx, sy, sum = sx+w*(float64(x)+0.5), sy+w*(float64(y)+0.5), sum+w
			}
		}
		found[name] = [2]float64{sx / sum, sy / sum}
	}
	return found
}

// solidBoxes returns the boxes around the pixels that are of a target without doubt.
func solidBoxes(img *image.RGBA) map[string]image.Rectangle {
	boxes := map[string]image.Rectangle{}
	for y := range img.Rect.Max.Y {
		for x := range img.Rect.Max.X {
			seen := img.RGBAAt(x, y)
			if min(seen.R, seen.G, seen.B) > 100 { // as most of the page
				continue
			}
			for _, t := range Targets() {
				if channelDistance(seen.R, t.Color.R)+channelDistance(seen.G, t.Color.G)+channelDistance(seen.B, t.Color.B) < 90 {
					boxes[t.Name] = boxes[t.Name].Union(image.Rect(x, y, x+1, y+1))
				}
			}
		}
	}
	return boxes
}

func channelDistance(a, b uint8) int { return max(int(a), int(b)) - min(int(a), int(b)) }

// coverage returns how much of a pixel is of a colour, and not of the white page.
func coverage(seen, of color.RGBA) float64 {
	var along, whole float64
	for _, c := range [][2]uint8{{seen.R, of.R}, {seen.G, of.G}, {seen.B, of.B}} {
		missing, all := float64(255-c[0]), float64(255-c[1])
		along, whole = along+missing*all, whole+all*all
	}
	share := min(along/whole, 1)
	if share < 0.05 { // what a lossy picture has around its edges
		return 0
	}
	return share
}

// Target is a square of the page, of one colour that nothing else there has.
type Target struct {
	Name  string
	Color color.RGBA
	place string // CSS, where it is in its document
	// Far says that it is in the frame of another site, whose pixels the zoom of the page makes larger.
	Far bool
}

// Side is the side of a target in CSS pixels, before the page is zoomed.
const Side = 16

// Targets returns the targets of the page: at the corners and edges of the viewport, in its middle, in the page that
// scrolls under them, and in a frame of another site.
func Targets() []Target {
	return []Target{
		{"top left", color.RGBA{255, 0, 0, 255}, "position:fixed;left:0;top:0", false},
		{"top right", color.RGBA{0, 200, 0, 255}, "position:fixed;right:0;top:0", false},
		{"bottom left", color.RGBA{0, 0, 255, 255}, "position:fixed;left:0;bottom:0", false},
		{"bottom right", color.RGBA{255, 0, 255, 255}, "position:fixed;right:0;bottom:0", false},
		{"scrolled", color.RGBA{0, 255, 255, 255}, "position:absolute;left:137.3px;top:1042.6px", false},
		{
			"between pixels",
			color.RGBA{255, 160, 0, 255},
			"position:fixed;left:calc(50% - 3.37px);top:calc(50% + 1.61px)",
			false,
		},
		{"in a frame", color.RGBA{128, 0, 255, 255}, "position:absolute;left:31.4px;top:415.9px", true},
	}
}

// listen is the script of both documents. Of each click it tells the top window how far from the middle of the target
// it was, in pixels of the screen, and which target took it. The place of a click is that of the last move: Chromium
// rounds that of the click itself.
const listen = `
	let at = null;
	addEventListener('pointermove', (e) => { at = [e.clientX, e.clientY]; }, true);
	addEventListener('click', (e) => {
		const t = e.target.dataset?.name ? e.target : null;
		const b = t?.getBoundingClientRect();
		top.postMessage(t ? {name: t.dataset.name, x: at[0] - b.left - b.width / 2, y: at[1] - b.top - b.height / 2, scale: b.width / SIDE} : {name: '', miss: [e.target.tagName, at, location.pathname, scrollY].join(' ')}, '*');
	}, true);`

// Site serves the page, scrolled to its target. far is the origin under which it embeds itself as another site. The
// page's hits are in window.hits, see [Hit]; the query zoom=… zooms it by CSS.
func Site(far func(r *http.Request) string) http.Handler {
	mux := http.NewServeMux()
	show := func(w http.ResponseWriter, zoom string, inFar bool, rest string) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><html style="zoom:%s"><link rel=icon href=data:,><body style="margin:0;background:#fff">`, zoom)
		for _, t := range Targets() {
			if t.Far == inFar {
				fmt.Fprintf(w, `<div data-name="%s" style="width:%dpx;height:%[2]dpx;background:rgb(%d,%d,%d);%s"></div>`, t.Name,
					Side, t.Color.R, t.Color.G, t.Color.B, t.place)
			}
		}
		fmt.Fprintf(w, "<div style='height:4000px'></div>%s<script>%s</script>", rest,
			strings.ReplaceAll(listen, "SIDE", strconv.Itoa(Side)))
	}
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		zoom := r.FormValue("zoom")
		if strings.Trim(zoom, "0123456789.") != "" || zoom == "" {
			zoom = "1"
		}
		show(w, zoom, false, fmt.Sprintf(
			`<iframe src="%s/frame" style="position:fixed;left:60.5px;top:33.3px;width:120px;height:90px;border:3px solid #ccc;padding:2px"></iframe>
			<script>window.hits = []; addEventListener('message', (e) => e.data === 'here' ? window.ready = true : hits.push(e.data)); document.querySelector('[data-name=scrolled]').scrollIntoView({block: 'center'})</script>`, far(r)))
	})
	mux.HandleFunc("GET /frame", func(w http.ResponseWriter, _ *http.Request) {
		show(w, "1", true, `<script>
			let drawn = 0;
			const settle = () => { // a new frame may lose its first scroll position again
				drawn = innerHeight && Math.abs(scrollY - 379) < 3 ? drawn + 1 : 0;
				if (!drawn) scrollTo(0, 379);
				drawn < 4 ? requestAnimationFrame(settle) : top.postMessage('here', '*');
			};
			requestAnimationFrame(settle)</script>`)
	})
	return mux
}

// Hit is what the page tells of a click.
type Hit struct {
	Name string  `json:"name"` // of the target; "" for none
	X    float64 `json:"x"`    // from its middle
	Y    float64 `json:"y"`
	// what was clicked instead of a target: element, place, document, how far that is scrolled
	Miss  string  `json:"miss"`
	Scale float64 `json:"scale"` // width of the target as its page measures it, by Side
}
