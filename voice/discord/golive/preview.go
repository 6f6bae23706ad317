package golive

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"net/http"
	"net/url"
	"time"

	"clank/cancel"

	"golang.org/x/image/draw"
	"golang.org/x/image/vp8"
)

const (
	previewDelay   = 2 * time.Second  // the first pictures have the machine for themselves
	previewEvery   = 5 * time.Minute  // as Discord's own apps do it
	previewTimeout = 30 * time.Second // for a picture of the page
	maxPreviewAge  = 10 * time.Second // older frames are not shown
)

// preview shows people who do not watch what the stream is about: soon after it begins, and again from time to time,
// until ctx ends. It is a frame of the stream, with the same parts covered. The stream does not need it, so failures
// are only logged.
func (s *Stream) preview(ctx context.Context) {
	select {
	case <-s.up:
	case <-ctx.Done():
		return
	}
	noted := false
	for wait := previewDelay; ; wait = previewEvery {
		if cancel.Sleep(ctx, wait) != nil {
			return
		}
		err := s.previewOnce(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !noted:
			s.publisher.logger().Warn("the preview of a stream could not be shown; the stream goes on without", "stream", s.key,
				"error", err)
			noted = true
		case err != nil:
			s.publisher.logger().Debug("the preview of a stream could not be shown", "stream", s.key, "error", err)
		}
	}
}

// previewOnce shows a frame if the stream runs and a frame arrives soon.
func (s *Stream) previewOnce(ctx context.Context) error {
	if st := s.State().Status; st != Ready && st != Playing {
		return nil
	}
	late := time.After(previewTimeout)
	viewer := s.req.Source.Subscribe()
	defer viewer.Close()
	for {
		select {
		case f, ok := <-viewer.Frames():
			switch {
			case !ok:
				return nil
			case time.Since(f.Taken) > maxPreviewAge:
				continue
			}
			viewer.Close()
			return s.publisher.Preview(ctx, s.key, f.Data)
		case <-late:
			return nil // the page hides something, or cannot be drawn
		case <-ctx.Done():
			return nil
		}
	}
}

const (
	maxPreviewWidth  = 512 // pixels
	maxPreviewHeight = 288
	maxFramePixels   = 4096 * 4096 // of a frame
	previewQuality   = 70
	maxPreviewJPEG   = 128 << 10 // bytes
)

// PreviewJPEG returns a small JPEG of a VP8 key frame (RFC 6386) with the same aspect ratio. It does not enlarge small
// frames.
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

// stretchLevels converts samples from limited range (ITU-R BT.601) to the full range of JPEG: the value from becomes
// to, and from+span becomes 255.
func stretchLevels(samples []byte, from, span, to int) {
	var table [256]byte
	for i := range table {
		table[i] = byte(min(max((i-from)*255/span+to, 0), 255))
	}
	for i, s := range samples {
		samples[i] = table[s]
	}
}

// previewSize returns the largest size for a preview with the same aspect ratio.
func previewSize(width, height int) image.Rectangle {
	if width > maxPreviewWidth {
		width, height = maxPreviewWidth, height*maxPreviewWidth/width
	}
	if height > maxPreviewHeight {
		width, height = width*maxPreviewHeight/height, maxPreviewHeight
	}
	return image.Rect(0, 0, max(width, 1), max(height, 1))
}

const (
	postTimeout   = 10 * time.Second
	maxPostAnswer = 4 << 10 // bytes that are read of an answer
)

// PreviewPoster uploads previews as one account. Its methods are safe for concurrent use.
type PreviewPoster struct {
	API        string       // where the REST API is, with its version: "https://discord.com/api/v9"
	Token      string       // of the account that streams
	HTTPClient *http.Client // nil is the default client
}

// Post sets the frame, a VP8 key frame, as the preview of the stream with a key. Its errors do not contain the token.
func (p *PreviewPoster) Post(ctx context.Context, key string, frame []byte) error {
	picture, err := PreviewJPEG(frame)
	if err != nil {
		return err
	}
	body, err := json.Marshal(
		map[string]string{"thumbnail": "data:image/jpeg;base64," + base64.StdEncoding.EncodeToString(picture)})
	if err != nil {
		return fmt.Errorf("write the preview: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, postTimeout,
		fmt.Errorf("Discord did not take it within %s", postTimeout)) //nolint:staticcheck // a name
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.API+"/streams/"+url.PathEscape(key)+"/preview",
		bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("upload the preview: %w", err)
	}
	req.Header.Set("Authorization", p.Token)
	req.Header.Set("Content-Type", "application/json")
	res, err := cmp.Or(p.HTTPClient, http.DefaultClient).Do(req)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return fmt.Errorf("upload the preview: %w", err)
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, maxPostAnswer)) // so that the connection can be used again
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("upload the preview: Discord answered %s", res.Status)
	}
	return nil
}
