// Package screenshot takes pictures of pages: viewport, page or element, PDF, highlights, screencasts, and WebP frames
// for video.
//
// Labels are drawn into the image, not into the page: no script can see, cover or move them, and nothing has to be
// removed. For a picture larger than the viewport Chromium omits scroll bars and loses scroll positions, so they are
// measured before and restored afterwards. A tab covered by another client's tab is not drawn: if no picture has come
// within a second the tab is brought to the front. Vault secrets are covered; if the page changed while the picture was
// drawn, it is taken again. The package does not store pictures.
package screenshot
