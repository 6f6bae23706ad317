package videosource

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// Errors of [VP8FromWebP] for WebP files without a VP8 frame.
var (
	ErrLossless = errors.New("the picture is lossless WebP (VP8L), which is no video frame: take it with a quality of " +
		"at most 99")
	errAnimated = errors.New("the picture is an animation, which is no single video frame")
)

// Sizes of headers in a WebP file, in bytes.
const (
	riffHeader  = 12 // "RIFF", size, "WEBP"
	chunkHeader = 8  // name, size
	frameHeader = 10 // tag, start code, width, height: RFC 6386, section 9.1
)

// VP8FromWebP returns the VP8 key frame (RFC 6386) in a lossy WebP picture (RFC 9649), and its size in pixels. It
// drops everything else: colour profile, metadata, alpha channel. vp8 is a slice of webp.
func VP8FromWebP(webp []byte) (vp8 []byte, width, height int, err error) {
	if len(webp) < riffHeader || string(webp[:4]) != "RIFF" || string(webp[8:12]) != "WEBP" {
		return nil, 0, 0, errors.New("unwrap a picture: it is not WebP")
	}
	size := int64(binary.LittleEndian.Uint32(webp[4:8]))
	if size+chunkHeader > int64(len(webp)) {
		return nil, 0, 0, fmt.Errorf("unwrap a picture: %d of its %d bytes are there", len(webp), size+chunkHeader)
	}
	if size < 4 {
		return nil, 0, 0, errors.New("unwrap a picture: it is empty")
	}
	for rest := webp[riffHeader : size+chunkHeader]; len(rest) >= chunkHeader; {
		n := int64(binary.LittleEndian.Uint32(rest[4:8]))
		if n > int64(len(rest)-chunkHeader) {
			return nil, 0, 0, fmt.Errorf("unwrap a picture: the part %q is longer than the picture", rest[:4])
		}
		body := rest[chunkHeader : chunkHeader+n : chunkHeader+n]
		switch string(rest[:4]) {
		case "VP8 ":
			width, height, err = keyFrame(body)
			if err != nil {
				return nil, 0, 0, fmt.Errorf("unwrap a picture: %w", err)
			}
			return body, width, height, nil
		case "VP8L":
			return nil, 0, 0, fmt.Errorf("unwrap a picture: %w", ErrLossless)
		case "ANIM", "ANMF":
			return nil, 0, 0, fmt.Errorf("unwrap a picture: %w", errAnimated)
		}
		rest = rest[min(chunkHeader+n+n&1, int64(len(rest))):] // chunks are padded to an even length
	}
	return nil, 0, 0, errors.New("unwrap a picture: there is no video frame in it")
}

// keyFrame parses the header of a VP8 key frame.
func keyFrame(b []byte) (width, height int, err error) {
	if len(b) < frameHeader {
		return 0, 0, errors.New("its video frame is cut off")
	}
	tag := uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16
	if tag&1 != 0 {
		return 0, 0, errors.New("its video frame builds on another one")
	}
	if !bytes.Equal(b[3:6], []byte{0x9d, 0x01, 0x2a}) {
		return 0, 0, errors.New("its video frame is not VP8")
	}
	if first := tag >> 5; int64(first) > int64(len(b)-frameHeader) {
		return 0, 0, errors.New("its video frame is cut off")
	}
	width = int(binary.LittleEndian.Uint16(b[6:8]) & 0x3fff) // the upper two bits are a scaling hint for the player
	height = int(binary.LittleEndian.Uint16(b[8:10]) & 0x3fff)
	if width == 0 || height == 0 {
		return 0, 0, fmt.Errorf("its video frame has a size of %d x %d", width, height)
	}
	return width, height, nil
}
