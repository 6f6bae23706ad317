package screenshot

import (
	"context"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

// webPLimit bounds one picture.
const webPLimit = 15 * time.Second

// TakeWebP returns a picture of the viewport as lossy WebP, with a quality of 1 to 99; a scale below 1 shrinks it.
// Since Chromium's WebP cannot be masked, the WebP is made from a masked picture if the page has areas to cover.
func TakeWebP(ctx context.Context, tab *page.Tab, quality int, scale float64) ([]byte, error) {
	req := proto.PageCaptureScreenshot{Format: proto.PageCaptureScreenshotFormatWebp, Quality: &quality}
	if scale > 0 && scale < 1 {
		view, err := tab.MainFrame().Viewport(ctx)
		if err != nil {
			return nil, err
		}
		req.Clip = &proto.PageViewport{X: view.X, Y: view.Y, Width: view.Width, Height: view.Height, Scale: scale}
	}
	hides, err := tab.HasHiddenAreas(ctx)
	if err != nil {
		return nil, err
	}
	if !hides { // if it does by then, Capture refuses
		return tab.Capture(ctx, webPLimit, req)
	}
	req.Format, req.Quality = proto.PageCaptureScreenshotFormatPng, nil
	covered, err := tab.Capture(ctx, webPLimit, req)
	if err != nil {
		return nil, err
	}
	return frame.CallFunction[[]byte](ctx, tab.MainFrame(), webPScript, nil,
		map[string]any{"png": covered, "quality": float64(quality) / 100})
}

// webPScript converts a PNG to WebP, in our isolated world, which the page's scripts cannot access.
const webPScript = `async (_, {png, quality}) => {
	const bytes = Uint8Array.from(atob(png), (c) => c.charCodeAt(0));
	const picture = await createImageBitmap(new Blob([bytes], {type: "image/png"}));
	const canvas = new OffscreenCanvas(picture.width, picture.height);
	canvas.getContext("2d", {alpha: false}).drawImage(picture, 0, 0);
	picture.close();
	const blob = await canvas.convertToBlob({type: "image/webp", quality});
	return new Promise((done, failed) => {
		const reader = new FileReader();
		reader.onload = () => done(reader.result.slice(reader.result.indexOf(",") + 1));
		reader.onerror = () => failed(reader.error);
		reader.readAsDataURL(blob);
	});
}`
