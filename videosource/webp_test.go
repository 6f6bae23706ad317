package videosource_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"clank/videosource"
)

// chunk returns one part of a RIFF file, padded.
func chunk(name string, body []byte) []byte {
	out := append([]byte(name), binary.LittleEndian.AppendUint32(nil, uint32(len(body)))...)
	out = append(out, body...)
	if len(body)%2 == 1 {
		out = append(out, 0)
	}
	return out
}

// riff returns a WebP file with the given chunks.
func riff(parts ...[]byte) []byte {
	body := append([]byte("WEBP"), bytes.Join(parts, nil)...)
	return append(append([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, uint32(len(body)))...), body...)
}

// vp8 returns data with the header of a key frame of that size.
func vp8(width, height int, body string) []byte {
	tag := uint32(len(body)) << 5
	out := []byte{byte(tag), byte(tag >> 8), byte(tag >> 16), 0x9d, 0x01, 0x2a}
	out = binary.LittleEndian.AppendUint16(out, uint16(width))
	out = binary.LittleEndian.AppendUint16(out, uint16(height))
	return append(out, body...)
}

func TestTheKeyFrameIsFoundWhereverItStands(t *testing.T) {
	frame := vp8(1281, 721, "abc")
	for name, webp := range map[string][]byte{
		"alone":                   riff(chunk("VP8 ", frame)),
		"after header and colour": riff(chunk("VP8X", make([]byte, 10)), chunk("ICCP", []byte("odd")), chunk("VP8 ", frame)),
		"after transparency": riff(chunk("VP8X", make([]byte, 10)), chunk("ALPH", []byte{1, 2, 3, 4, 5}),
			chunk("VP8 ", frame), chunk("EXIF", []byte("x"))),
		"before a rest":       append(riff(chunk("VP8 ", frame)), "rest"...),
		"without its padding": riff(chunk("VP8 ", frame)[:8+len(frame)]),
	} {
		got, width, height, err := videosource.VP8FromWebP(webp)
		if err != nil || !bytes.Equal(got, frame) || width != 1281 || height != 721 {
			t.Errorf("%s: got %q, %d x %d, error %v, want %q, 1281 x 721", name, got, width, height, err, frame)
		}
	}
}

func TestThePlayersWishToEnlargeIsNoPartOfTheSize(t *testing.T) {
	frame := vp8(640|1<<14, 480|2<<14, "")
	if _, width, height, err := videosource.VP8FromWebP(riff(chunk("VP8 ", frame))); err != nil || width != 640 ||
		height != 480 {
		t.Errorf("got %d x %d, error %v, want 640 x 480", width, height, err)
	}
}

func TestWhatIsNoVideoFrameIsRefused(t *testing.T) {
	frame := vp8(2, 2, "abc")
	inter := bytes.Clone(frame)
	inter[0] |= 1
	other := bytes.Clone(frame)
	other[4] = 7
	whole := riff(chunk("VP8 ", frame))
	huge := riff(chunk("VP8 ", frame))
	binary.LittleEndian.PutUint32(huge[16:], 1<<31)
	for name, tc := range map[string]struct {
		webp []byte
		want string
	}{
		"nothing":            {nil, "not WebP"},
		"a PNG":              {[]byte("\x89PNG\r\n\x1a\n0000"), "not WebP"},
		"lossless":           {riff(chunk("VP8L", []byte("x"))), "at most 99"},
		"an animation":       {riff(chunk("VP8X", make([]byte, 10)), chunk("ANIM", make([]byte, 6))), "animation"},
		"cut off":            {whole[:len(whole)-3], "are there"},
		"a part too long":    {huge, "longer than"},
		"no size at all":     {append([]byte("RIFF\x00\x00\x00\x00"), "WEBP"...), "empty"},
		"no frame":           {riff(chunk("ICCP", []byte("x"))), "no video frame"},
		"an inter frame":     {riff(chunk("VP8 ", inter)), "builds on"},
		"another start code": {riff(chunk("VP8 ", other)), "not VP8"},
		"a short frame":      {riff(chunk("VP8 ", frame[:9])), "cut off"},
		"a cut first part":   {riff(chunk("VP8 ", frame[:11])), "cut off"},
		"no width":           {riff(chunk("VP8 ", vp8(0, 2, ""))), "size of 0 x 2"},
	} {
		_, _, _, err := videosource.VP8FromWebP(tc.webp)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got error %v, want one with %q", name, err, tc.want)
		}
	}
	if _, _, _, err := videosource.VP8FromWebP(riff(chunk("VP8L", []byte("x")))); !errors.Is(err,
		videosource.ErrLossless) {
		t.Errorf("got error %v, want %v", err, videosource.ErrLossless)
	}
}

func FuzzUnwrap(f *testing.F) {
	f.Add(riff(chunk("VP8X", make([]byte, 10)), chunk("ICCP", []byte("odd")), chunk("VP8 ", vp8(1280, 720, "abc"))))
	f.Add(riff(chunk("VP8L", []byte("x"))))
	f.Add([]byte("RIFF\xff\xff\xff\xffWEBPVP8 \xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, webp []byte) {
		got, width, height, err := videosource.VP8FromWebP(webp)
		if err != nil {
			return
		}
		if !bytes.Contains(webp, got) || width <= 0 || height <= 0 || got[0]&1 != 0 {
			t.Errorf("got %x of %d x %d for %x", got, width, height, webp)
		}
	})
}
