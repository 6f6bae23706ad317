package mls

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/thomas-vilte/mls-go/framing"
	"github.com/thomas-vilte/mls-go/group"
)

func errMalformed(what string) error { return errors.New("read " + what + ": it is malformed") }

// reader takes values of the TLS presentation language with RFC 9420's vector headers (section 2.1.2). After the first
// failure it gives nothing more.
type reader struct {
	rest   []byte
	failed bool
}

func (r *reader) take(n int) []byte {
	if r.failed || n > len(r.rest) {
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
	length := int(first & 0x3f)
	for _, b := range r.take(size - 1) {
		length = length<<8 | int(b)
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
		to = append(to, byte(n&0xff))
	case n < 1<<14:
		to = append(to, byte(n>>8&0x3f)|0x40, byte(n&0xff))
	default:
		to = append(to, byte(n>>24&0x3f)|0x80, byte(n>>16&0xff), byte(n>>8&0xff), byte(n&0xff))
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

// cut takes the first MLSMessage off data, which must be a PublicMessage of an external sender with an Add or a Remove (RFC 9420
// sections 6 and 12.1): only walking through it tells where it ends.
func cut(data []byte) (message, rest []byte, err error) {
	r := reader{rest: data}
	r.take(2 + 2)     // version, wire format
	r.vector()        // group
	r.take(8 + 1 + 4) // epoch, kind of sender, sender
	r.vector()        // authenticated data
	r.take(1)         // kind of content
	switch r.uint16() {
	case uint16(group.ProposalTypeAdd):
		r.take(2 + 2) // version, cipher suite
		r.vector()    // init key
		r.leaf()
		r.vector() // extensions
		r.vector() // signature
	case uint16(group.ProposalTypeRemove):
		r.take(4)
	default:
		return nil, nil, errMalformed("a proposal, or not one that is allowed")
	}
	r.vector() // signature
	if r.failed {
		return nil, nil, errMalformed("a proposal")
	}
	return data[:len(data)-len(r.rest)], r.rest, nil
}

// leaf takes a leaf node of a key package, section 7.2.
func (r *reader) leaf() {
	r.vector() // encryption key
	r.vector() // signature key
	r.take(2)  // kind of credential
	r.vector() // credential
	for range 5 {
		r.vector() // capabilities
	}
	r.take(1 + 8 + 8) // source, lifetime
	r.vector()        // extensions
	r.vector()        // signature
}

// readPublic reads an MLSMessage with a PublicMessage.
func readPublic(data []byte) (*framing.PublicMessage, error) {
	var public *framing.PublicMessage
	err := guard(func() error {
		message, err := framing.UnmarshalMLSMessage(data)
		if err != nil {
			return err
		}
		var ok bool
		if public, ok = message.AsPublic(); !ok || !bytes.Equal(message.Marshal(), data) {
			return errors.New("it is not public, or has something behind it")
		}
		return nil
	})
	if err != nil {
		return nil, errMalformed("a handshake message")
	}
	return public, nil
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
