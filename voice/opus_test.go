package voice_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

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

func TestPacketsAreTwentyMillisecondsEach(t *testing.T) {
	t.Parallel()
	for i, p := range packets(t, 22050, tone(22050, 300, 0.3, 22050)) {
		if s, err := voice.InspectOpus(p); err != nil || s.Duration().Milliseconds() != 20 {
			t.Fatalf("packet %d: %+v, %v", i, s, err)
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
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range [][]byte{{}, {0xFF}, {0xFB, 0x00}, make([]byte, 4000)} {
		if _, err := d.Decode(bad); err == nil {
			t.Errorf("% x… was decoded", bad[:min(4, len(bad))])
		}
	}
	if got, err := d.Decode(voice.OpusSilence[:]); err != nil || len(got) != 320 {
		t.Errorf("afterwards: %d samples, %v", len(got), err)
	}
}

func TestEncodersRefuseWhatTheyCannotTake(t *testing.T) {
	t.Parallel()
	if _, err := voice.NewOpusEncoder(100); err == nil {
		t.Error("an encoder for 100 Hz")
	}
	if _, err := voice.NewOpusDecoder(22050); err == nil {
		t.Error("a decoder for 22050 Hz")
	}
	e, err := voice.NewOpusEncoder(24000)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Encode(make([]int16, 481)); err == nil {
		t.Error("more than one packet was taken")
	}
	if p, err := e.Encode(nil); err != nil || len(p) == 0 {
		t.Errorf("nothing gives %x, %v", p, err)
	}
}

func TestAPackerKeepsWhatIsLeft(t *testing.T) {
	t.Parallel()
	p, err := voice.NewOpusPacker(24000)
	if err != nil {
		t.Fatal(err)
	}
	var got int
	for range 10 {
		out, err := p.Write(make([]int16, 100))
		if err != nil {
			t.Fatal(err)
		}
		got += len(out)
	}
	if got != 2 {
		t.Errorf("1000 samples gave %d packets, want 2", got)
	}
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
		if err != nil {
			t.Fatal(err)
		}
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

// BenchmarkHear measures decoding one second of a person's speech for a recogniser.
func BenchmarkHear(b *testing.B) {
	opus := packets(b, 48000, babble(48000, 48000))
	for _, rate := range []int{16000, 24000, 48000} {
		b.Run(strconv.Itoa(rate), func(b *testing.B) {
			d, err := voice.NewOpusDecoder(rate)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				for _, p := range opus {
					if _, err := d.Decode(p); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// BenchmarkSpeak measures encoding one second of our speech.
func BenchmarkSpeak(b *testing.B) {
	for _, rate := range []int{16000, 22050, 24000, 48000} {
		b.Run(strconv.Itoa(rate), func(b *testing.B) {
			p, err := voice.NewOpusPacker(rate)
			if err != nil {
				b.Fatal(err)
			}
			speech := babble(rate, rate)
			for b.Loop() {
				if _, err := p.Write(speech); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
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
