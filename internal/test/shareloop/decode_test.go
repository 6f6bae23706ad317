package shareloop_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// marked is the colour of the page's mark in a frame.
type marked string

// marks returns the colours of the mark in each frame, as ffmpeg decodes it. A frame that cannot be decoded has none, so there are fewer.
func marks(t *testing.T, frames [][]byte) (list []marked) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "ffmpeg", "-v", "error", "-i", ivf(t, frames), "-fps_mode", "passthrough",
		"-vf", "crop=32:32:iw-64:32,scale=1:1", "-f", "rawvideo", "-pix_fmt", "rgb24", "-").Output()
	if err != nil {
		t.Fatal(err)
	}
	for ; len(out) >= 3; out = out[3:] {
		switch r, b := out[0], out[2]; {
		case r > 150 && b < 100:
			list = append(list, red)
		case b > 150 && r < 100:
			list = append(list, blue)
		default:
			list = append(list, "neither")
		}
	}
	return list
}

// ivf writes VP8 frames as a file that ffmpeg reads.
func ivf(t *testing.T, frames [][]byte) string {
	t.Helper()
	var out bytes.Buffer
	out.WriteString("DKIF\x00\x00\x20\x00VP80")
	out.Write(frames[0][6:10]) // the size, as in a key frame
	out.Write([]byte{10, 0, 0, 0, 1, 0, 0, 0})
	out.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(frames))))
	out.Write(make([]byte, 4))
	for i, f := range frames {
		out.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(f))))
		out.Write(binary.LittleEndian.AppendUint64(nil, uint64(i)))
		out.Write(f)
	}
	path := filepath.Join(t.TempDir(), "frames.ivf")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

var ssimAll = regexp.MustCompile(`All:([0-9.]+)`)

// likeness returns how like a frame is to a picture (SSIM).
func likeness(t *testing.T, frame, png []byte) float64 {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shot.png")
	if err := os.WriteFile(path, png, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "ffmpeg", "-i", ivf(t, [][]byte{frame}), "-i", path,
		"-lavfi", "[0:v]format=yuv420p[a];[1:v]format=yuv420p[b];[a][b]ssim", "-f", "null", "-").CombinedOutput()
	found := ssimAll.FindSubmatch(out)
	if err != nil || found == nil {
		t.Fatalf("compare two pictures: %v\n%s", err, out)
	}
	v, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
