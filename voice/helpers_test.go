package voice_test

import (
	"encoding/binary"
	"math"
	"testing"

	"clank/voice"
)

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
	if err != nil {
		tb.Fatal(err)
	}
	out, err := p.Write(samples)
	if err != nil {
		tb.Fatal(err)
	}
	last, err := p.Flush()
	if err != nil {
		tb.Fatal(err)
	}
	if last != nil {
		out = append(out, last)
	}
	return out
}

// decode gives the samples of packets at rate; nil packets are lost ones.
func decode(tb testing.TB, rate int, packets [][]byte) []int16 {
	tb.Helper()
	d, err := voice.NewOpusDecoder(rate)
	if err != nil {
		tb.Fatal(err)
	}
	var out []int16
	for _, p := range packets {
		s, err := d.Decode(p)
		if err != nil {
			tb.Fatal(err)
		}
		out = append(out, s...)
	}
	return out
}

// stream dates packets of 20 ms, one after the other.
func stream(opus [][]byte) []voice.Packet {
	out := make([]voice.Packet, len(opus))
	for i, o := range opus {
		out[i] = voice.Packet{From: "ada", Sequence: uint16(65530 + i), Timestamp: math.MaxUint32 - 2000 + uint32(i)*960, Opus: o}
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
