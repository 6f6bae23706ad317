package voice_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os/exec"
	"strings"
	"testing"
	"testing/iotest"

	"clank/internal/test/check"
	"clank/voice"

	"github.com/google/go-cmp/cmp"
)

const opusHead = "OpusHead\x01\x01\x38\x01\x80\xbb\x00\x00\x00\x00\x00"

// header returns the beginning of a stream.
func header(serial uint32) string {
	return oggPage(2, serial, 0, []byte{19}, opusHead) +
		oggPage(0, serial, 0, []byte{16}, "OpusTags\x00\x00\x00\x00\x00\x00\x00\x00")
}

// readAll gives the packets of an Ogg stream.
func readAll(r io.Reader) ([][]byte, error) {
	o, err := voice.NewOggReader(r)
	if err != nil {
		return nil, err
	}
	var all [][]byte
	for {
		p, err := o.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, p)
	}
}

func written(tb testing.TB, packets []voice.Packet) []byte {
	tb.Helper()
	var b bytes.Buffer
	check.Must(tb, voice.WriteOgg(&b, packets))
	return b.Bytes()
}

func TestWhatWasWrittenAsOggIsReadAgain(t *testing.T) {
	t.Parallel()
	want := packets(t, 48000, babble(48000, 3*48000))
	got, err := readAll(iotest.OneByteReader(bytes.NewReader(written(t, stream(want)))))
	check.Must(t, err)
	check.Diff(t, "content", got, want)
}

func TestGapsAreFilledWithPacketsThatConceal(t *testing.T) {
	t.Parallel()
	in := stream(packets(t, 48000, babble(48000, 48000)))
	in = append(in[:10:10], in[20:]...) // 200 ms that were not sent
	in[5].Opus = nil                    // and one that is none
	got, err := readAll(bytes.NewReader(written(t, in)))
	check.Must(t, err)
	check.Equal(t, "len(got)", len(got), 50)
	for _, i := range []int{5, 10, 19} {
		if len(got[i]) != 1 {
			t.Errorf("packet %d has %d bytes, want a table of contents alone", i, len(got[i]))
		}
	}
}

func TestALongGapIsShortened(t *testing.T) {
	t.Parallel()
	in := stream(packets(t, 48000, babble(48000, 960*2)))
	in[1].Timestamp += 48000 * 3600
	got, err := readAll(bytes.NewReader(written(t, in)))
	if err != nil || len(got) != 252 {
		t.Errorf("got %d packets, %v; want 252", len(got), err)
	}
}

func TestFfmpegReadsOurOgg(t *testing.T) {
	t.Parallel()
	check.Installed(t, "ffmpeg")
	in := stream(packets(t, 48000, tone(48000, 440, 0.5, 48000)))
	in = append(in[:20:20], in[25:]...)
	cmd := exec.CommandContext(t.Context(), "ffmpeg", "-v", "error", "-i", "-", "-ar", "48000", "-ac", "1", "-f", "s16le",
		"-")
	cmd.Stdin = bytes.NewReader(written(t, in))
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil || complaints.Len() > 0 {
		t.Fatalf("ffmpeg: %v %s", err, complaints.String())
	}
	got := voice.ParsePCM(out)
	if len(got) < 47000 || len(got) > 48000 {
		t.Errorf("got %d samples, want one second less the beginning", len(got))
	}
	if db := decibels(strength(got[30000:46000], 48000, 440) / 0.5); db < -1 || db > 1 {
		t.Errorf("the tone comes out %.1f dB off", db)
	}
}

func TestWeReadTheOggOfFfmpeg(t *testing.T) {
	t.Parallel()
	check.Installed(t, "ffmpeg")
	cmd := exec.CommandContext(t.Context(), "ffmpeg", "-v", "error", "-f", "lavfi", "-i",
		"sine=440:duration=1:sample_rate=48000",
		"-c:a", "libopus", "-ac", "2", "-f", "ogg", "-")
	file, err := cmd.Output()
	check.Must(t, err)
	opus, err := readAll(bytes.NewReader(file))
	check.Must(t, err)
	got := decode(t, 16000, opus)
	// The tone has an eighth of full scale, and 3 dB less in each of two channels.
	if db := decibels(strength(got[4000:12000], 16000, 440) / 0.0884); db < -1 || db > 1 {
		t.Errorf("the tone comes out %.1f dB off", db)
	}
}

func TestPacketsOverPagesAndOtherStreamsAreSortedOut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 255)
	file := oggPage(2, 9, 0, []byte{7}, "\x80theora") + header(5) +
		oggPage(0, 9, 0, []byte{3}, "not") +
		oggPage(0, 5, 960, []byte{2, 255}, "ab"+long) +
		oggPage(1, 5, 1920, []byte{255, 1}, long+"y") +
		oggPage(1, 5, 2880, []byte{3, 1}, "endz") + // goes on with what never began
		oggPage(0, 5, 2880, []byte{255}, long) + // begins what never goes on
		oggPage(4, 5, 3840, []byte{1, 0}, "q") +
		header(6) + oggPage(4, 6, 960, []byte{4}, "next") // another, after the first
	got, err := readAll(strings.NewReader(file))
	check.Must(t, err)
	want := [][]byte{[]byte("ab"), []byte(long + long + "y"), []byte("z"), []byte("q"), []byte("next")}
	check.Diff(t, "content", got, want)
}

func TestOggThatCannotBeReadSaysWhy(t *testing.T) {
	t.Parallel()
	good := string(written(t, stream(packets(t, 48000, babble(48000, 48000)))))
	huge := header(1) + oggPage(0, 1, 0, bytes.Repeat([]byte{255}, 255), strings.Repeat("x", 255*255))
	surround := strings.Replace(opusHead, "\x01\x01\x38", "\x01\x06\x38", 1)
	for want, file := range map[string]string{
		"unexpected EOF":         "",
		"within a page":          good[:len(good)-5],
		"no page":                "RIFF" + good,
		"damaged":                good[:200] + "\x00\x00\x00" + good[203:],
		"6 channels":             oggPage(2, 1, 0, []byte{19}, surround),
		"none of Opus":           oggPage(2, 1, 0, []byte{9}, "OpusHead\x01"),
		"comments are missing":   oggPage(2, 1, 0, []byte{19}, opusHead) + oggPage(0, 1, 0, []byte{2}, "hm"),
		"packet is too long":     huge,
		"network is unreachable": "",
	} {
		r := io.Reader(strings.NewReader(file))
		if want == "network is unreachable" {
			r = iotest.ErrReader(errors.New(want))
		}
		check.Fails(t, check.Err(readAll(r)), nil, want)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no room") }

func TestAFileThatCannotBeWrittenIsAnError(t *testing.T) {
	t.Parallel()
	check.Fails(t, voice.WriteOgg(full{}, nil), nil, "write Ogg Opus: no room")
	check.Fails(t, voice.WriteWAV(full{}, 16000, nil), nil, "write WAV: no room")
}

func FuzzOgg(f *testing.F) {
	f.Add([]byte(header(1) + oggPage(4, 1, 960, []byte{3}, "\xf8\xff\xfe")))
	f.Add(written(f, stream(packets(f, 48000, babble(48000, 9600)))))
	f.Fuzz(func(t *testing.T, file []byte) {
		all, err := readAll(bytes.NewReader(file))
		total := 0
		for _, p := range all {
			total += len(p)
		}
		if total > len(file) {
			t.Fatalf("%d bytes out of %d, %v", total, len(file), err)
		}
	})
}

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
	check.Must(tb, voice.WriteWAV(&b, rate, samples))
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
	check.Must(t, err)
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
	check.Must(t, err)
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
	check.Fails(t, voice.WriteWAV(io.Discard, 0, nil), nil, "0 Hz")
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

// tone returns a sine of n samples.
func tone(rate int, hertz, amplitude float64, n int) []int16 {
	s := make([]int16, n)
	for i := range s {
		s[i] = int16(amplitude * 32767 * math.Sin(2*math.Pi*hertz*float64(i)/float64(rate)))
	}
	return s
}

// strength returns the amplitude of one frequency in samples, by correlation with it.
func strength(samples []int16, rate int, hertz float64) float64 {
	var re, im float64
	for i, s := range samples {
		w := 2 * math.Pi * hertz * float64(i) / float64(rate)
		re += float64(s) / 32768 * math.Cos(w)
		im += float64(s) / 32768 * math.Sin(w)
	}
	return 2 * math.Hypot(re, im) / float64(len(samples))
}

func decibels(ratio float64) float64 { return 20 * math.Log10(ratio) }

// packets encodes samples.
func packets(tb testing.TB, rate int, samples []int16) [][]byte {
	tb.Helper()
	p, err := voice.NewOpusPacker(rate)
	check.Must(tb, err)
	out, err := p.Write(samples)
	check.Must(tb, err)
	last, err := p.Flush()
	check.Must(tb, err)
	if last != nil {
		out = append(out, last)
	}
	return out
}

// decode gives the samples of packets at rate; nil packets are lost ones.
func decode(tb testing.TB, rate int, packets [][]byte) []int16 {
	tb.Helper()
	d, err := voice.NewOpusDecoder(rate)
	check.Must(tb, err)
	var out []int16
	for _, p := range packets {
		s, err := d.Decode(p)
		check.Must(tb, err)
		out = append(out, s...)
	}
	return out
}

// stream dates packets of 20 ms, one after the other.
func stream(opus [][]byte) []voice.Packet {
	out := make([]voice.Packet, len(opus))
	for i, o := range opus {
		out[i] = voice.Packet{
			From: "ada", Sequence: uint16(65530 + i), Timestamp: math.MaxUint32 - 2000 + uint32(i)*960,
			Opus: o,
		}
	}
	return out
}

// oggSum returns the checksum of an Ogg page, bit by bit.
func oggSum(page []byte) uint32 {
	var c uint32
	for _, b := range page {
		c ^= uint32(b) << 24
		for range 8 {
			if c&(1<<31) != 0 {
				c = c<<1 ^ 0x04C11DB7
			} else {
				c <<= 1
			}
		}
	}
	return c
}

// oggPage makes a page.
func oggPage(flags byte, serial uint32, granule uint64, segments []byte, body string) string {
	b := append([]byte("OggS"), 0, flags)
	b = binary.LittleEndian.AppendUint64(b, granule)
	b = binary.LittleEndian.AppendUint32(b, serial)
	b = append(b, make([]byte, 8)...)
	b = append(b, byte(len(segments)))
	b = append(append(b, segments...), body...)
	binary.LittleEndian.PutUint32(b[22:], oggSum(b))
	return string(b)
}
