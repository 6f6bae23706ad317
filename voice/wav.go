package voice

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// WriteWAV writes mono samples as a WAV file of 16-bit ParsePCM.
func WriteWAV(w io.Writer, rate int, samples []int16) error {
	if rate <= 0 || rate > math.MaxInt32/2 || len(samples) > (math.MaxInt32-64)/2 {
		return fmt.Errorf("write WAV: %d samples at %d Hz do not fit", len(samples), rate)
	}
	size := uint32(2 * len(samples)) //nolint:gosec // bounded above
	b := make([]byte, 0, 44+len(samples)*2)
	b = binary.LittleEndian.AppendUint32(append(b, "RIFF"...), 36+size)
	b = binary.LittleEndian.AppendUint32(append(b, "WAVEfmt "...), 16)
	b = binary.LittleEndian.AppendUint16(b, 1) // ParsePCM
	b = binary.LittleEndian.AppendUint16(b, 1) // channels
	b = binary.LittleEndian.AppendUint32(b, uint32(rate))
	b = binary.LittleEndian.AppendUint32(b, uint32(2*rate))
	b = binary.LittleEndian.AppendUint16(b, 2)  // bytes of one moment
	b = binary.LittleEndian.AppendUint16(b, 16) // bits
	b = binary.LittleEndian.AppendUint32(append(b, "data"...), size)
	if _, err := w.Write(AppendPCM(b, samples)); err != nil {
		return fmt.Errorf("write WAV: %w", err)
	}
	return nil
}

// AppendPCM appends samples as 16-bit little-endian ParsePCM.
func AppendPCM(b []byte, samples []int16) []byte {
	for _, s := range samples {
		b = binary.LittleEndian.AppendUint16(b, uint16(s)) //nolint:gosec // the same bits
	}
	return b
}

// ParsePCM reads 16-bit little-endian ParsePCM. An odd byte at the end is left out.
func ParsePCM(b []byte) []int16 {
	samples := make([]int16, len(b)/2)
	for i := range samples {
		samples[i] = int16(binary.LittleEndian.Uint16(b[2*i:])) //nolint:gosec // the same bits
	}
	return samples
}

// WAVReader reads a WAV file of 16-bit PCM as it arrives, mixed to mono. A wrong length, which programs write that do
// not know it yet, is ignored: the sound ends where the file ends. It is not safe for concurrent use.
type WAVReader struct {
	Rate int // samples per second

	channels int
	left     int64 // bytes of sound
	from     *bufio.Reader
}

// NewWAVReader reads a file up to its first sample.
func NewWAVReader(r io.Reader) (*WAVReader, error) {
	w := &WAVReader{from: bufio.NewReader(r)}
	if err := w.open(); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("read WAV: %w", err)
	}
	return w, nil
}

func (w *WAVReader) open() error {
	var head [12]byte
	if _, err := io.ReadFull(w.from, head[:]); err != nil {
		return err
	}
	if string(head[:4]) != "RIFF" || string(head[8:]) != "WAVE" {
		return errors.New("it is none")
	}
	for range 64 { // chunks before the sound
		var chunk [8]byte
		if _, err := io.ReadFull(w.from, chunk[:]); err != nil {
			return err
		}
		size := int64(binary.LittleEndian.Uint32(chunk[4:]))
		switch string(chunk[:4]) {
		case "fmt ":
			if err := w.format(size); err != nil {
				return err
			}
		case "data":
			if w.Rate == 0 {
				return errors.New("it does not say what the sound is")
			}
			w.left = size
			return nil
		default:
			if _, err := io.CopyN(io.Discard, w.from, size+size%2); err != nil {
				return err
			}
		}
	}
	return errors.New("there is no sound in it")
}

func (w *WAVReader) format(size int64) error {
	if size < 16 || size > 1024 {
		return errors.New("its format cannot be read")
	}
	b := make([]byte, size+size%2)
	if _, err := io.ReadFull(w.from, b); err != nil {
		return err
	}
	kind, channels := binary.LittleEndian.Uint16(b), int(binary.LittleEndian.Uint16(b[2:]))
	rate, bits := binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint16(b[14:])
	if kind != 1 && kind != 0xFFFE || bits != 16 || channels < 1 || channels > 8 {
		return fmt.Errorf("it has %d channels of format %d with %d bits; 16-bit PCM is needed", channels, kind, bits)
	}
	if rate < 1000 || rate > 768000 {
		return fmt.Errorf("a rate of %d Hz cannot be", rate)
	}
	w.Rate, w.channels = int(rate), channels
	return nil
}

// Read returns the next samples, up to max of them and fewer at the end, and io.EOF after the last.
func (w *WAVReader) Read(most int) ([]int16, error) {
	size := min(int64(most)*int64(w.channels)*2, w.left)
	b := make([]byte, size)
	n, err := io.ReadFull(w.from, b)
	w.left -= int64(n)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("read WAV: %w", err)
	}
	samples := mixToMono(ParsePCM(b[:n]), w.channels)
	if len(samples) == 0 {
		return nil, io.EOF
	}
	return samples, nil
}

func mixToMono(samples []int16, channels int) []int16 {
	if channels == 1 {
		return samples
	}
	out := samples[:len(samples)/channels]
	for i := range out {
		sum := 0
		for _, s := range samples[i*channels : (i+1)*channels] {
			sum += int(s)
		}
		out[i] = int16(sum / channels) //nolint:gosec // a mean of such values is one
	}
	return out
}
