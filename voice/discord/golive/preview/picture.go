// Package preview gives Discord the small picture by which its apps announce a
// Go Live stream to those who do not watch it: a frame of the stream itself, made
// a JPEG, uploaded over the REST API as the account that streams.
//
// It takes no pictures and does not know when one is due: package golive does.
package preview

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/jpeg"

	"golang.org/x/image/draw"
	"golang.org/x/image/vp8"
)

const (
	maxWidth  = 512 // pixels
	maxHeight = 288
	maxPixels = 4096 * 4096 // of a frame
	quality   = 70
	maxJPEG   = 128 << 10 // bytes
)

// JPEG makes the small picture of a VP8 key frame (RFC 6386). Its shape is that of the frame; a frame that is small is left as large as it
// is.
func JPEG(frame []byte) ([]byte, error) {
	d := vp8.NewDecoder()
	d.Init(bytes.NewReader(frame), len(frame))
	head, err := d.DecodeFrameHeader()
	switch {
	case err != nil:
		return nil, fmt.Errorf("read a frame for the preview: %w", err)
	case !head.KeyFrame || head.Width == 0 || head.Height == 0 || head.Width*head.Height > maxPixels:
		return nil, fmt.Errorf("a frame of %d by %d pixels is none for a preview", head.Width, head.Height)
	}
	full, err := d.DecodeFrame()
	if err != nil {
		return nil, fmt.Errorf("read a frame for the preview: %w", err)
	}
	widen(full.Y, 16, 219, 0)
	widen(full.Cb, 128, 224, 128)
	widen(full.Cr, 128, 224, 128)
	small := image.NewRGBA(within(head.Width, head.Height))
	draw.ApproxBiLinear.Scale(small, small.Bounds(), full, full.Bounds(), draw.Src, nil)
	var out bytes.Buffer
	if err := jpeg.Encode(&out, small, &jpeg.Options{Quality: quality}); err != nil {
		return nil, fmt.Errorf("write the preview: %w", err)
	}
	if out.Len() > maxJPEG {
		return nil, errors.New("the preview is too large")
	}
	return out.Bytes(), nil
}

// widen brings samples of video, which leave room at both ends (ITU-R BT.601), to those of a JPEG, which do not: from
// is brought to to, and span steps to 255.
func widen(samples []byte, from, span, to int) {
	var table [256]byte
	for i := range table {
		table[i] = byte(min(max((i-from)*255/span+to, 0), 255))
	}
	for i, s := range samples {
		samples[i] = table[s]
	}
}

// within is a size of the same shape that is not larger than a preview may be.
func within(width, height int) image.Rectangle {
	if width > maxWidth {
		width, height = maxWidth, height*maxWidth/width
	}
	if height > maxHeight {
		width, height = width*maxHeight/height, maxHeight
	}
	return image.Rect(0, 0, max(width, 1), max(height, 1))
}
