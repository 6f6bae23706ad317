package voice_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/voice"

	pion "github.com/pion/opus"
)

func TestSpeechSurvivesOpusAtEveryRate(t *testing.T) {
	t.Parallel()
	for _, in := range []int{16000, 22050, 24000, 44100, 48000} {
		opus := packets(t, in, tone(in, 440, 0.5, in))
		for _, out := range []int{16000, 24000, 48000} {
			t.Run(fmt.Sprintf("%d to %d", in, out), func(t *testing.T) {
				t.Parallel()
				got := decode(t, out, opus)
				if len(got) < out || len(got) > out*103/100 {
					t.Fatalf("one second became %d samples at %d Hz", len(got), out)
				}
				level := strength(got[out/4:out*3/4], out, 440)
				if db := decibels(level / 0.5); math.Abs(db) > 1 {
					t.Errorf("the tone comes out %.1f dB off", db)
				}
			})
		}
	}
}

func TestAnotherDecoderHearsTheSame(t *testing.T) {
	t.Parallel()
	want := tone(48000, 440, 0.5, 48000)
	d := pion.NewDecoder()
	var got []int16
	for _, p := range packets(t, 48000, want) {
		out := make([]float32, 2*5760)
		if _, stereo, err := d.DecodeFloat32(p, out); err != nil || stereo {
			t.Fatalf("stereo %v, %v", stereo, err)
		}
		for _, v := range out[:960] {
			got = append(got, int16(v*32767))
		}
	}
	if db := decibels(strength(got[12000:36000], 48000, 440) / 0.5); math.Abs(db) > 1 {
		t.Errorf("the tone comes out %.1f dB off", db)
	}
}

func TestALostPacketIsConcealed(t *testing.T) {
	t.Parallel()
	opus := packets(t, 48000, tone(48000, 440, 0.5, 48000))
	opus[20] = nil
	got := decode(t, 16000, opus)
	if want := len(opus) * 320; len(got) != want {
		t.Fatalf("got %d samples, want %d", len(got), want)
	}
	if _, rms := voice.Level(got[20*320 : 21*320]); rms < 0.05 {
		t.Errorf("the hole sounds at %.3f", rms)
	}
}

func TestWhatIsNoPacketIsAnErrorAndTheNextIsHeard(t *testing.T) {
	t.Parallel()
	d, err := voice.NewOpusDecoder(16000)
	check.Must(t, err)
	for _, bad := range [][]byte{{}, {0xFF}, {0xFB, 0x00}, make([]byte, 4000)} {
		check.Fails(t, check.Err(d.Decode(bad)), nil, "read an Opus packet: ")
	}
	if got, err := d.Decode(voice.OpusSilence[:]); err != nil || len(got) != 320 {
		t.Errorf("afterwards: %d samples, %v", len(got), err)
	}
}

func TestEncodersRefuseWhatTheyCannotTake(t *testing.T) {
	t.Parallel()
	check.Fails(t, check.Err(voice.NewOpusEncoder(100)), nil, "100 Hz", "rates are from 8000 to 192000 Hz")
	check.Fails(t, check.Err(voice.NewOpusDecoder(22050)), nil, "decode Opus to 22050 Hz")
	e, err := voice.NewOpusEncoder(24000)
	check.Must(t, err)
	check.Fails(t, check.Err(e.Encode(make([]int16, 481))), nil, "481 samples are more than the 480 of one packet")
	if p, err := e.Encode(nil); err != nil || len(p) == 0 {
		t.Errorf("nothing gives %x, %v", p, err)
	}
}

func TestAPackerKeepsWhatIsLeft(t *testing.T) {
	t.Parallel()
	p, err := voice.NewOpusPacker(24000)
	check.Must(t, err)
	var got int
	for range 10 {
		out, err := p.Write(make([]int16, 100))
		check.Must(t, err)
		got += len(out)
	}
	check.Equal(t, "packets", got, 2)
	if last, err := p.Flush(); err != nil || last == nil {
		t.Errorf("the rest: %x, %v", last, err)
	}
	if last, err := p.Flush(); err != nil || last != nil {
		t.Errorf("the rest of the rest: %x, %v", last, err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, p := range packets(f, 48000, tone(48000, 440, 0.5, 4800)) {
		f.Add(p)
	}
	f.Add(voice.OpusSilence[:])
	f.Fuzz(func(t *testing.T, opus []byte) {
		d, err := voice.NewOpusDecoder(16000)
		check.Must(t, err)
		if opus == nil {
			opus = []byte{}
		}
		s, err := voice.InspectOpus(opus)
		got, decodeErr := d.Decode(opus)
		if err != nil && decodeErr == nil {
			t.Fatalf("refused by its shape and decoded all the same: %v", err)
		}
		if decodeErr == nil && len(got) != int(s.Duration().Microseconds()*16/1000) {
			t.Fatalf("%d samples of %v", len(got), s.Duration())
		}
		if _, err := d.Decode(nil); err != nil {
			t.Fatalf("afterwards: %v", err)
		}
	})
}

// babble returns noise whose loudness goes up and down like that of syllables.
func babble(rate, n int) []int16 {
	r := rand.New(rand.NewPCG(1, 2))
	s := make([]int16, n)
	low := 0.0
	for i := range s {
		low = 0.8*low + 0.2*(r.Float64()*2-1)
		s[i] = int16(20000 * low * (0.5 + 0.5*math.Sin(2*math.Pi*4*float64(i)/float64(rate))))
	}
	return s
}

func TestAPacketTellsHowLongItSounds(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for _, c := range []struct {
		name string
		opus []byte
		want voice.OpusShape
	}{
		{"silence", voice.OpusSilence[:], voice.OpusShape{Config: 31, Frames: 1, FrameTime: 20 * ms}},
		{
			"nothing but a table of contents",
			[]byte{0xFC},
			voice.OpusShape{Config: 31, Stereo: true, Frames: 1, FrameTime: 20 * ms},
		},
		{"the shortest", []byte{16 << 3, 1}, voice.OpusShape{Config: 16, Frames: 1, FrameTime: 2500 * time.Microsecond}},
		{"SILK of 60 ms", []byte{3 << 3, 1}, voice.OpusShape{Config: 3, Frames: 1, FrameTime: 60 * ms}},
		{"hybrid of 10 ms", []byte{12 << 3, 1}, voice.OpusShape{Config: 12, Frames: 1, FrameTime: 10 * ms}},
		{"two equal", []byte{31<<3 | 1, 1, 2}, voice.OpusShape{Config: 31, Frames: 2, FrameTime: 20 * ms}},
		{"two different", []byte{31<<3 | 2, 1, 9, 8, 7}, voice.OpusShape{Config: 31, Frames: 2, FrameTime: 20 * ms}},
		{"three equal", []byte{31<<3 | 3, 3, 1, 2, 3}, voice.OpusShape{Config: 31, Frames: 3, FrameTime: 20 * ms}},
		{
			"three with padding",
			[]byte{31<<3 | 3, 3 | 64, 2, 1, 2, 3, 0, 0},
			voice.OpusShape{Config: 31, Frames: 3, FrameTime: 20 * ms},
		},
		{
			"three of their own lengths",
			[]byte{31<<3 | 3, 3 | 128, 1, 0, 9, 8, 8},
			voice.OpusShape{Config: 31, Frames: 3, FrameTime: 20 * ms},
		},
	} {
		got, err := voice.InspectOpus(c.opus)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		check.Diff(t, c.name, got, c.want)
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
		check.Fails(t, check.Err(voice.InspectOpus(c.opus)), nil, c.want)
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

// resample brings whole samples from one rate to another.
func resample(t *testing.T, samples []int16, from, to int) []int16 {
	t.Helper()
	r, err := voice.NewResampler(from, to)
	check.Must(t, err)
	return append(r.Write(samples), r.Flush()...)
}

func TestTonesKeepTheirLevelAndNothingFoldsBack(t *testing.T) {
	t.Parallel()
	for _, rates := range [][2]int{
		{48000, 16000},
		{48000, 24000},
		{24000, 48000},
		{22050, 48000},
		{44100, 16000},
		{16000, 22050},
	} {
		from, to := rates[0], rates[1]
		t.Run(fmt.Sprintf("%d to %d", from, to), func(t *testing.T) {
			t.Parallel()
			low := float64(min(from, to))
			for _, hertz := range []float64{100, 1000, low * 0.35} {
				got := resample(t, tone(from, hertz, 0.5, from), from, to)
				if len(got) < to-2 || len(got) > to+2 {
					t.Fatalf("one second became %d samples", len(got))
				}
				if db := decibels(strength(got[to/4:to*3/4], to, hertz) / 0.5); math.Abs(db) > 0.2 {
					t.Errorf("%.0f Hz comes out %.2f dB off", hertz, db)
				}
			}
			if to > from {
				return
			}
			for _, hertz := range []float64{low * 0.55, low * 0.8} { // none of it can be had at the lower rate
				got := resample(t, tone(from, hertz, 0.5, from), from, to)
				if _, rms := voice.Level(got[to/4 : to*3/4]); decibels(rms/0.35) > -60 {
					t.Errorf("%.0f Hz is left at %.1f dB", hertz, decibels(rms/0.35))
				}
			}
		})
	}
}

func TestUpsamplingLeavesNoImages(t *testing.T) {
	t.Parallel()
	got := resample(t, tone(16000, 3000, 0.5, 16000), 16000, 48000)
	for _, image := range []float64{13000, 19000} {
		if db := decibels(strength(got[12000:36000], 48000, image) / 0.5); db > -60 {
			t.Errorf("at %.0f Hz there is an image of %.1f dB", image, db)
		}
	}
}

func TestPiecesOfAnySizeGiveTheSame(t *testing.T) {
	t.Parallel()
	in := tone(22050, 700, 0.8, 5000)
	want := resample(t, in, 22050, 48000)
	r, err := voice.NewResampler(22050, 48000)
	check.Must(t, err)
	var got []int16
	for size := 1; len(in) > 0; size = size*3%257 + 1 {
		n := min(size, len(in))
		got = append(got, r.Write(in[:n])...)
		in = in[n:]
	}
	got = append(got, r.Flush()...)
	check.Diff(t, "flush", got, want)
}

func TestLoudSamplesAreCutAndNotTurnedRound(t *testing.T) {
	t.Parallel()
	in := make([]int16, 4000)
	for i := range in {
		in[i] = 32767
		if i/50%2 == 1 {
			in[i] = -32768
		}
	}
	got := resample(t, in, 24000, 48000)
	for i := 200; i < len(got)-200; i += 100 {
		if want := in[i/2+25] > 0; got[i+50] > 0 != want {
			t.Fatalf("sample %d is %d", i+50, got[i+50])
		}
	}
}

func TestRatesThatCannotBeAreRefused(t *testing.T) {
	t.Parallel()
	for _, rates := range [][2]int{{0, 16000}, {16000, -1}, {16000, 1 << 30}, {47999, 48000}} {
		check.Fails(t, check.Err(voice.NewResampler(rates[0], rates[1])), nil, "rate")
	}
}

func TestMusicIsEncodedInStereo(t *testing.T) {
	t.Parallel()
	e, err := voice.NewMusicEncoder()
	check.Must(t, err)
	left, right := tone(48000, 440, 0.5, 48000), tone(48000, 1320, 0.25, 48000)
	d, err := pion.NewDecoderWithOutput(48000, 2)
	check.Must(t, err)
	var gotLeft, gotRight []int16
	for from := 0; from < 48000; from += 960 {
		var piece []int16
		for i := from; i < from+960; i++ {
			piece = append(piece, left[i], right[i])
		}
		packet, err := e.Encode(piece)
		check.Must(t, err)
		out := make([]float32, 2*5760)
		_, stereo, err := d.DecodeFloat32(packet, out)
		if check.Must(t, err); !stereo {
			t.Fatal("a packet is mono")
		}
		for i := range 960 {
			gotLeft, gotRight = append(gotLeft, int16(out[2*i]*32767)), append(gotRight, int16(out[2*i+1]*32767))
		}
	}
	for _, c := range []struct {
		name       string
		samples    []int16
		hertz, amp float64
	}{{"left", gotLeft, 440, 0.5}, {"right", gotRight, 1320, 0.25}} {
		if db := decibels(strength(c.samples[12000:36000], 48000, c.hertz) / c.amp); math.Abs(db) > 1.5 {
			t.Errorf("%s comes out %.1f dB off", c.name, db)
		}
	}
	if db := decibels(strength(gotLeft[12000:36000], 48000, 1320)); db > -30 {
		t.Errorf("what is on the right is heard on the left, at %.1f dB", db)
	}
	check.Fails(t, check.Err(e.Encode(make([]int16, 1921))), nil, "1921 samples are more than the 1920 of one packet")
}

func BenchmarkMusic(b *testing.B) {
	e, err := voice.NewMusicEncoder()
	check.Must(b, err)
	piece := tone(96000, 440, 0.5, 1920)
	for b.Loop() {
		_, err := e.Encode(piece)
		check.Must(b, err)
	}
}
