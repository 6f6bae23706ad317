package voice_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"clank/voice"

	"github.com/google/go-cmp/cmp"
)

func readWAV(r io.Reader) (rate int, samples []int16, err error) {
	w, err := voice.NewWAVReader(r)
	if err != nil {
		return 0, nil, err
	}
	for {
		s, err := w.Read(7)
		if errors.Is(err, io.EOF) {
			return w.Rate, samples, nil
		}
		if err != nil {
			return w.Rate, samples, err
		}
		samples = append(samples, s...)
	}
}

func wav(tb testing.TB, rate int, samples []int16) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := voice.WriteWAV(&b, rate, samples); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func TestWhatWasWrittenAsWAVIsReadAgain(t *testing.T) {
	t.Parallel()
	want := []int16{0, 1, -1, 32767, -32768, 5, 6, 7, 8, 9}
	rate, got, err := readWAV(iotest.OneByteReader(bytes.NewReader(wav(t, 16000, want))))
	if err != nil || rate != 16000 {
		t.Fatalf("rate %d, %v", rate, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestALengthThatIsNotTrueDoesNoHarm(t *testing.T) {
	t.Parallel()
	file := wav(t, 22050, []int16{1, 2, 3})
	binary.LittleEndian.PutUint32(file[40:], 0x7FFFF000) // as espeak-ng writes it into a pipe
	_, got, err := readWAV(bytes.NewReader(append(file, 9)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int16{1, 2, 3}, got); diff != "" {
		t.Error(diff)
	}
}

func TestStereoIsMixedAndOtherChunksArePassedOver(t *testing.T) {
	t.Parallel()
	file := wav(t, 48000, []int16{100, 200, -100, -300, 7})
	binary.LittleEndian.PutUint16(file[22:], 2)
	file = append(append(bytes.Clone(file[:36]), "LIST\x03\x00\x00\x00abc\x00"...), file[36:]...)
	_, got, err := readWAV(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int16{150, -200}, got); diff != "" {
		t.Error(diff)
	}
}

func TestWAVThatCannotBeReadSaysWhy(t *testing.T) {
	t.Parallel()
	good := string(wav(t, 16000, []int16{1}))
	for want, file := range map[string]string{
		"unexpected EOF":              "RIFF",
		"it is none":                  "OggS" + good[4:],
		"16-bit PCM is needed":        good[:20] + "\x03" + good[21:],
		"does not say what":           good[:12] + good[36:],
		"cannot be read":              good[:16] + "\xff\xff" + good[18:],
		"a rate of 0 Hz":              good[:24] + "\x00\x00\x00\x00" + good[28:],
		"there is no sound":           good[:12] + strings.Repeat("junk\x00\x00\x00\x00", 64),
		"16-bit PCM is needed, again": good[:22] + "\x00" + good[23:],
	} {
		want = strings.TrimSuffix(want, ", again")
		if _, _, err := readWAV(strings.NewReader(file)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if err := voice.WriteWAV(io.Discard, 0, nil); err == nil {
		t.Error("a rate of 0 Hz was written")
	}
}

func TestTheLevelOfSamples(t *testing.T) {
	t.Parallel()
	if peak, rms := voice.Level(nil); peak != 0 || rms != 0 {
		t.Errorf("of nothing: %v, %v", peak, rms)
	}
	peak, rms := voice.Level([]int16{16384, -16384})
	if peak != 0.5 || rms != 0.5 {
		t.Errorf("of half: %v, %v", peak, rms)
	}
}

func FuzzWAV(f *testing.F) {
	f.Add(wav(f, 16000, []int16{1, 2, 3}))
	f.Fuzz(func(t *testing.T, file []byte) {
		_, samples, _ := readWAV(bytes.NewReader(file))
		if len(samples)*2 > len(file) {
			t.Fatalf("%d samples out of %d bytes", len(samples), len(file))
		}
	})
}
