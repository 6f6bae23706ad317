package screenshot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/fault"
	"clank/browsermgr/page"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

// Limits of a screenshot.
const (
	// DefaultTimeout is the default time limit.
	DefaultTimeout = 20 * time.Second
	// maxSide is the maximum width and height, in pixels.
	maxSide = 2000
	// MaxBytes is the maximum file size.
	MaxBytes = 5 << 20
	// MaxLabels is the maximum number of labels drawn.
	MaxLabels = 150
)

// jpegQuality is the quality of JPEGs encoded by Chromium.
const jpegQuality = 85

// Options configures a screenshot. The zero value is the viewport as PNG.
type Options struct {
	// FullPage shows the whole document at its present width; it cannot be combined with Ref or Element.
	FullPage bool
	// Ref limits the picture to an element of a snapshot.
	Ref string
	// Element limits the picture to the first element that matches a CSS selector, if Ref is empty.
	Element string
	// Type is png or jpeg; anything else means png. A picture that is too large becomes a jpeg in any case.
	Type string
	// Labels are refs of a snapshot to mark; nil marks none.
	Labels []Label
	// Timeout bounds the screenshot; 0 means [DefaultTimeout].
	Timeout time.Duration
}

// Image is a screenshot.
type Image struct {
	Data   []byte
	Type   string // png or jpeg
	Width  int    // in pixels
	Height int
	// Annotations lists the requested labels whose elements exist.
	Annotations []Annotation
	// Drawn and Skipped count the labels in the picture and those left out.
	Drawn, Skipped int
	// Truncated reports that there were more labels than [MaxLabels].
	Truncated bool
}

// TakeScreenshot takes a picture in device pixels and shrinks it if necessary to at most [maxSide] pixels and
// [MaxBytes] bytes; otherwise the file is Chromium's own. It restores the page's geometry and scroll positions. A
// picture of the viewport without labels does not wait for a running action. If a dialog is open the error is a
// *page.DialogError.
func TakeScreenshot(ctx context.Context, t *page.Tab, o Options) (Image, error) {
	if o.FullPage && (o.Ref != "" || o.Element != "") {
		return Image{}, fault.Invalidf("fullPage is not supported for element screenshots")
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Type != "jpeg" {
		o.Type = "png"
	}
	var img Image
	take := func(ctx context.Context) (err error) {
		img, err = o.takePicture(ctx, t)
		return err
	}
	var err error
	if o.FullPage || o.Ref != "" || o.Element != "" || o.Labels != nil {
		err = t.RunExclusive(ctx, o.Timeout, take)
	} else {
		err = runConcurrently(ctx, t, o.Timeout, take)
	}
	if err != nil {
		return Image{}, fmt.Errorf("screenshot of tab %s: %w", t.ID(), err)
	}
	return img, nil
}

// runConcurrently runs do without waiting for a running action. While a dialog is open nothing is drawn, so it fails.
func runConcurrently(ctx context.Context, t *page.Tab, limit time.Duration, do func(context.Context) error) error {
	if open := t.Dialogs().Pending; len(open) > 0 {
		return &page.DialogError{Dialog: open[0]}
	}
	return t.RunConcurrently(ctx, limit, do)
}

// pictureArea is the area of the document in the picture, and the picture's scale.
type pictureArea struct {
	left, top float64 // corner: in the document, or in the viewport to place labels
	scale     float64 // pixels per CSS pixel
}

func (o Options) takePicture(ctx context.Context, t *page.Tab) (Image, error) {
	if !o.FullPage && o.Ref == "" && o.Element == "" && o.Labels == nil {
		data, err := captureImage(ctx, t, o, nil, false)
		if err != nil {
			return Image{}, err
		}
		return fitImage(ctx, data, o.Type, nil)
	}
	before, err := measureViewport(ctx, t)
	if err != nil {
		return Image{}, err
	}
	data, v, places, err := o.captureRestored(ctx, t, before)
	if err = errors.Join(err, restoreTab(ctx, t, &before)); err != nil {
		return Image{}, err
	}
	if o.Labels == nil {
		return fitImage(ctx, data, o.Type, nil)
	}
	return fitImage(ctx, data, o.Type, newSketch(o.Labels, places, v))
}

// captureRestored takes the picture; the caller restores the page.
func (o Options) captureRestored(ctx context.Context, t *page.Tab,
	before viewportGeometry,
) (data []byte, v pictureArea, places map[string]elementPlace, err error) {
	v = pictureArea{left: before.Left, top: before.Top, scale: before.Scale * before.DPR}
	var clip *proto.PageViewport
	beyond := false
	if o.FullPage || o.Ref != "" || o.Element != "" {
		if clip, beyond, err = o.clipArea(ctx, t, before); err != nil {
			return nil, v, nil, err
		}
		clip.Scale = shrinkFactor(max(clip.Width, clip.Height) * before.DPR)
		v = pictureArea{left: clip.X, top: clip.Y, scale: clip.Scale * before.DPR}
	}
	if o.Labels != nil {
		if places, err = locateLabels(ctx, t, o.Labels); err != nil {
			return nil, v, nil, err
		}
		now, err := measureViewport(ctx, t)
		if err != nil {
			return nil, v, nil, err
		}
		// Positions are relative to the viewport.
		v.left, v.top = v.left-now.X, v.top-now.Y
	}
	if o.FullPage {
		if err := drawOffscreenFrames(ctx, t); err != nil {
			return nil, v, nil, err
		}
	}
	data, err = captureImage(ctx, t, o, clip, beyond)
	return data, v, places, err
}

// clipArea returns the area of the document to show, and whether it extends beyond the viewport.
func (o Options) clipArea(ctx context.Context, t *page.Tab,
	before viewportGeometry,
) (*proto.PageViewport, bool, error) {
	if o.FullPage {
		if err := hideBars(ctx, t, before); err != nil {
			return nil, false, err
		}
		m, err := cdp.Ask[proto.PageGetLayoutMetricsResult](ctx, t.MainFrame().Session, proto.PageGetLayoutMetrics{})
		if err != nil {
			return nil, false, err
		}
		return &proto.PageViewport{Width: math.Ceil(m.CSSContentSize.Width), Height: math.Ceil(m.CSSContentSize.Height)},
			true, nil
	}
	e, at, err := findElement(t, o.Ref, o.Element)
	if err != nil {
		return nil, false, err
	}
	clip, beyond, err := elementClip(ctx, t, func() (cssBox, error) { return scrollIntoView(ctx, e, at) })
	if err != nil || !beyond || !before.Bars {
		return clip, beyond, err
	}
	if err := hideBars(ctx, t, before); err != nil {
		return nil, false, err
	}
	clip, _, err = elementClip(ctx, t, func() (cssBox, error) { return scrollIntoView(ctx, e, at) })
	return clip, true, err
}

func elementClip(ctx context.Context, t *page.Tab, find func() (cssBox, error)) (*proto.PageViewport, bool, error) {
	b, err := find()
	if err != nil {
		return nil, false, err
	}
	now, err := measureViewport(ctx, t)
	if err != nil {
		return nil, false, err
	}
	left, top := math.Floor(b.Left), math.Floor(b.Top)
	right, bottom := math.Ceil(b.Right), math.Ceil(b.Bottom)
	beyond := now.Scale != 1 || left < 0 || top < 0 || right > now.Width || bottom > now.Height
	clip := &proto.PageViewport{X: now.X + left, Y: now.Y + top, Width: right - left, Height: bottom - top}
	if clip.X < 0 {
		clip.Width, clip.X = clip.Width+clip.X, 0
	}
	if clip.Y < 0 {
		clip.Height, clip.Y = clip.Height+clip.Y, 0
	}
	if clip.Width < 1 || clip.Height < 1 {
		return nil, false, fmt.Errorf("the element lies outside of the page (%w)", fault.ErrNotInteractable)
	}
	return clip, beyond, nil
}

func hideBars(ctx context.Context, t *page.Tab, before viewportGeometry) error {
	if !before.Bars {
		return nil
	}
	_, err := runMeasureScript[float64](ctx, t.MainFrame(), nil, scriptArgument{Do: "bars"})
	return err
}

// sharpnessLimit is the maximum side, in pixels, captured at full size. Larger pictures would be shrunk anyway;
// Chromium draws them smaller with less effort and within its texture size.
const sharpnessLimit = 4 * maxSide

func shrinkFactor(longest float64) float64 {
	if longest <= sharpnessLimit {
		return 1
	}
	return sharpnessLimit / 2 / longest
}

// captureImage takes the picture.
func captureImage(ctx context.Context, t *page.Tab, o Options, clip *proto.PageViewport, beyond bool) ([]byte, error) {
	req := proto.PageCaptureScreenshot{
		Format: proto.PageCaptureScreenshotFormat(o.Type), Clip: clip, CaptureBeyondViewport: beyond,
		OptimizeForSpeed: clip == nil, // a quarter less time for a third more bytes; larger pictures must not pass MaxBytes
	}
	if o.Type == "jpeg" {
		q := jpegQuality
		req.Quality = &q
	}
	return t.Capture(ctx, o.Timeout, req)
}

// pdfLimit bounds printing.
const pdfLimit = 60 * time.Second

// errHiddenContent is returned if a page that shows a secret is to be printed.
var errHiddenContent = errors.New("the page shows a secret, which cannot be covered on paper: take a screenshot, or " +
	"go to another page")

// PrintPDF prints the page on A4, without margins and with backgrounds. It fails if the page has areas that pictures
// must not show.
func PrintPDF(ctx context.Context, t *page.Tab) ([]byte, error) {
	const inch = 25.4
	width, height, none := 210/inch, 297/inch, 0.0
	var res struct {
		Data []byte `json:"data"`
	}
	err := t.RunExclusive(ctx, pdfLimit, func(ctx context.Context) error {
		if hides, err := t.HasHiddenAreas(ctx); err != nil || hides {
			return cmp.Or(err, errHiddenContent)
		}
		return t.MainFrame().BeginWithin(pdfLimit, proto.PagePrintToPDF{
			PrintBackground: true, PaperWidth: &width, PaperHeight: &height,
			MarginTop: &none, MarginBottom: &none, MarginLeft: &none, MarginRight: &none,
		}).Wait(ctx, &res)
	})
	if err == nil && len(res.Data) == 0 {
		err = errors.New("the browser made an empty file")
	}
	if err != nil {
		return nil, fmt.Errorf("print tab %s: %w", t.ID(), err)
	}
	return res.Data, nil
}

const (
	highlightLimit    = 8 * time.Second
	highlightDuration = 2 * time.Second
)

// Highlight scrolls an element of a snapshot into view, outlines it for two seconds, and returns at once. It uses an
// animation, which changes no attribute of the page and ends by itself.
func Highlight(ctx context.Context, t *page.Tab, ref string) error {
	if ref == "" {
		return fault.Invalidf("ref is required")
	}
	err := t.RunExclusive(ctx, highlightLimit, func(ctx context.Context) error {
		e, at, err := findElement(t, ref, "")
		if err != nil {
			return err
		}
		ok, err := runMeasureScript[bool](ctx, e.Frame, []frame.Locator{at},
			scriptArgument{Do: "highlight", Ms: int(highlightDuration.Milliseconds())})
		if err != nil {
			return e.Explain(err)
		}
		if !ok {
			return explainMissing(ctx, e, at)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("highlight in tab %s: %w", t.ID(), err)
	}
	return nil
}
