package voice_test

import (
	"fmt"
	"math"
	"strconv"
	"testing"

	"clank/voice"

	"github.com/google/go-cmp/cmp"
)

func TestTonesKeepTheirLevelAndNothingFoldsBack(t *testing.T) {
	t.Parallel()
	for _, rates := range [][2]int{{48000, 16000}, {48000, 24000}, {24000, 48000}, {22050, 48000}, {44100, 16000}, {16000, 22050}} {
		from, to := rates[0], rates[1]
		t.Run(fmt.Sprintf("%d to %d", from, to), func(t *testing.T) {
			t.Parallel()
			low := float64(min(from, to))
			for _, hertz := range []float64{100, 1000, low * 0.35} {
				got, err := voice.Resample(tone(from, hertz, 0.5, from), from, to)
				if err != nil {
					t.Fatal(err)
				}
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
				got, err := voice.Resample(tone(from, hertz, 0.5, from), from, to)
				if err != nil {
					t.Fatal(err)
				}
				if _, rms := voice.Level(got[to/4 : to*3/4]); decibels(rms/0.35) > -60 {
					t.Errorf("%.0f Hz is left at %.1f dB", hertz, decibels(rms/0.35))
				}
			}
		})
	}
}

func TestUpsamplingLeavesNoImages(t *testing.T) {
	t.Parallel()
	got, err := voice.Resample(tone(16000, 3000, 0.5, 16000), 16000, 48000)
	if err != nil {
		t.Fatal(err)
	}
	for _, image := range []float64{13000, 19000} {
		if db := decibels(strength(got[12000:36000], 48000, image) / 0.5); db > -60 {
			t.Errorf("at %.0f Hz there is an image of %.1f dB", image, db)
		}
	}
}

func TestPiecesOfAnySizeGiveTheSame(t *testing.T) {
	t.Parallel()
	in := tone(22050, 700, 0.8, 5000)
	want, err := voice.Resample(in, 22050, 48000)
	if err != nil {
		t.Fatal(err)
	}
	r, err := voice.NewResampler(22050, 48000)
	if err != nil {
		t.Fatal(err)
	}
	var got []int16
	for size := 1; len(in) > 0; size = size*3%257 + 1 {
		n := min(size, len(in))
		got = append(got, r.Write(in[:n])...)
		in = in[n:]
	}
	got = append(got, r.Flush()...)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
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
	got, err := voice.Resample(in, 24000, 48000)
	if err != nil {
		t.Fatal(err)
	}
	for i := 200; i < len(got)-200; i += 100 {
		if want := in[i/2+25] > 0; got[i+50] > 0 != want {
			t.Fatalf("sample %d is %d", i+50, got[i+50])
		}
	}
}

func TestRatesThatCannotBeAreRefused(t *testing.T) {
	t.Parallel()
	for _, rates := range [][2]int{{0, 16000}, {16000, -1}, {16000, 1 << 30}, {47999, 48000}} {
		if _, err := voice.NewResampler(rates[0], rates[1]); err == nil {
			t.Errorf("%v was taken", rates)
		}
	}
	if got, err := voice.Resample([]int16{1, 2}, 16000, 16000); err != nil || len(got) != 2 {
		t.Errorf("the same rate: %v, %v", got, err)
	}
}

func BenchmarkResample(b *testing.B) {
	in := tone(48000, 440, 0.5, 48000)
	for _, to := range []int{16000, 22050, 24000} {
		b.Run(strconv.Itoa(to), func(b *testing.B) {
			r, err := voice.NewResampler(48000, to)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				r.Write(in)
			}
		})
	}
}
