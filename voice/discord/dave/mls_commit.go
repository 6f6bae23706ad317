package dave

import (
	"bytes"
	"crypto/ecdh"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"

	"github.com/thomas-vilte/mls-go/ciphersuite"
	"github.com/thomas-vilte/mls-go/extensions"
	"github.com/thomas-vilte/mls-go/framing"
	"github.com/thomas-vilte/mls-go/group"
	"github.com/thomas-vilte/mls-go/keypackages"
)

// Commit prepares the next epoch with all pending proposals: a commit (an MLSMessage) and, if it adds people, a Welcome
// for them. Our group does not change until the commit is announced. If there are no proposals, or if we are to be
// removed, which others commit, all results are nil.
func (g *Group) Commit() (commit, welcome []byte, err error) {
	proposals := g.inner.StoredProposals()
	if len(proposals) == 0 ||
		slices.ContainsFunc(proposals, func(p group.StoredProposal) bool { return g.removesUs(p.Proposal) }) {
		return nil, nil, nil
	}
	next, err := copyGroup(g.inner)
	if err != nil {
		return nil, nil, err
	}
	err = recoverPanic(func() error {
		allowRejoin(next)
		secret := g.key.signer()
		prepared, err := next.Commit(secret, secret.PublicKey(), nil)
		if err != nil {
			return err
		}
		authenticated := prepared.AuthenticatedContent()
		commit = framing.NewMLSMessagePublic(&framing.PublicMessage{
			Content: authenticated.Content, Auth: authenticated.Auth, MembershipTag: prepared.MembershipTag(),
		}).Marshal()
		if err := next.MergeCommit(prepared); err != nil {
			return err
		}
		welcome, err = g.welcome(next, prepared)
		return err
	})
	if err != nil {
		return nil, nil, errors.New("commit proposals: they do not fit together")
	}
	if _, err := memberKeys(next); err != nil {
		return nil, nil, fmt.Errorf("commit proposals: %w", err)
	}
	if len(g.staged) == maxStaged {
		g.staged = slices.Delete(g.staged, 0, 1)
	}
	g.staged = append(g.staged, stagedCommit{commit: commit, next: next})
	return commit, welcome, nil
}

func (g *Group) removesUs(p *group.Proposal) bool {
	return p != nil && p.Type == group.ProposalTypeRemove && p.Remove != nil && p.Remove.Removed == g.inner.OwnLeafIndex()
}

// allowRejoin lets a commit remove a member and add them again with the same signing key. The library compares new
// members' keys with all leaves of the old tree, including removed ones; it looks at one of two forms in which a leaf
// stores its key, and also works with the other one.
func allowRejoin(inner *group.Group) {
	for _, p := range inner.StoredProposals() {
		if p.Proposal == nil || p.Proposal.Type != group.ProposalTypeRemove || p.Proposal.Remove == nil {
			continue
		}
		if leaf := inner.GetTreeLeaf(p.Proposal.Remove.Removed); leaf != nil && leaf.LeafData != nil &&
			leaf.LeafData.SignatureKey != nil {
			leaf.LeafData.SignatureKeyRaw = nil
		}
	}
}

// Apply enters the next epoch by a commit that was announced, ours or another member's. After [ErrWrongEpoch] and
// [ErrOtherGroup] all is as before; after other errors we are no longer in step with the group.
func (g *Group) Apply(commit []byte) error {
	if i := slices.IndexFunc(g.staged, func(s stagedCommit) bool { return bytes.Equal(s.commit, commit) }); i >= 0 {
		g.inner, g.staged = g.staged[i].next, nil
		return nil
	}
	public, err := readPublic(commit)
	if err != nil {
		return err
	}
	if err := g.checkCommit(public); err != nil {
		return err
	}
	next, err := copyGroup(g.inner)
	if err != nil {
		return err
	}
	allowRejoin(next)
	if recoverPanic(func() error { return next.ProcessPublicMessage(public) }) != nil {
		return errors.New("take a commit: it is not valid in this group")
	}
	if leaf := group.LeafNodeIndex(public.Content.Sender.LeafIndex); !bytes.Equal(g.inner.MemberSigningKey(leaf),
		next.MemberSigningKey(leaf)) {
		return errors.New("take a commit: it changes the signing key of who made it")
	}
	if _, err := memberKeys(next); err != nil {
		return fmt.Errorf("take a commit: %w", err)
	}
	g.inner, g.staged = next, nil
	return nil
}

// checkCommit looks at a commit of another member as far as DAVE is narrower than MLS.
func (g *Group) checkCommit(m *framing.PublicMessage) error {
	ours := g.inner.Epoch().AsUint64()
	data, isCommit := m.Content.CommitData()
	switch {
	case !bytes.Equal(m.Content.GroupID, g.inner.ID().AsSlice()):
		return errors.New("take a commit: it is for another group")
	case ours == 0:
		return ErrOtherGroup
	case m.Content.Epoch < ours:
		return ErrWrongEpoch
	case m.Content.Epoch > ours:
		return fmt.Errorf("take a commit: it is for epoch %d, and ours is %d", m.Content.Epoch, ours)
	case m.Content.Sender.Type != framing.SenderTypeMember || !isCommit:
		return errors.New("take a commit: it is not from a member")
	}
	var c *group.Commit
	if err := recoverPanic(func() (err error) {
		c, err = group.UnmarshalCommit(data)
		return err
	}); err != nil || len(c.Proposals) == 0 {
		return errMalformed("a commit")
	}
	for _, p := range c.Proposals {
		i := slices.IndexFunc(g.inner.StoredProposals(), func(s group.StoredProposal) bool {
			return len(p.ProposalRef) > 0 && bytes.Equal(s.Ref, p.ProposalRef)
		})
		if i < 0 {
			return errors.New("take a commit: it has a proposal that nobody may make")
		}
		if g.removesUs(g.inner.StoredProposals()[i].Proposal) {
			return errRemoved
		}
	}
	return nil
}

// welcome returns the Welcome for the members whom the commit adds; nil if it adds none.
//
// The library's own Welcome copies the group's extensions into the GroupInfo, where external_senders is not allowed
// (RFC 9420 section 17.3) and strict members refuse it. So the GroupInfo is created again, with only the tree. The
// secrets for each joiner (the joiner secret and, if the commit has a path, the path secret of the common ancestor) are
// known only to the library: it creates its Welcome for a key of ours instead of each joiner's init key, and the
// secrets are extracted and encrypted to the joiner.
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
	info.Extensions = slices.DeleteFunc(info.Extensions, func(e group.Extension) bool {
		return e.Type != extensions.ExtensionTypeRatchetTree
	})
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

// readableWelcome lets the library create a Welcome that we can read, and returns its GroupSecrets (RFC 9420 section
// 12.4.3.1) for each joiner.
func readableWelcome(next *group.Group, prepared *group.StagedCommit, joiners []*keypackages.KeyPackage,
	secret *ciphersuite.SignaturePrivateKey,
) (*group.Welcome, [][]byte, error) {
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
		packed[i], err = ciphersuite.DecryptWithLabel(probe.Bytes(), "Welcome", drawn.EncryptedGroupInfo,
			&drawn.Secrets[i].EncryptedGroupSecrets, cipherSuite)
		if err != nil {
			return nil, nil, err
		}
	}
	return drawn, packed, nil
}

// sealGroupInfo encrypts a GroupInfo for the owners of the joiner secret (RFC 9420 sections 8 and 12.4.3.1). It
// consumes the secret.
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
