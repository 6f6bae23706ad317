package dave

import (
	"crypto/ecdh"
	"crypto/rand"
	"errors"
	"slices"

	"github.com/thomas-vilte/mls-go/ciphersuite"
	"github.com/thomas-vilte/mls-go/extensions"
	"github.com/thomas-vilte/mls-go/group"
	"github.com/thomas-vilte/mls-go/keypackages"
)

// welcome makes the Welcome for those whom the commit adds; nil if it adds nobody.
//
// The library's own copies the extensions of the group into the GroupInfo, where external_senders is not allowed (RFC
// 9420 section 17.3), and strict members refuse that. So the GroupInfo is made anew, with the tree alone. What each
// joiner gets with it (the joiner secret and, if the commit has a path, the secret of the node above both) only the
// library knows: it makes its Welcome for a key of ours in place of each joiner's init key, and what it put in is
// taken out and encrypted to the joiner.
func (g *Group) welcome(next *group.Group, prepared *group.StagedCommit) ([]byte, error) {
	var joiners []*keypackages.KeyPackage
	for _, p := range prepared.Proposals() {
		if p.Type == group.ProposalTypeAdd {
			joiners = append(joiners, p.Add.KeyPackage)
		}
	}
	if len(joiners) == 0 {
		return nil, nil
	}
	secret := g.key.signer()
	drawn, packed, err := readableWelcome(next, prepared, joiners, secret)
	if err != nil {
		return nil, err
	}
	info := drawn.GroupInfo
	info.Extensions = slices.DeleteFunc(info.Extensions, func(e group.Extension) bool { return e.Type != extensions.ExtensionTypeRatchetTree })
	signature, err := ciphersuite.SignWithLabel(secret, "GroupInfoTBS", info.MarshalTBS())
	if err != nil {
		return nil, err
	}
	info.Signature = signature.AsSlice()
	sealed, err := sealGroupInfo(info.Marshal(), prepared.JoinerSecret())
	if err != nil {
		return nil, err
	}
	w := group.Welcome{CipherSuite: cipherSuite, EncryptedGroupInfo: sealed}
	for i, j := range joiners {
		encrypted, err := ciphersuite.EncryptWithLabel(j.InitKey, "Welcome", sealed, packed[i], cipherSuite)
		if err != nil {
			return nil, err
		}
		offer := j.Raw
		if len(offer) == 0 {
			offer = j.Marshal()
		}
		w.Secrets = append(w.Secrets, group.EncryptedGroupSecrets{
			NewMember:             ciphersuite.MakeKeyPackageRef(offer, cipherSuite.HashFunction()).AsSlice(),
			EncryptedGroupSecrets: *encrypted,
		})
	}
	return w.Marshal(), nil
}

// readableWelcome has the library make a Welcome that we can read, and gives the GroupSecrets (RFC 9420 section 12.4.3.1) that it
// has for each joiner.
func readableWelcome(next *group.Group, prepared *group.StagedCommit, joiners []*keypackages.KeyPackage, secret *ciphersuite.SignaturePrivateKey) (*group.Welcome, [][]byte, error) {
	probe, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	readable := make([]*keypackages.KeyPackage, len(joiners))
	for i, j := range joiners {
		changed := *j
		changed.InitKey, changed.Raw = probe.PublicKey().Bytes(), nil
		readable[i] = &changed
	}
	drawn, err := next.CreateWelcomeWithOpts(readable, secret, group.WithJoinerSecret(prepared.JoinerSecret()),
		group.WithStagedCommit(prepared), group.WithGroupInfoOptions(group.WithExternalPub(false)))
	if err != nil {
		return nil, nil, err
	}
	if len(drawn.Secrets) != len(joiners) {
		return nil, nil, errors.New("the library left somebody out")
	}
	packed := make([][]byte, len(joiners))
	for i := range drawn.Secrets {
		packed[i], err = ciphersuite.DecryptWithLabel(probe.Bytes(), "Welcome", drawn.EncryptedGroupInfo, &drawn.Secrets[i].EncryptedGroupSecrets, cipherSuite)
		if err != nil {
			return nil, nil, err
		}
	}
	return drawn, packed, nil
}

// sealGroupInfo encrypts a GroupInfo for those who have the joiner secret (RFC 9420 sections 8 and 12.4.3.1). It uses the secret up.
func sealGroupInfo(info []byte, joiner *ciphersuite.Secret) ([]byte, error) {
	member, err := joiner.HKDFExtract(ciphersuite.ZeroSecretCS(cipherSuite))
	if err != nil {
		return nil, err
	}
	welcome, err := member.DeriveSecret(cipherSuite, "welcome")
	if err != nil {
		return nil, err
	}
	key, err := welcome.KdfExpandLabel("key", nil, cipherSuite.AEADKeyLength())
	if err != nil {
		return nil, err
	}
	nonce, err := welcome.KdfExpandLabel("nonce", nil, cipherSuite.AEADNonceLength())
	if err != nil {
		return nil, err
	}
	return ciphersuite.EncryptWithCipherSuite(key.AsSlice(), nonce.AsSlice(), info, nil, cipherSuite)
}
