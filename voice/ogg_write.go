package voice

import (
	"encoding/binary"
	"fmt"
	"io"
	"time"
)

const (
	preSkip     = 312 // samples at 48 kHz by which an Opus decoder is late
	oggSerial   = 1
	oggPageTime = RateOpus        // samples on one page, at most
	maxOggGap   = 5 * time.Second // that is filled; a longer one is shortened to it
	encoderName = "clank"
)

// WriteOgg writes packets of one person as an Ogg Opus file (RFC 7845), without encoding anything again. They must be in
// order. Where the timestamps leave a gap (discontinuous transmission, or a loss), packets without frames stand in, as
// section 4.1 asks, so that the file is as long as what was said; a gap of more than five seconds is shortened. Packets
// that are not Opus are left out as if they had been lost.
func WriteOgg(w io.Writer, packets []Packet) error {
	o := &oggWriter{to: w}
	channels := byte(1)
	for _, p := range packets {
		if s, err := InspectOpus(p.Opus); err == nil && s.Stereo {
			channels = 2
		}
	}
	o.page(oggFirst, 0, opusHead(channels))
	o.page(0, 0, opusTags())
	var next uint32 // timestamp after the packet before
	var toc byte
	begun := false
	for _, p := range packets {
		s, err := InspectOpus(p.Opus)
		if err != nil {
			continue
		}
		if begun {
			o.fill(samplesAhead(p.Timestamp, next), toc)
		}
		long := opusSamples(s.Duration())
		o.add(p.Opus, long)
		//nolint:gosec // at most 120 ms
		next, toc, begun = p.Timestamp+uint32(long), fillerTOC(p.Opus[0]), true
	}
	o.flush(oggLast)
	if o.err != nil {
		return fmt.Errorf("write Ogg Opus: %w", o.err)
	}
	return nil
}

// samplesAhead returns by how many samples one timestamp is after another; timestamps wrap around.
func samplesAhead(timestamp, of uint32) int64 {
	return int64(int32(timestamp - of)) //nolint:gosec // wrapping is the point
}

func opusSamples(d time.Duration) int64 { return int64(d * RateOpus / time.Second) }

// fillerTOC returns a packet of one frame of nothing in the mode of the packet that began with toc, which asks a decoder to
// conceal a loss.
func fillerTOC(toc byte) byte { return toc &^ 3 }

func opusHead(channels byte) []byte {
	b := append([]byte("OpusHead"), 1, channels)
	b = binary.LittleEndian.AppendUint16(b, preSkip)
	b = binary.LittleEndian.AppendUint32(b, RateOpus)
	return append(b, 0, 0, 0) // gain, mapping family
}

func opusTags() []byte {
	b := binary.LittleEndian.AppendUint32([]byte("OpusTags"), uint32(len(encoderName)))
	b = append(b, encoderName...)
	return binary.LittleEndian.AppendUint32(b, 0)
}

// oggWriter gathers packets into pages.
type oggWriter struct {
	to       io.Writer
	err      error
	number   uint32 // of the next page
	granule  int64  // samples until now
	begun    int64  // of them, before the page that is gathered
	segments []byte
	body     []byte
}

// fill puts packets without frames where samples are missing. What is shorter than a frame is left.
func (o *oggWriter) fill(missing int64, toc byte) {
	long := opusSamples(opusFrameTime(int(toc >> 3)))
	missing = min(missing, opusSamples(maxOggGap))
	for ; missing >= long; missing -= long {
		o.add([]byte{toc}, long)
	}
}

func (o *oggWriter) add(packet []byte, long int64) {
	lacing := len(packet)/255 + 1
	if len(o.segments)+lacing > 255 || o.granule+long-o.begun > oggPageTime {
		o.flush(0)
	}
	for range lacing - 1 {
		o.segments = append(o.segments, 255)
	}
	o.segments = append(o.segments, byte(len(packet)%255))
	o.body = append(o.body, packet...)
	o.granule += long
}

func (o *oggWriter) flush(flags byte) {
	if len(o.segments) > 0 || flags != 0 {
		o.write(flags, uint64(o.granule), o.segments, o.body) //nolint:gosec // a count of samples is never negative
	}
	o.segments, o.body, o.begun = o.segments[:0], o.body[:0], o.granule
}

// page writes a page of one short packet.
func (o *oggWriter) page(flags byte, granule uint64, packet []byte) {
	o.write(flags, granule, []byte{byte(len(packet))}, packet) //nolint:gosec // ours, and short
}

func (o *oggWriter) write(flags byte, granule uint64, segments, body []byte) {
	if o.err != nil {
		return
	}
	b := append([]byte("OggS"), 0, flags)
	b = binary.LittleEndian.AppendUint64(b, granule)
	b = binary.LittleEndian.AppendUint32(b, oggSerial)
	b = binary.LittleEndian.AppendUint32(b, o.number)
	b = binary.LittleEndian.AppendUint32(b, 0)
	b = append(b, byte(len(segments))) //nolint:gosec // 255 at most
	b = append(append(b, segments...), body...)
	binary.LittleEndian.PutUint32(b[22:], oggChecksum(b))
	o.number++
	_, o.err = o.to.Write(b)
}
