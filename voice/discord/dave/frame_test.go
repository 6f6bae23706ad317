package dave_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/voice/discord/dave"
)

var start = time.Unix(1_800_000_000, 0)

func send(t *testing.T, s *dave.Stream, c dave.Codec, frame []byte) []byte {
	t.Helper()
	sent, err := s.Send(c, frame)
	check.Must(t, err)
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
		"opus":          {dave.Opus, []byte("abc"), nil},
		"vp8 key":       {dave.VP8, []byte("\x10bcdefghijkl"), []byte("\x10bcdefghij")},
		"vp8 short key": {dave.VP8, []byte("\x10b"), []byte("\x10b")},
		"vp8 delta":     {dave.VP8, []byte("\x11bcdefghijkl"), []byte("\x11")},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := dave.Readable(c.codec, c.frame); !bytes.Equal(got, c.want) {
				t.Errorf("got %x, want %x", got, c.want)
			}
		})
	}
}

func TestAnEmptyFrameCannotBeEncrypted(t *testing.T) {
	t.Parallel()
	for _, codec := range []dave.Codec{dave.Opus, dave.VP8} {
		check.Fails(t, check.Err(dave.NewStream().Send(codec, nil)), nil, "encrypt a frame: it is empty")
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
				check.Fails(t, check.Err(s.Receive(changed, start)), nil, "decrypt a frame: it is not ")
			}
		}
		for n := range sent {
			check.Fails(t, check.Err(s.Receive(sent[:n], start)), nil, "it is not encrypted, and it should be")
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
	for _, data := range [][]byte{
		nil,
		{0x80},
		{0xFF, 0xFF, 0xFF, 0xFF, 0x1F},
		{0x80, 0x80, 0x80, 0x80, 0x80, 1},
		{0x80, 0x80, 0x80, 0x80, 0x80, 0},
	} {
		if v, _, ok := dave.ReadLEB(data); ok {
			t.Errorf("%x is read as %d", data, v)
		}
	}
}

func FuzzFrame(f *testing.F) {
	s := dave.NewStream()
	for codec, frame := range frames {
		sent, err := s.Send(codec, frame)
		check.Must(f, err)
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

// FuzzEncrypt has any bytes encrypted as frames of each codec; what comes back is what was sent.
func FuzzEncrypt(f *testing.F) {
	f.Add(0, []byte("opus"))
	f.Add(1, frames[dave.VP8])
	f.Fuzz(func(t *testing.T, codec int, frame []byte) {
		c := dave.Codec(codec & 1)
		s := dave.NewStream()
		sent, err := s.Send(c, frame)
		if err != nil {
			return
		}
		got, err := s.Receive(sent, start)
		if err != nil {
			t.Fatalf("codec %d: %x does not come back: %v", c, frame, err)
		}
		if !bytes.Equal(got, frame) {
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
			check.Must(b, check.Err(s.Send(c, frame)))
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
			check.Must(b, err)
			check.Must(b, check.Err(s.Receive(sent, start)))
		}
	})
}

func TestAStreamGoesOnForEver(t *testing.T) {
	t.Parallel()
	s := dave.NewStream()
	now := start
	for _, n := range []uint64{0, 1<<24 - 3, 1<<25 - 2, 3 << 24, 200 << 24, 1<<32 - 4, 300 << 24, 400 << 24, 1<<33 - 3} {
		s.Skip(n)
		for range 6 {
			sent := send(t, s, dave.Opus, frames[dave.Opus])
			if got, err := s.Receive(sent, now); err != nil || !bytes.Equal(got, frames[dave.Opus]) {
				t.Fatalf("after frame %d: %x, %v", n, got, err)
			}
		}
		now = now.Add(time.Minute)
	}
	check.Must(t, check.Err(s.Receive(send(t, s, dave.Opus, frames[dave.Opus]), now)))
	if got := s.Keys(); got > 2 {
		t.Errorf("%d keys are kept, want those of the last moments", got)
	}
}

func TestStragglersOfTheLastKeyAreHeardForAWhile(t *testing.T) {
	t.Parallel()
	s := dave.NewStream()
	s.Skip(1<<24 - 4)
	var sent [6][]byte
	for i := range sent {
		sent[i] = send(t, s, dave.Opus, frames[dave.Opus])
	}
	for _, step := range []struct {
		frame int
		after time.Duration
		heard bool
	}{{5, 0, true}, {0, time.Second, true}, {1, 9 * time.Second, true}, {2, 11 * time.Second, false}} {
		_, err := s.Receive(sent[step.frame], start.Add(step.after))
		if heard := err == nil; heard != step.heard {
			t.Errorf("frame %d after %v: %v, want heard %v", step.frame, step.after, err, step.heard)
		}
	}
}

func TestAFrameIsHeardOnce(t *testing.T) {
	t.Parallel()
	s := dave.NewStream()
	var sent [2000][]byte
	for i := range sent {
		sent[i] = send(t, s, dave.Opus, frames[dave.Opus])
	}
	heard := func(i int, want bool) {
		t.Helper()
		if _, err := s.Receive(sent[i], start); (err == nil) != want {
			t.Errorf("frame %d: %v, want heard %v", i, err, want)
		}
	}
	heard(10, true)
	heard(10, false)
	heard(3, true) // came late
	heard(3, false)
	heard(1500, true)
	heard(10, false) // too old to know
	heard(11, false)
	heard(1499, true)
	heard(1499, false)
	heard(1500, false)
	heard(1501, true)
	heard(1999, true)
	heard(1500, false)
	heard(1498, true)
}

func TestAFrameFarAheadIsRefused(t *testing.T) {
	t.Parallel()
	s := dave.NewStream()
	check.Must(t, check.Err(s.Receive(send(t, s, dave.Opus, frames[dave.Opus]), start)))
	s.Skip(252 << 24)
	check.Fails(t, check.Err(s.Receive(send(t, s, dave.Opus, frames[dave.Opus]), start)),
		nil, "its key is gone, or too far ahead")
	if got := s.Keys(); got != 1 {
		t.Errorf("%d keys were made for it", got-1)
	}
}

func TestASenderWhoRushesThroughKeysFillsNoMemory(t *testing.T) {
	t.Parallel()
	s := dave.NewStream()
	for n := range uint64(50) {
		s.Skip(n * 120 << 24)
		check.Must(t, check.Err(s.Receive(send(t, s, dave.Opus, frames[dave.Opus]), start)))
	}
	if got := s.Keys(); got > 16 {
		t.Errorf("%d keys are kept of one who uses each for a frame", got)
	}
}

func TestCodesAreShownAsDiscordDoes(t *testing.T) {
	t.Parallel()
	data := []byte{0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0, 0, 0, 0, 7, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}
	// 0xAABBCCDDEE is 733295205870, 0xFFFFFFFFFF is 1099511627775.
	check.Equal(t, "display", dave.Display(data, 3), "05870 00007 27775")
	check.Equal(t, "code of too little data", dave.Display(data, 4), "")
}
