package dave

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/thomas-vilte/mls-go/ciphersuite"
	"github.com/thomas-vilte/mls-go/credentials"
	"github.com/thomas-vilte/mls-go/keypackages"
)

// cipherSuite is the only cipher suite of DAVE version 1: P-256, AES-128-GCM, SHA-256.
const cipherSuite = ciphersuite.MLS128DHKEMP256

// SigningKey signs in one person's name, in all groups they are in. It is safe for concurrent use.
type SigningKey struct {
	secret *ecdsa.PrivateKey
	public []byte // uncompressed point
}

// NewSigningKey creates a signing key.
func NewSigningKey() (*SigningKey, error) {
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a signing key: %w", err)
	}
	public, err := secret.PublicKey.Bytes()
	if err != nil {
		return nil, fmt.Errorf("encode the signing key: %w", err)
	}
	return &SigningKey{secret: secret, public: public}, nil
}

// Public returns the key's public half as an uncompressed point (X9.62).
func (k *SigningKey) Public() []byte { return append([]byte(nil), k.public...) }

func (k *SigningKey) signer() *ciphersuite.SignaturePrivateKey {
	return ciphersuite.NewSignaturePrivateKey(k.secret)
}

// KeyPackageBundle is one offer to be added to a group: a key package and the secrets that belong to it. It is used
// once.
type KeyPackageBundle struct {
	key        *SigningKey
	keyPackage *keypackages.KeyPackage
	secrets    *keypackages.KeyPackagePrivateKeys
}

// NewKeyPackageBundle creates a key package for user.
func NewKeyPackageBundle(user uint64, key *SigningKey) (*KeyPackageBundle, error) {
	identity := binary.BigEndian.AppendUint64(nil, user)
	offer, secrets, err := keypackages.Generate(&credentials.CredentialWithKey{
		Credential: credentials.NewBasicCredential(identity), SignatureKey: &key.secret.PublicKey,
		PrivateKey: key.secret, SignatureKeyBytes: key.Public(),
	}, cipherSuite, keypackages.WithLifetime(0, math.MaxUint64))
	if err != nil {
		return nil, fmt.Errorf("make a key package: %w", err)
	}
	if err := restrictKeyPackage(offer, key); err != nil {
		return nil, err
	}
	return &KeyPackageBundle{key: key, keyPackage: offer, secrets: secrets}, nil
}

// restrictKeyPackage limits the capabilities of a key package to what DAVE uses, and signs it again.
func restrictKeyPackage(offer *keypackages.KeyPackage, key *SigningKey) error {
	leaf := offer.LeafNode
	leaf.Capabilities = &keypackages.Capabilities{
		ProtocolVersions: []keypackages.ProtocolVersion{keypackages.MLS10},
		CipherSuites:     []keypackages.CipherSuite{cipherSuite},
		Credentials:      []uint16{uint16(credentials.BasicCredential)},
	}
	leaf.Signature = nil
	unsigned := leaf.Marshal()
	unsigned = unsigned[:len(unsigned)-1] // the length of the signature that is not there
	sig, err := ciphersuite.SignWithLabel(key.signer(), "LeafNodeTBS", unsigned)
	if err != nil {
		return fmt.Errorf("sign a leaf node: %w", err)
	}
	leaf.Signature = sig.AsSlice()
	sig, err = ciphersuite.SignWithLabel(key.signer(), "KeyPackageTBS", offer.MarshalTBS())
	if err != nil {
		return fmt.Errorf("sign a key package: %w", err)
	}
	offer.Signature = sig.AsSlice()
	return nil
}

// KeyPackage returns the ticket's public part, RFC 9420 section 10, without a frame around it.
func (t *KeyPackageBundle) KeyPackage() []byte { return t.keyPackage.Marshal() }

// ExternalSender is the external sender of a group (RFC 9420 section 12.1.8.1): who may propose.
type ExternalSender struct{ encoded []byte }

// ParseExternalSender reads an external sender: its signature key and a basic credential.
func ParseExternalSender(encoded []byte) (ExternalSender, error) {
	r := tlsReader{rest: encoded}
	key := r.vector()
	kind := r.uint16()
	r.vector()
	switch {
	case r.failed || len(r.rest) != 0:
		return ExternalSender{}, errMalformed("an external sender")
	case kind != uint16(credentials.BasicCredential):
		return ExternalSender{}, fmt.Errorf("read an external sender: credential of kind %d", kind)
	}
	if _, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), key); err != nil {
		return ExternalSender{}, fmt.Errorf("read an external sender: %w", err)
	}
	return ExternalSender{encoded: append([]byte(nil), encoded...)}, nil
}

// extension returns the only group extension of DAVE: exactly this sender.
func (s ExternalSender) extension() []byte { return appendVector(nil, s.encoded) }
