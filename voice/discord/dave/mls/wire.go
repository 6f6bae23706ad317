package mls

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/thomas-vilte/mls-go/framing"
)

func errMalformed(what string) error { return errors.New("read " + what + ": it is malformed") }

// reader takes values of the TLS presentation language with RFC 9420's vector headers (section 2.1.2). After the first
// failure it gives nothing more.
type reader struct {
	rest   []byte
	failed bool
}

func (r *reader) take(n uint64) []byte {
	if r.failed || n > uint64(len(r.rest)) {
		r.failed = true
		return nil
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *reader) uint8() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) uint16() uint16 {
	if b := r.take(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

// vector takes a vector whose header must be as short as it can be.
func (r *reader) vector() []byte {
	first := r.uint8()
	size := 1 << (first >> 6)
	if size == 8 {
		r.failed = true
		return nil
	}
	length := uint64(first & 0x3f)
	for _, b := range r.take(uint64(size - 1)) {
		length = length<<8 | uint64(b)
	}
	if size == 2 && length < 1<<6 || size == 4 && length < 1<<14 {
		r.failed = true
	}
	return r.take(length)
}

// appendVector appends data with its header. No vector here reaches 2^30 bytes.
func appendVector(to, data []byte) []byte {
	n := len(data)
	switch {
	case n < 1<<6:
		to = append(to, byte(n))
	case n < 1<<14:
		to = append(to, byte(n>>8)|0x40, byte(n))
	default:
		to = append(to, byte(n>>24)|0x80, byte(n>>16), byte(n>>8), byte(n))
	}
	return append(to, data...)
}

// A Change is what the external sender wants: proposals to consider, or references of proposals to forget.
type Change struct {
	Proposals [][]byte // each an MLSMessage
	Forget    [][]byte // each a ProposalRef
}

// ParseChange reads the payload of a message with proposals: a kind (0 append, 1 revoke) and a vector.
func ParseChange(payload []byte) (Change, error) {
	r := reader{rest: payload}
	kind := r.uint8()
	list := reader{rest: r.vector()}
	if r.failed || len(r.rest) != 0 || kind > 1 {
		return Change{}, errMalformed("proposals")
	}
	var c Change
	for len(list.rest) > 0 {
		if kind == 1 {
			c.Forget = append(c.Forget, list.vector())
			if list.failed {
				return Change{}, errMalformed("references of proposals")
			}
			continue
		}
		message, rest, err := cut(list.rest)
		if err != nil {
			return Change{}, err
		}
		c.Proposals = append(c.Proposals, message)
		list.rest = rest
	}
	return c, nil
}

// cut takes the first MLSMessage off data. The library reads past nothing, but does not say where it stopped: what it
// read is written again, and must be what was there.
func cut(data []byte) (message, rest []byte, err error) {
	_, again, err := readPublic(data)
	if err != nil {
		return nil, nil, err
	}
	return data[:len(again)], data[len(again):], nil
}

// readPublic reads the MLSMessage with a PublicMessage that data begins with, and gives its bytes.
func readPublic(data []byte) (*framing.PublicMessage, []byte, error) {
	var public *framing.PublicMessage
	var again []byte
	err := guard(func() error {
		message, err := framing.UnmarshalMLSMessage(data)
		if err != nil {
			return err
		}
		var ok bool
		if public, ok = message.AsPublic(); !ok {
			return errors.New("it is not public")
		}
		again = message.Marshal()
		return nil
	})
	if err != nil || !bytes.HasPrefix(data, again) {
		return nil, nil, errMalformed("a handshake message")
	}
	return public, again, nil
}

// guard runs what hands bytes of others to the library, and makes an error of a panic in there.
func guard(run func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the library gave up: %v", r)
		}
	}()
	return run()
}
