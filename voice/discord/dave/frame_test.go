package dave_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"clank/voice/discord/dave"
)

var start = time.Unix(1_800_000_000, 0)

func send(t *testing.T, s *dave.Stream, c dave.Codec, frame []byte) []byte {
	t.Helper()
	sent, err := s.Send(c, frame)
	if err != nil {
		t.Fatal(err)
	}
	return sent
}

func TestAKeyFrameOfVP8HasItsHeaderReadable(t *testing.T) {
	t.Parallel()
	s := dave.NewStream()
	frame := frames[dave.VP8]
	sent := send(t, s, dave.VP8, frame)
	if !bytes.Equal(sent[:10], frame[:10]) || bytes.Contains(sent, frame[10:20]) {
		t.Errorf("sent %x, want the first ten bytes of %x readable and no more", sent, frame)
	}
	trailer := sent[len(frame)+8:]
	if want := []byte{1, 0, 10, 14, 0xFA, 0xFA}; !bytes.Equal(trailer, want) {
		t.Errorf("behind the tag there is %x, want %x: nonce, range, size, marker", trailer, want)
	}
	got, err := s.Receive(sent, start)
	if err != nil || !bytes.Equal(got, frame) {
		t.Errorf("received %x, %v; want %x", got, err, frame)
	}
}

func TestWhatStaysReadable(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		codec       dave.Codec
		frame, want []byte
	}{
		"opus":            {dave.Opus, []byte("abc"), nil},
		"other":           {dave.Other, []byte("abc"), nil},
		"vp8 key":         {dave.VP8, []byte("\x10bcdefghijkl"), []byte("\x10bcdefghij")},
		"vp8 short key":   {dave.VP8, []byte("\x10b"), []byte("\x10b")},
		"vp8 delta":       {dave.VP8, []byte("\x11bcdefghijkl"), []byte("\x11")},
		"h264 parameters": {dave.H264, []byte{0, 0, 1, 0x67, 1, 2, 0, 0, 0, 1, 0x68, 3}, []byte{0, 0, 0, 1, 0x67, 1, 2, 0, 0, 0, 1, 0x68, 3}},
		// 1, 1, 1: three values of one bit each
		"h264 slice":         {dave.H264, []byte{0, 0, 0, 1, 0x65, 0xE0, 7, 8}, []byte{0, 0, 0, 1, 0x65, 0xE0}},
		"h264 delimiter":     {dave.H264, []byte{0, 0, 0, 1, 9, 0x10, 0, 0, 1, 0x41, 0xE0, 7}, []byte{0, 0, 0, 1, 0x41, 0xE0}},
		"h264 long values":   {dave.H264, []byte{0, 0, 1, 0x41, 0x04, 0x08, 0x10, 0x80, 7}, []byte{0, 0, 0, 1, 0x41, 0x04, 0x08, 0x10, 0x80}},
		"h264 short slice":   {dave.H264, []byte{0, 0, 1, 0x41}, []byte{0, 0, 0, 1, 0x41}},
		"h264 protected run": {dave.H264, []byte{0, 0, 1, 0x41, 0, 0, 3, 0x01, 0x00, 0x00, 0x7F, 0xFF, 7}, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := dave.Readable(c.codec, c.frame)
			if err != nil {
				t.Fatal(err)
			}
			if c.want != nil && !bytes.Equal(got, c.want) || c.codec < dave.VP8 && len(got) != 0 {
				t.Errorf("got %x, want %x", got, c.want)
			}
		})
	}
}

func TestFramesThatCannotBeEncrypted(t *testing.T) {
	t.Parallel()
	many := bytes.Repeat([]byte{0, 0, 0, 1, 0x65, 0xE0, 7, 8, 9}, 100)
	for name, c := range map[string]struct {
		codec dave.Codec
		frame []byte
	}{"empty": {dave.Opus, nil}, "no units": {dave.H264, []byte("no start code")}, "too many slices": {dave.H264, many}} {
		if sent, err := dave.NewStream().Send(c.codec, c.frame); err == nil {
			t.Errorf("%s: sent %x, want an error", name, sent)
		}
	}
}

func TestNoStartCodeArisesInH264(t *testing.T) {
	t.Parallel()
	s := dave.NewStream()
	for n := range 1500 {
		frame := h264Frame(n)
		sent := send(t, s, dave.H264, frame)
		if dave.HasStartCode(sent) {
			t.Fatalf("frame %d has a start code where it is encrypted", n)
		}
		if got, err := s.Receive(sent, start); err != nil || !bytes.Equal(got, frame) {
			t.Fatalf("frame %d: received %x, %v; want %x", n, got, err, frame)
		}
	}
}

func TestAFrameThatWasChangedIsRefused(t *testing.T) {
	t.Parallel()
	for codec, frame := range frames {
		s := dave.NewStream()
		sent := send(t, s, codec, frame)
		for i := range sent {
			for _, flip := range []byte{1, 0x80} {
				changed := bytes.Clone(sent)
				changed[i] ^= flip
				if got, err := s.Receive(changed, start); err == nil {
					t.Errorf("byte %d changed: received %x", i, got)
				}
			}
		}
		for n := range sent {
			if got, err := s.Receive(sent[:n], start); err == nil {
				t.Errorf("cut to %d bytes: received %x", n, got)
			}
		}
		if got, err := s.Receive(sent, start); err != nil || !bytes.Equal(got, frame) {
			t.Errorf("after all that, the frame itself: %x, %v", got, err)
		}
	}
}

func TestRangesMustFitTheFrame(t *testing.T) {
	t.Parallel()
	tag := make([]byte, 8)
	trailer := func(rest ...byte) []byte {
		b := slices.Concat([]byte("frame"), tag, rest)
		return append(b, byte(len(tag)+len(rest)+3), 0xFA, 0xFA)
	}
	for name, c := range map[string]struct {
		frame []byte
		want  bool
	}{
		"none":           {trailer(1), true},
		"all":            {trailer(1, 0, 5), true},
		"two":            {trailer(1, 0, 1, 3, 2), true},
		"past the end":   {trailer(1, 0, 6), false},
		"into the tag":   {trailer(1, 5, 1), false},
		"overlapping":    {trailer(1, 0, 3, 2, 1), false},
		"backwards":      {trailer(1, 3, 1, 0, 1), false},
		"half":           {trailer(1, 0), false},
		"huge":           {trailer(1, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F), false},
		"endless":        {trailer(0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF), false},
		"size too large": {append([]byte("frame and more"), 200, 0xFA, 0xFA), false},
		"size too small": {append([]byte("frame and more"), 3, 0xFA, 0xFA), false},
		"no marker":      {append([]byte("frame and more"), 12, 0xFA, 0xFB), false},
		"empty":          {nil, false},
	} {
		if _, _, got := dave.Parse(c.frame); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestNumbersGoThereAndBack(t *testing.T) {
	t.Parallel()
	for _, v := range []uint32{0, 1, 127, 128, 16383, 16384, 1<<24 - 1, 1 << 31, 1<<32 - 1} {
		encoded, back, rest, ok := dave.LEB(v)
		if !ok || back != v || len(rest) != 0 {
			t.Errorf("%d is %x and comes back as %d, %v", v, encoded, back, ok)
		}
	}
	for _, data := range [][]byte{nil, {0x80}, {0xFF, 0xFF, 0xFF, 0xFF, 0x1F}, {0x80, 0x80, 0x80, 0x80, 0x80, 1}} {
		if v, _, ok := dave.ReadLEB(data); ok {
			t.Errorf("%x is read as %d", data, v)
		}
	}
}

func FuzzFrame(f *testing.F) {
	s := dave.NewStream()
	for codec, frame := range frames {
		sent, err := s.Send(codec, frame)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(sent)
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		readable, secret, ok := dave.Parse(frame)
		if ok && readable+secret > len(frame)-12 {
			t.Errorf("%d and %d bytes of a frame of %d", readable, secret, len(frame))
		}
		if _, err := dave.NewStream().Receive(frame, start); err == nil {
			// A frame of the seeds may come through as it is: that one is authentic.
			if !ok {
				t.Error("what is no protected frame was decrypted")
			}
		}
	})
}

func FuzzLEB(f *testing.F) {
	f.Add([]byte{0x80, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		v, rest, ok := dave.ReadLEB(data)
		if !ok {
			return
		}
		if _, back, _, ok := dave.LEB(v); !ok || back != v || len(rest) >= len(data) {
			t.Errorf("%x is read as %d and written as %d", data, v, back)
		}
	})
}

// FuzzEncrypt has any bytes encrypted as frames of each codec; what comes back is what was sent, or for H264 the same units.
func FuzzEncrypt(f *testing.F) {
	f.Add(0, []byte("opus"))
	f.Add(1, frames[dave.VP8])
	f.Add(2, h264Frame(1))
	f.Fuzz(func(t *testing.T, codec int, frame []byte) {
		c := dave.Codec(codec & 3)
		s := dave.NewStream()
		sent, err := s.Send(c, frame)
		if err != nil {
			return
		}
		got, err := s.Receive(sent, start)
		if err != nil {
			t.Fatalf("codec %d: %x does not come back: %v", c, frame, err)
		}
		if c != dave.H264 && !bytes.Equal(got, frame) {
			t.Errorf("codec %d: got %x, want %x", c, got, frame)
		}
	})
}

func BenchmarkOpus(b *testing.B)    { benchmark(b, dave.Opus, 120) }
func BenchmarkPicture(b *testing.B) { benchmark(b, dave.VP8, 60_000) }

func benchmark(b *testing.B, c dave.Codec, size int) {
	b.Helper()
	frame := make([]byte, size)
	b.Run("encrypt", func(b *testing.B) {
		s := dave.NewStream()
		b.SetBytes(int64(size))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := s.Send(c, frame); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decrypt", func(b *testing.B) {
		s := dave.NewStream()
		b.SetBytes(int64(size))
		b.ReportAllocs()
		for b.Loop() {
			b.StopTimer()
			sent, err := s.Send(c, frame)
			b.StartTimer()
			if err != nil {
				b.Fatal(err)
			}
			if _, err := s.Receive(sent, start); err != nil {
				b.Fatal(err)
			}
		}
	})
}
