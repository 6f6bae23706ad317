// Package screenshot takes pictures of pages: viewport, page or element, PDF, a highlight, a live view, and WebP frames
// for video.
//
// Labels are drawn into the image, not into the page: no script can see, cover or move them, and nothing has to be
// removed. A picture larger than the viewport makes Chromium leave out scroll bars and lose scroll positions, so it
// measures first and restores what moved. A tab behind another client's is not drawn: a picture that does not come
// within a second brings it to the front. What the vault filled in is covered; if the page changed while the picture
// was drawn, it is taken again. It does not store pictures.
package screenshot
