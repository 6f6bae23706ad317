package videosource

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"sync"
	"time"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

const (
	signWidth, signHeight = 1280, 720
	signSize              = 44 // of the letters, in pixels
	maxSignName           = 40 // characters
)

var signFont = sync.OnceValues(func() (*opentype.Font, error) { return opentype.Parse(goregular.TTF) })

// Sign returns the picture to show instead of a page while a person controls it. A name that the font cannot render
// is omitted.
func Sign(name string) (Picture, error) {
	f, err := signFont()
	var face font.Face
	if err == nil {
		face, err = opentype.NewFace(f, &opentype.FaceOptions{Size: signSize, DPI: 72})
	}
	if err != nil {
		return Picture{}, fmt.Errorf("draw a sign: %w", err)
	}
	letters := []rune(name)
	letters = letters[:min(len(letters), maxSignName)]
	who := string(letters)
	for _, r := range letters {
		if _, ok := face.GlyphAdvance(r); !ok {
			who = ""
			break
		}
	}
	if who == "" {
		who = "Somebody"
	}
	text := who + " is at the controls"
	img := image.NewRGBA(image.Rect(0, 0, signWidth, signHeight))
	for i := range img.Pix {
		img.Pix[i] = []byte{0x20, 0x1d, 0x19, 0xff}[i%4]
	}
	d := font.Drawer{Dst: img, Src: image.NewUniform(color.RGBA{0xf1, 0xef, 0xea, 0xff}), Face: face}
	d.Dot = fixed.Point26_6{X: (fixed.I(signWidth) - d.MeasureString(text)) / 2, Y: fixed.I(signHeight / 2)}
	d.DrawString(text)
	var out bytes.Buffer
	if err := jpeg.Encode(&out, img, &jpeg.Options{Quality: 90}); err != nil {
		return Picture{}, fmt.Errorf("draw a sign: %w", err)
	}
	return Picture{
		JPEG: out.Bytes(), Width: signWidth, Height: signHeight, View: Size{signWidth, signHeight},
		Drawn: time.Now(),
	}, nil
}
