package delivery

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/thomas-vilte/mls-go/ciphersuite"
	"github.com/thomas-vilte/mls-go/credentials"
	"github.com/thomas-vilte/mls-go/framing"
	"github.com/thomas-vilte/mls-go/group"
	"github.com/thomas-vilte/mls-go/keypackages"
)

// offeredKeyPackage is a received key package.
type offeredKeyPackage struct {
	raw []byte
	kp  *keypackages.KeyPackage
}

// readOffer parses and checks a key package as the DAVE white paper requires of the server.
func readOffer(user uint64, raw []byte) (*offeredKeyPackage, error) {
	kp, err := keypackages.UnmarshalKeyPackage(raw)
	if err != nil {
		return nil, fmt.Errorf("read a key package: %w", err)
	}
	leaf := kp.LeafNode
	switch {
	case leaf == nil || leaf.Credential == nil: // first, because the library cannot encode such a key package
		return nil, errors.New("a key package of nobody")
	case !bytes.Equal(kp.Marshal(), raw):
		return nil, errors.New("a key package with something behind it, or framed")
	case kp.CipherSuite != cipherSuite:
		return nil, fmt.Errorf("a key package of cipher suite %d", kp.CipherSuite)
	case leaf.Credential.CredentialType != credentials.BasicCredential ||
		!bytes.Equal(leaf.Credential.Identity, bigEndian(user)):
		return nil, errors.New("a key package of somebody else")
	case leaf.Lifetime == nil || leaf.Lifetime.NotBefore != 0 || leaf.Lifetime.NotAfter != math.MaxUint64:
		return nil, errors.New("a key package that does not last for ever")
	case len(leaf.Extensions) != 0:
		return nil, errors.New("a key package with extensions")
	}
	if err := kp.Verify(cipherSuite); err != nil {
		return nil, err
	}
	return &offeredKeyPackage{raw: bytes.Clone(raw), kp: kp}, nil
}

func (o *offeredKeyPackage) reference() []byte {
	return ciphersuite.MakeKeyPackageRef(o.raw, cipherSuite.HashFunction()).AsSlice()
}

// vector appends data with its length (RFC 9420, section 2.1.2).
func vector(to, data []byte) []byte {
	switch n := len(data); {
	case n < 1<<6:
		to = append(to, byte(n))
	case n < 1<<14:
		to = binary.BigEndian.AppendUint16(to, uint16(n)|0x4000)
	default:
		to = binary.BigEndian.AppendUint32(to, uint32(n)|0x80000000)
	}
	return append(to, data...)
}

// externalSender returns the payload of op 25.
func (s *Service) externalSender() []byte {
	payload := vector(nil, s.key.PublicKey().AsSlice())
	return append(payload, credentials.NewBasicCredential(bigEndian(1)).Marshal()...)
}

// sign returns the MLSMessage of a proposal for this epoch, and its reference.
func (s *Service) sign(p *group.Proposal) (message []byte, ref string, err error) {
	public, err := framing.NewPublicMessage(framing.FramedContent{
		GroupID: bigEndian(s.id), Epoch: s.epoch, Sender: framing.Sender{Type: framing.SenderTypeExternal},
		Body: framing.ProposalBody{Data: group.ProposalMarshal(p)},
	}, s.key, nil, nil, cipherSuite)
	if err != nil {
		return nil, "", fmt.Errorf("sign a proposal: %w", err)
	}
	authenticated := framing.AuthenticatedContent{
		WireFormat: framing.WireFormatPublicMessage, Content: public.Content,
		Auth: public.Auth,
	}
	return framing.NewMLSMessagePublic(public).Marshal(),
		string(group.ComputeProposalRef(authenticated.Marshal(), cipherSuite)), nil
}

// commitment is a parsed op 28.
type commitment struct {
	message []byte // the commit
	content framing.FramedContent
	refs    []string
	welcome *group.Welcome // nil if there is none
}

func readCommit(payload []byte) (*commitment, error) {
	end, ok := endOfCommit(payload)
	if !ok {
		return nil, errors.New("a commit that does not end")
	}
	m, err := framing.UnmarshalMLSMessage(payload[:end])
	if err != nil {
		return nil, fmt.Errorf("read a commit: %w", err)
	}
	public, ok := m.AsPublic()
	if !ok {
		return nil, errors.New("a commit that is not public")
	}
	c := &commitment{message: bytes.Clone(payload[:end]), content: public.Content}
	data, ok := public.Content.CommitData()
	if !ok {
		return nil, errors.New("something else than a commit")
	}
	commit, err := group.UnmarshalCommit(data)
	if err != nil {
		return nil, fmt.Errorf("read a commit: %w", err)
	}
	for _, p := range commit.Proposals {
		if len(p.ProposalRef) == 0 {
			return nil, errors.New("a commit with a proposal of its own")
		}
		c.refs = append(c.refs, string(p.ProposalRef))
	}
	rest := payload[len(c.message):]
	if len(rest) == 0 {
		return c, nil
	}
	if c.welcome, err = group.UnmarshalWelcome(rest); err != nil {
		return nil, fmt.Errorf("read a Welcome: %w", err)
	}
	if !bytes.Equal(c.welcome.Marshal(), rest) {
		return nil, errors.New("a Welcome with something behind it")
	}
	return c, nil
}

// endOfCommit parses the MLSMessage of a commit (RFC 9420, sections 6, 7.2, 7.6 and 12.4).
func endOfCommit(payload []byte) (end int, ok bool) {
	w := walk{rest: payload}
	w.skip(2 + 2) // version, wire format
	w.vector()    // group
	w.skip(8 + 1 + 4)
	w.vector() // authenticated data
	w.skip(1)  // kind of content
	w.vector() // proposals
	if w.skip(1) == 1 {
		w.vector() // encryption key
		w.vector() // signature key
		w.skip(2)
		w.vector() // credential
		for range 5 {
			w.vector() // capabilities
		}
		w.skip(1)  // source: a commit
		w.vector() // parent hash
		w.vector() // extensions
		w.vector() // signature
		w.vector() // nodes
	}
	w.vector() // signature
	w.vector() // confirmation tag
	w.vector() // membership tag
	return len(payload) - len(w.rest), !w.short
}

type walk struct {
	rest  []byte
	short bool
}

// skip skips n bytes and returns the first of them.
func (w *walk) skip(n int) (first byte) {
	if w.short || n > len(w.rest) {
		w.short = true
		return 0
	}
	if n > 0 {
		first = w.rest[0]
	}
	w.rest = w.rest[n:]
	return first
}

func (w *walk) vector() {
	first := w.skip(1)
	n := int(first & 0x3f)
	for range 1<<(first>>6) - 1 {
		n = n<<8 | int(w.skip(1))
	}
	w.skip(n)
}

// welcomeFor returns the part of a Welcome for one key package; nil if there is none.
func (c *commitment) welcomeFor(o *offeredKeyPackage) []byte {
	if c.welcome == nil {
		return nil
	}
	for _, s := range c.welcome.Secrets {
		if bytes.Equal(s.NewMember, o.reference()) {
			only := group.Welcome{
				CipherSuite: c.welcome.CipherSuite, EncryptedGroupInfo: c.welcome.EncryptedGroupInfo,
				Secrets: []group.EncryptedGroupSecrets{s},
			}
			return only.Marshal()
		}
	}
	return nil
}
