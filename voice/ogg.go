package voice

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"
)

// Flags in the header of an Ogg page (RFC 3533, section 6).
const (
	oggContinued = 1
	oggFirst     = 2
	oggLast      = 4

	oggHeaderSize = 27
	maxOggTags    = 1 << 20    // bytes of comments that are passed over
	maxOggPages   = 1 << 16    // of other streams in a row, before a file counts as hopeless
	oggPolynomial = 0x04C11DB7 // of the checksum of pages
)

// oggChecksums of single bytes: Ogg's is no CRC of the standard library, its bits are not mirrored.
var oggChecksums = func() (t [256]uint32) {
	for i := range t {
		c := uint32(i) << 24
		for range 8 {
			if c&(1<<31) != 0 {
				c = c<<1 ^ oggPolynomial
			} else {
				c <<= 1
			}
		}
		t[i] = c
	}
	return t
}()

func oggChecksum(page []byte) uint32 {
	var c uint32
	for _, b := range page {
		c = c<<8 ^ oggChecksums[byte(c>>24)^b]
	}
	return c
}

type oggPage struct {
	flags    byte
	serial   uint32
	segments []byte
	body     []byte
}

// readOggPage reads the next page and checks its sum. The end between two pages is io.EOF.
func readOggPage(r io.Reader) (oggPage, error) {
	raw := make([]byte, oggHeaderSize, oggHeaderSize+255+255*255)
	if _, err := io.ReadFull(r, raw); err != nil {
		if errors.Is(err, io.EOF) {
			return oggPage{}, io.EOF
		}
		return oggPage{}, fmt.Errorf("it ends within a page: %w", err)
	}
	if string(raw[:4]) != "OggS" || raw[4] != 0 {
		return oggPage{}, errors.New("there is no page where one should be")
	}
	p := oggPage{flags: raw[5], serial: binary.LittleEndian.Uint32(raw[14:])}
	raw = raw[:oggHeaderSize+int(raw[26])]
	if _, err := io.ReadFull(r, raw[oggHeaderSize:]); err != nil {
		return oggPage{}, fmt.Errorf("it ends within a page: %w", err)
	}
	p.segments = raw[oggHeaderSize:]
	size := 0
	for _, s := range p.segments {
		size += int(s)
	}
	start := len(raw)
	raw = raw[:start+size]
	if _, err := io.ReadFull(r, raw[start:]); err != nil {
		return oggPage{}, fmt.Errorf("it ends within a page: %w", err)
	}
	p.body = raw[start:]
	want := binary.LittleEndian.Uint32(raw[22:])
	clear(raw[22:26])
	if oggChecksum(raw) != want {
		return oggPage{}, errors.New("a page is damaged")
	}
	return p, nil
}

// OggReader reads the Opus packets of an Ogg stream (RFC 7845) as they arrive. It skips other streams in the same file,
// and reads chained files as one. It is not safe for concurrent use.
type OggReader struct {
	from    *bufio.Reader
	serial  uint32
	packet  []byte   // the beginning of one that continues
	broken  bool     // of the beginning, which are left out
	ready   [][]byte // whole packets of the page before
	headers int      // how many of the two at the beginning were read
	err     error
}

// NewOggReader reads the beginning of a stream. It returns an error if this is not Ogg with Opus.
func NewOggReader(r io.Reader) (*OggReader, error) {
	o := &OggReader{from: bufio.NewReader(r)}
	for o.headers < 2 && o.err == nil {
		o.err = o.readMore()
	}
	if o.err != nil && o.headers < 2 {
		if errors.Is(o.err, io.EOF) {
			o.err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("read Ogg Opus: %w", o.err)
	}
	return o, nil
}

// Next returns the next packet, which belongs to the caller, and io.EOF after the last.
func (o *OggReader) Next() ([]byte, error) {
	for len(o.ready) == 0 {
		if o.err != nil {
			if errors.Is(o.err, io.EOF) {
				return nil, io.EOF
			}
			return nil, fmt.Errorf("read Ogg Opus: %w", o.err)
		}
		o.err = o.readMore()
	}
	packet := o.ready[0]
	o.ready = o.ready[1:]
	return packet, nil
}

// readMore reads the next page of the stream.
func (o *OggReader) readMore() error {
	for range maxOggPages {
		p, err := readOggPage(o.from)
		if err != nil {
			return err
		}
		if p.flags&oggFirst != 0 {
			if !bytes.HasPrefix(p.body, []byte("OpusHead")) {
				continue
			}
			o.serial, o.headers, o.packet, o.broken = p.serial, 0, nil, false
		} else if o.headers == 0 || p.serial != o.serial {
			continue
		}
		return o.readPackets(p)
	}
	return errors.New("there is no Opus in it")
}

// readPackets cuts a page into packets by its table of segments.
func (o *OggReader) readPackets(p oggPage) error {
	if p.flags&oggContinued == 0 {
		o.packet, o.broken = nil, false // whatever was begun has been lost
	} else if o.packet == nil {
		o.broken = true
	}
	body := p.body
	for _, s := range p.segments {
		o.packet = append(o.packet, body[:s]...)
		body = body[s:]
		limit := maxOpusPacket
		if o.headers == 1 {
			limit = maxOggTags
		}
		if len(o.packet) > limit {
			return errors.New("a packet is too long")
		}
		if s == 255 {
			continue
		}
		packet, broken := o.packet, o.broken
		o.packet, o.broken = nil, false
		if broken {
			continue
		}
		if err := o.addPacket(packet); err != nil {
			return err
		}
	}
	return nil
}

func (o *OggReader) addPacket(packet []byte) error {
	switch {
	case o.headers == 0:
		if err := o.readHeader(packet); err != nil {
			return err
		}
		o.headers++
	case o.headers == 1:
		if !bytes.HasPrefix(packet, []byte("OpusTags")) {
			return errors.New("the comments are missing")
		}
		o.headers++
	case len(packet) > 0:
		o.ready = append(o.ready, packet)
	}
	return nil
}

// readHeader reads the identification header (RFC 7845, section 5.1).
func (o *OggReader) readHeader(packet []byte) error {
	if len(packet) < 19 || string(packet[:8]) != "OpusHead" || packet[8]>>4 != 0 {
		return errors.New("the header is none of Opus")
	}
	if packet[18] != 0 || packet[9] < 1 || packet[9] > 2 {
		return fmt.Errorf("it has %d channels of mapping family %d; only mono and stereo can be read", packet[9], packet[18])
	}
	return nil
}

const (
	preSkip     = 312 // samples at 48 kHz by which an Opus decoder is late
	oggSerial   = 1
	oggPageTime = RateOpus        // samples on one page, at most
	maxOggGap   = 5 * time.Second // that is filled; a longer one is shortened to it
	encoderName = "clank"
)

// WriteOgg writes the packets of one person, which must be in order, as an Ogg Opus file (RFC 7845) without encoding
// them again. Gaps in the timestamps (discontinuous transmission or losses) are filled with packets without frames, as
// section 4.1 requires, so that the file is as long as the speech; gaps of more than five seconds are shortened.
// Packets that are not Opus are treated as lost.
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

// fillerTOC returns a packet of one frame of nothing in the mode of the packet that began with toc, which asks a
// decoder to conceal a loss.
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
