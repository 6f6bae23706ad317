package voice

import "slices"

// OpusPacker cuts a stream of samples, which come in pieces of any size, into Opus packets of 20 ms. It is not safe for
// concurrent use.
type OpusPacker struct {
	encoder *OpusEncoder
	rest    []int16
}

// NewOpusPacker makes a packer of mono samples at rate, from 8 to 192 kHz.
func NewOpusPacker(rate int) (*OpusPacker, error) {
	e, err := NewOpusEncoder(rate)
	if err != nil {
		return nil, err
	}
	return &OpusPacker{encoder: e}, nil
}

// Write takes samples and returns the packets that they complete.
func (p *OpusPacker) Write(samples []int16) ([][]byte, error) {
	p.rest = append(p.rest, samples...)
	size := p.encoder.rate / 50
	var packets [][]byte
	used := 0
	for len(p.rest)-used >= size {
		packet, err := p.encoder.Encode(p.rest[used : used+size])
		if err != nil {
			return packets, err
		}
		packets, used = append(packets, packet), used+size
	}
	p.rest = slices.Delete(p.rest, 0, used)
	return packets, nil
}

// Flush returns the packet of what is left, filled up with silence, or nil if nothing is. The packer can go on then.
func (p *OpusPacker) Flush() ([]byte, error) {
	if len(p.rest) == 0 {
		return nil, nil
	}
	packet, err := p.encoder.Encode(p.rest)
	p.rest = p.rest[:0]
	return packet, err
}
