package golive

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
	maxPreviewWidth  = 512 // pixels
	maxPreviewHeight = 288
	maxFramePixels   = 4096 * 4096 // of a frame
	previewQuality   = 70
	maxPreviewJPEG   = 128 << 10 // bytes
)

// PreviewJPEG makes the small picture of a VP8 key frame (RFC 6386). Its shape is that of the frame; a frame that is small is left as large as it
// is.
func PreviewJPEG(frame []byte) ([]byte, error) {
	d := vp8.NewDecoder()
	d.Init(bytes.NewReader(frame), len(frame))
	head, err := d.DecodeFrameHeader()
	switch {
	case err != nil:
		return nil, fmt.Errorf("read a frame for the preview: %w", err)
	case !head.KeyFrame || head.Width == 0 || head.Height == 0 || head.Width*head.Height > maxFramePixels:
		return nil, fmt.Errorf("a frame of %d by %d pixels is none for a preview", head.Width, head.Height)
	}
	full, err := d.DecodeFrame()
	if err != nil {
		return nil, fmt.Errorf("read a frame for the preview: %w", err)
	}
	stretchLevels(full.Y, 16, 219, 0)
	stretchLevels(full.Cb, 128, 224, 128)
	stretchLevels(full.Cr, 128, 224, 128)
	small := image.NewRGBA(previewSize(head.Width, head.Height))
	draw.ApproxBiLinear.Scale(small, small.Bounds(), full, full.Bounds(), draw.Src, nil)
	var out bytes.Buffer
	if err := jpeg.Encode(&out, small, &jpeg.Options{Quality: previewQuality}); err != nil {
		return nil, fmt.Errorf("write the preview: %w", err)
	}
	if out.Len() > maxPreviewJPEG {
		return nil, errors.New("the preview is too large")
	}
	return out.Bytes(), nil
}

// stretchLevels brings samples of video, which leave room at both ends (ITU-R BT.601), to those of a PreviewJPEG, which do not: from
// is brought to to, and span steps to 255.
func stretchLevels(samples []byte, from, span, to int) {
	var table [256]byte
	for i := range table {
		table[i] = byte(min(max((i-from)*255/span+to, 0), 255))
	}
	for i, s := range samples {
		samples[i] = table[s]
	}
}

// previewSize returns a size of the same shape that is not larger than a preview may be.
func previewSize(width, height int) image.Rectangle {
	if width > maxPreviewWidth {
		width, height = maxPreviewWidth, height*maxPreviewWidth/width
	}
	if height > maxPreviewHeight {
		width, height = width*maxPreviewHeight/height, maxPreviewHeight
	}
	return image.Rect(0, 0, max(width, 1), max(height, 1))
}
