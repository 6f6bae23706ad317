package screenshot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"time"

	"clank/browsermgr/page"

	_ "golang.org/x/image/webp" // so that the size of a frame can be read
)

// Frame is one picture of a live view.
type Frame struct {
	// Number counts the frames of a cast from 1.
	Number int
	Data   []byte
	Type   string // jpeg, webp or png
	// Width and Height are those of the picture, in pixels.
	Width, Height int
	// ViewWidth and ViewHeight are those of the viewport it shows, in CSS pixels. For input a point of the picture is scaled
	// by their ratio.
	ViewWidth, ViewHeight float64
	// Scale is that of pinching.
	Scale float64
	// At is when the page was drawn.
	At time.Time
}

// applyMask covers what the frame must not show.
func (f *Frame) applyMask(ctx context.Context, t *page.Tab) error {
	data, err := t.MaskImage(ctx, f.Data, f.ViewWidth, f.Scale)
	if err != nil {
		return err
	}
	if f.Type == "webp" && !bytes.Equal(data, f.Data) {
		f.Type = "jpeg"
	}
	f.Data = data
	return nil
}

// parseFrame reads the parameters of Page.screencastFrame. session is what Chromium wants to have acknowledged, 0 if that
// could not be read.
func parseFrame(params []byte) (f Frame, session int, err error) {
	var p struct {
		Data     []byte `json:"data"`
		Metadata struct {
			Scale     float64 `json:"pageScaleFactor"`
			Width     float64 `json:"deviceWidth"`
			Height    float64 `json:"deviceHeight"`
			Timestamp float64 `json:"timestamp"`
		} `json:"metadata"`
		SessionID int `json:"sessionId"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return Frame{}, p.SessionID, fmt.Errorf("read a frame: %w", err)
	}
	config, kind, err := image.DecodeConfig(bytes.NewReader(p.Data))
	if err == nil && (config.Width <= 0 || config.Height <= 0) {
		err = errors.New("it is empty")
	}
	if err != nil {
		return Frame{}, p.SessionID, fmt.Errorf("read a frame: %w", err)
	}
	f = Frame{
		Data: p.Data, Type: kind, Width: config.Width, Height: config.Height,
		ViewWidth: p.Metadata.Width, ViewHeight: p.Metadata.Height, Scale: p.Metadata.Scale, At: time.Now(),
	}
	if s := p.Metadata.Timestamp; s > 0 && s < 1e11 {
		f.At = time.UnixMicro(int64(s * 1e6))
	}
	return f, p.SessionID, nil
}
