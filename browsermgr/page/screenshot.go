package page

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/fault"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

// screenshotLimit bounds taking a picture.
const screenshotLimit = 20 * time.Second

// clipLimit bounds scrolling the frames around an element into view.
const clipLimit = 8 * time.Second

// ScreenshotOptions configures a picture. The zero value is the viewport as PNG.
type ScreenshotOptions struct {
	// Format is png (default), jpeg or webp.
	Format string
	// Quality is 1–100 for jpeg and webp; 0 means 85.
	Quality int
	// FullPage shows the whole document; it cannot be combined with Ref.
	FullPage bool
	// Ref limits the picture to one element.
	Ref string
}

func (o ScreenshotOptions) validate() error {
	switch o.Format {
	case "", "png", "jpeg", "webp":
	default:
		return fault.Invalidf("screenshot format %q: use png, jpeg or webp", o.Format)
	}
	if o.Quality < 0 || o.Quality > 100 {
		return fault.Invalidf("screenshot quality must be between 1 and 100")
	}
	if o.FullPage && o.Ref != "" {
		return fault.Invalidf("fullPage is not supported for element screenshots")
	}
	return nil
}

// Screenshot returns an encoded picture in device pixels. It changes neither the page's geometry nor its scroll
// position, except that an element given by ref is scrolled into view. A viewport picture does not wait for a running
// action.
func (t *Tab) Screenshot(ctx context.Context, opts ScreenshotOptions) ([]byte, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	if !opts.FullPage && opts.Ref == "" {
		ctx, cancel, err := t.watchContext(ctx, screenshotLimit, false)
		if err != nil {
			return nil, fmt.Errorf("screenshot of tab %s: %w", t.id, err)
		}
		defer cancel()
		return t.captureMasked(ctx, opts, nil)
	}
	return readInTurn(ctx, t, "screenshot of", screenshotLimit, func(ctx context.Context) ([]byte, error) {
		clip, err := t.clipArea(ctx, opts)
		if err != nil {
			return nil, err
		}
		return t.captureMasked(ctx, opts, clip)
	})
}

// clipArea returns the area of the document to show.
func (t *Tab) clipArea(ctx context.Context, opts ScreenshotOptions) (*proto.PageViewport, error) {
	if opts.FullPage {
		m, err := cdp.Ask[proto.PageGetLayoutMetricsResult](ctx, t.main.Session, proto.PageGetLayoutMetrics{})
		if err != nil {
			return nil, err
		}
		return &proto.PageViewport{Width: m.CSSContentSize.Width, Height: m.CSSContentSize.Height, Scale: 1}, nil
	}
	e, err := t.locate(opts.Ref, "")
	if err != nil {
		return nil, err
	}
	box, err := frame.RunScript[struct {
		frame.Point
		Width  float64 `json:"width"`
		Height float64 `json:"height"`
	}](ctx, e.Frame, frame.Script{Fn: "box", Arg: map[string]string{"ref": e.LocalRef}})
	if err != nil {
		return nil, e.Explain(err)
	}
	at, deadline := box.Point, time.Now().Add(clipLimit)
	for f := e.Frame; f.Parent() != nil; f = f.Parent() {
		if at, err = f.MapToParent(ctx, at, deadline); err != nil {
			return nil, e.Explain(err)
		}
	}
	view, err := t.main.Viewport(ctx)
	if err != nil {
		return nil, err
	}
	return &proto.PageViewport{X: at.X + view.X, Y: at.Y + view.Y, Width: box.Width, Height: box.Height, Scale: 1}, nil
}

func (t *Tab) captureMasked(ctx context.Context, opts ScreenshotOptions, clip *proto.PageViewport) ([]byte, error) {
	req := proto.PageCaptureScreenshot{
		Format: proto.PageCaptureScreenshotFormat(opts.Format), Clip: clip, CaptureBeyondViewport: clip != nil,
	}
	if opts.Format == "" {
		req.Format = proto.PageCaptureScreenshotFormatPng
	}
	if req.Format != proto.PageCaptureScreenshotFormatPng {
		quality := cmp.Or(opts.Quality, 85)
		req.Quality = &quality
	}
	return t.Capture(ctx, screenshotLimit, req)
}

// bringToFrontAfter is how long to wait for a picture before the tab is brought to the front.
const bringToFrontAfter = time.Second

// Capture takes a picture. A tab that another client's tab covers is not drawn: it is brought to the front if no
// picture has come within a second. What [Options.HiddenAreas] returns is covered in PNG and JPEG; a WebP picture of a
// page with hidden areas is refused. If the page navigates meanwhile, the picture is taken again.
func (t *Tab) Capture(ctx context.Context, limit time.Duration, req proto.PageCaptureScreenshot) ([]byte, error) {
	for range documentChangeTries {
		data, err := t.captureOnce(ctx, limit, req)
		if !errors.Is(err, errDocumentChanged) {
			return data, err
		}
	}
	return nil, errDocumentChanged
}

// documentChangeTries is how often a picture is taken again because the page navigated.
const documentChangeTries = 3

func (t *Tab) captureOnce(ctx context.Context, limit time.Duration, req proto.PageCaptureScreenshot) ([]byte, error) {
	before, err := t.findMask(ctx)
	if err != nil {
		return nil, err
	}
	data, err := t.captureDrawn(ctx, limit, req)
	if err != nil {
		return nil, err
	}
	after, err := t.findMask(ctx)
	switch {
	case err != nil:
		return nil, err
	case before == nil && after == nil:
		return data, nil
	case !before.SameDocument(after):
		return nil, errDocumentChanged
	}
	boxes := SweptBoxes(maskBoxes(before, req.Clip), maskBoxes(after, req.Clip))
	if len(boxes) > 0 && req.Format == proto.PageCaptureScreenshotFormatWebp {
		return nil, fault.Invalidf("the page shows what must be covered, which is not possible in webp: use png or jpeg")
	}
	return PaintBoxes(data, boxes)
}

func (t *Tab) captureDrawn(ctx context.Context, limit time.Duration, req proto.PageCaptureScreenshot) ([]byte, error) {
	call := t.main.BeginWithin(limit, req)
	front := time.AfterFunc(bringToFrontAfter, func() {
		t.browser.rootSession.Post(proto.TargetActivateTarget{TargetID: proto.TargetTargetID(t.targetID)})
	})
	defer front.Stop()
	var res proto.PageCaptureScreenshotResult
	err := call.Wait(ctx, &res)
	return res.Data, err
}
