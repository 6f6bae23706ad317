package page

import "context"

// ScreenshotOptions says what a picture shows. The zero value is the viewport as PNG.
type ScreenshotOptions struct {
	// Format is png (default), jpeg or webp.
	Format string
	// Quality is 1–100 for jpeg and webp; 0 means 85.
	Quality int
	// FullPage shows the whole document, not with Ref.
	FullPage bool
	// Ref limits the picture to one element.
	Ref string
}

// Screenshot returns an encoded picture in device pixels. The page's geometry and scroll position are left as they were,
// except that an element given by ref is scrolled into view. A viewport picture does not wait for a running action.
func (t *Tab) Screenshot(ctx context.Context, opts ScreenshotOptions) ([]byte, error) {
	return nil, ErrTabGone
}
