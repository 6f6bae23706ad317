package voice_test

import (
	"strings"
	"testing"
	"time"

	"clank/voice"

	"github.com/google/go-cmp/cmp"
)

func TestAPacketTellsHowLongItSounds(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for _, c := range []struct {
		name string
		opus []byte
		want voice.OpusShape
	}{
		{"silence", voice.OpusSilence[:], voice.OpusShape{Config: 31, Frames: 1, FrameTime: 20 * ms}},
		{"nothing but a table of contents", []byte{0xFC}, voice.OpusShape{Config: 31, Stereo: true, Frames: 1, FrameTime: 20 * ms}},
		{"the shortest", []byte{16 << 3, 1}, voice.OpusShape{Config: 16, Frames: 1, FrameTime: 2500 * time.Microsecond}},
		{"SILK of 60 ms", []byte{3 << 3, 1}, voice.OpusShape{Config: 3, Frames: 1, FrameTime: 60 * ms}},
		{"hybrid of 10 ms", []byte{12 << 3, 1}, voice.OpusShape{Config: 12, Frames: 1, FrameTime: 10 * ms}},
		{"two equal", []byte{31<<3 | 1, 1, 2}, voice.OpusShape{Config: 31, Frames: 2, FrameTime: 20 * ms}},
		{"two different", []byte{31<<3 | 2, 1, 9, 8, 7}, voice.OpusShape{Config: 31, Frames: 2, FrameTime: 20 * ms}},
		{"three equal", []byte{31<<3 | 3, 3, 1, 2, 3}, voice.OpusShape{Config: 31, Frames: 3, FrameTime: 20 * ms}},
		{"three with padding", []byte{31<<3 | 3, 3 | 64, 2, 1, 2, 3, 0, 0}, voice.OpusShape{Config: 31, Frames: 3, FrameTime: 20 * ms}},
		{"three of their own lengths", []byte{31<<3 | 3, 3 | 128, 1, 0, 9, 8, 8}, voice.OpusShape{Config: 31, Frames: 3, FrameTime: 20 * ms}},
	} {
		got, err := voice.InspectOpus(c.opus)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestAPacketThatLiesIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		want string
		opus []byte
	}{
		{"is empty", nil},
		{"no count", []byte{3}},
		{"no frames", []byte{3, 0}},
		{"no 2 frames of one length", []byte{1, 7}},
		{"more than 120 ms", append([]byte{3<<3 | 3, 3}, 1, 2, 3)},
		{"within the length", []byte{2}},
		{"within the length", []byte{2, 253}},
		{"longer than the packet", []byte{2, 9, 1}},
		{"within its padding", []byte{31<<3 | 3, 1 | 64, 255}},
		{"padding is longer", []byte{31<<3 | 3, 1 | 64, 9}},
		{"longer than the packet", []byte{31<<3 | 3, 2 | 128, 200, 1}},
		{"more than 1275", make([]byte, 1277)},
	} {
		if _, err := voice.InspectOpus(c.opus); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%x: got %v, want %q", c.opus[:min(len(c.opus), 6)], err, c.want)
		}
	}
}

func FuzzInspect(f *testing.F) {
	f.Add(voice.OpusSilence[:])
	f.Add([]byte{31<<3 | 3, 3 | 64 | 128, 2, 1, 2, 3, 0, 0})
	f.Fuzz(func(t *testing.T, opus []byte) {
		s, err := voice.InspectOpus(opus)
		if err == nil && (s.Frames < 1 || s.Frames > 48 || s.Duration() > 120*time.Millisecond) {
			t.Fatalf("%+v", s)
		}
	})
}
