package dave

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/thomas-vilte/mls-go/framing"
	"github.com/thomas-vilte/mls-go/group"
)

func errMalformed(what string) error { return errors.New("read " + what + ": it is malformed") }

// tlsReader reads values of the TLS presentation language with RFC 9420's vector headers (section 2.1.2). After the
// first failure it returns zero values.
type tlsReader struct {
	rest   []byte
	failed bool
}

func (r *tlsReader) readBytes(n int) []byte {
	if r.failed || n > len(r.rest) {
		r.failed = true
		return nil
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *tlsReader) uint8() byte {
	if b := r.readBytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *tlsReader) uint16() uint16 {
	if b := r.readBytes(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

// vector reads a vector, whose header must have the minimal length.
func (r *tlsReader) vector() []byte {
	first := r.uint8()
	size := 1 << (first >> 6)
	if size == 8 {
		r.failed = true
		return nil
	}
	length := int(first & 0x3f)
	for _, b := range r.readBytes(size - 1) {
		length = length<<8 | int(b)
	}
	if size == 2 && length < 1<<6 || size == 4 && length < 1<<14 {
		r.failed = true
	}
	return r.readBytes(length)
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

// A ProposalsMessage is what the external sender wants: proposals to consider, or references of proposals to forget.
type ProposalsMessage struct {
	Proposals [][]byte // each an MLSMessage
	Revoked   [][]byte // each a ProposalRef
}

// ParseProposals reads the payload of a message with proposals: a kind (0 append, 1 revoke) and a vector.
func ParseProposals(payload []byte) (ProposalsMessage, error) {
	r := tlsReader{rest: payload}
	kind := r.uint8()
	list := tlsReader{rest: r.vector()}
	if r.failed || len(r.rest) != 0 || kind > 1 {
		return ProposalsMessage{}, errMalformed("proposals")
	}
	var c ProposalsMessage
	for len(list.rest) > 0 {
		if kind == 1 {
			c.Revoked = append(c.Revoked, list.vector())
			if list.failed {
				return ProposalsMessage{}, errMalformed("references of proposals")
			}
			continue
		}
		message, rest, err := cutMLSMessage(list.rest)
		if err != nil {
			return ProposalsMessage{}, err
		}
		c.Proposals = append(c.Proposals, message)
		list.rest = rest
	}
	return c, nil
}

// cutMLSMessage splits off the first MLSMessage of data, which must be a PublicMessage of an external sender with an
// Add or a Remove (RFC 9420 sections 6 and 12.1). Only parsing it shows where it ends.
func cutMLSMessage(data []byte) (message, rest []byte, err error) {
	r := tlsReader{rest: data}
	r.readBytes(2 + 2)     // version, wire format
	r.vector()             // group
	r.readBytes(8 + 1 + 4) // epoch, kind of sender, sender
	r.vector()             // authenticated data
	r.readBytes(1)         // kind of content
	switch r.uint16() {
	case uint16(group.ProposalTypeAdd):
		r.readBytes(2 + 2) // version, cipher suite
		r.vector()         // init key
		r.leaf()
		r.vector() // extensions
		r.vector() // signature
	case uint16(group.ProposalTypeRemove):
		r.readBytes(4)
	default:
		return nil, nil, errors.New("read a proposal: it is malformed, or neither adds nor removes somebody")
	}
	r.vector() // signature
	if r.failed {
		return nil, nil, errMalformed("a proposal")
	}
	return data[:len(data)-len(r.rest)], r.rest, nil
}

// leaf skips the leaf node of a key package, section 7.2.
func (r *tlsReader) leaf() {
	r.vector()     // encryption key
	r.vector()     // signature key
	r.readBytes(2) // kind of credential
	r.vector()     // credential
	for range 5 {
		r.vector() // capabilities
	}
	r.readBytes(1 + 8 + 8) // source, lifetime
	r.vector()             // extensions
	r.vector()             // signature
}

// readPublic reads an MLSMessage with a PublicMessage.
func readPublic(data []byte) (*framing.PublicMessage, error) {
	var public *framing.PublicMessage
	err := recoverPanic(func() error {
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

// recoverPanic calls run, which passes bytes of others to the library, and turns a panic into an error.
func recoverPanic(run func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the library gave up: %v", r)
		}
	}()
	return run()
}
