package audio

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Flags in the header of an Ogg page (RFC 3533, section 6).
const (
	pageContinued = 1
	pageFirst     = 2
	pageLast      = 4

	pageHeader = 27
	maxTags    = 1 << 20    // bytes of comments that are passed over
	maxPages   = 1 << 16    // of other streams in a row, before a file counts as hopeless
	polynomial = 0x04C11DB7 // of the checksum of pages
)

// checksums of single bytes: Ogg's is no CRC of the standard library, its bits are not mirrored.
var checksums = func() (t [256]uint32) {
	for i := range t {
		c := uint32(i) << 24
		for range 8 {
			if c&(1<<31) != 0 {
				c = c<<1 ^ polynomial
			} else {
				c <<= 1
			}
		}
		t[i] = c
	}
	return t
}()

func checksum(page []byte) uint32 {
	var c uint32
	for _, b := range page {
		c = c<<8 ^ checksums[byte(c>>24)^b]
	}
	return c
}

// page is one page of Ogg.
type page struct {
	flags    byte
	granule  uint64
	serial   uint32
	segments []byte
	body     []byte
}

// readPage reads the next page and checks its sum. The end between two pages is io.EOF.
func readPage(r io.Reader) (page, error) {
	raw := make([]byte, pageHeader, pageHeader+255+255*255)
	if _, err := io.ReadFull(r, raw); err != nil {
		if errors.Is(err, io.EOF) {
			return page{}, io.EOF
		}
		return page{}, fmt.Errorf("it ends within a page: %w", err)
	}
	if string(raw[:4]) != "OggS" || raw[4] != 0 {
		return page{}, errors.New("there is no page where one should be")
	}
	p := page{flags: raw[5], granule: binary.LittleEndian.Uint64(raw[6:]), serial: binary.LittleEndian.Uint32(raw[14:])}
	raw = raw[:pageHeader+int(raw[26])]
	if _, err := io.ReadFull(r, raw[pageHeader:]); err != nil {
		return page{}, fmt.Errorf("it ends within a page: %w", err)
	}
	p.segments = raw[pageHeader:]
	size := 0
	for _, s := range p.segments {
		size += int(s)
	}
	start := len(raw)
	raw = raw[:start+size]
	if _, err := io.ReadFull(r, raw[start:]); err != nil {
		return page{}, fmt.Errorf("it ends within a page: %w", err)
	}
	p.body = raw[start:]
	want := binary.LittleEndian.Uint32(raw[22:])
	clear(raw[22:26])
	if checksum(raw) != want {
		return page{}, errors.New("a page is damaged")
	}
	return p, nil
}

// OggReader takes the Opus packets out of an Ogg stream (RFC 7845) as it comes. Other streams in the same file are passed
// over; a file of several, one after the other, is read as one. It is not safe for concurrent use.
type OggReader struct {
	// Channels is 1 or 2, PreSkip how many samples at 48 kHz are to be left out at the beginning.
	Channels int
	PreSkip  int

	from    *bufio.Reader
	serial  uint32
	packet  []byte   // the beginning of one that goes on
	broken  bool     // that beginning is to be left out
	ready   [][]byte // whole packets of the page before
	headers int      // of the two at the beginning, those that were read
	err     error
}

// NewOggReader reads the beginning of a stream. An error says why it is no Ogg with Opus in it.
func NewOggReader(r io.Reader) (*OggReader, error) {
	o := &OggReader{from: bufio.NewReader(r)}
	for o.headers < 2 && o.err == nil {
		o.err = o.more()
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
		o.err = o.more()
	}
	packet := o.ready[0]
	o.ready = o.ready[1:]
	return packet, nil
}

// more reads the next page of the stream.
func (o *OggReader) more() error {
	for range maxPages {
		p, err := readPage(o.from)
		if err != nil {
			return err
		}
		if p.flags&pageFirst != 0 {
			if !bytes.HasPrefix(p.body, []byte("OpusHead")) {
				continue
			}
			o.serial, o.headers, o.packet, o.broken = p.serial, 0, nil, false
		} else if o.headers == 0 || p.serial != o.serial {
			continue
		}
		return o.take(p)
	}
	return errors.New("there is no Opus in it")
}

// take cuts a page into packets by its table of segments.
func (o *OggReader) take(p page) error {
	if p.flags&pageContinued == 0 {
		o.packet, o.broken = nil, false // whatever was begun has been lost
	} else if o.packet == nil {
		o.broken = true
	}
	body := p.body
	for _, s := range p.segments {
		o.packet = append(o.packet, body[:s]...)
		body = body[s:]
		limit := maxPacket
		if o.headers == 1 {
			limit = maxTags
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
		if err := o.whole(packet); err != nil {
			return err
		}
	}
	return nil
}

func (o *OggReader) whole(packet []byte) error {
	switch {
	case o.headers == 0:
		if err := o.head(packet); err != nil {
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

// head reads the identification header (RFC 7845, section 5.1).
func (o *OggReader) head(packet []byte) error {
	if len(packet) < 19 || string(packet[:8]) != "OpusHead" || packet[8]>>4 != 0 {
		return errors.New("the header is none of Opus")
	}
	if packet[18] != 0 || packet[9] < 1 || packet[9] > 2 {
		return fmt.Errorf("it has %d channels of mapping family %d; only mono and stereo can be read", packet[9], packet[18])
	}
	o.Channels, o.PreSkip = int(packet[9]), int(binary.LittleEndian.Uint16(packet[10:]))
	return nil
}
