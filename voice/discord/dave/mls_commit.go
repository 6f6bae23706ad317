package dave

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/thomas-vilte/mls-go/framing"
	"github.com/thomas-vilte/mls-go/group"
)

// Commit prepares the next epoch with all proposals that are there: a commit (an MLSMessage) and, if it adds people, a
// Welcome for them. Our group stays where it is until the commit is announced. There is nothing to commit, and all
// results are nil, without proposals, or if we are to be removed: others see to that.
func (g *Group) Commit() (commit, welcome []byte, err error) {
	proposals := g.inner.StoredProposals()
	if len(proposals) == 0 || slices.ContainsFunc(proposals, func(p group.StoredProposal) bool { return g.removesUs(p.Proposal) }) {
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

// allowRejoin lets a commit remove somebody and add them again with the same signing key. The library compares the keys
// of those who come with the leaves of before, leaving out none; it looks at one of two forms in which a leaf has its
// key, and works with the other one as well.
func allowRejoin(inner *group.Group) {
	for _, p := range inner.StoredProposals() {
		if p.Proposal == nil || p.Proposal.Type != group.ProposalTypeRemove || p.Proposal.Remove == nil {
			continue
		}
		if leaf := inner.GetTreeLeaf(p.Proposal.Remove.Removed); leaf != nil && leaf.LeafData != nil && leaf.LeafData.SignatureKey != nil {
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
	if leaf := group.LeafNodeIndex(public.Content.Sender.LeafIndex); !bytes.Equal(g.inner.MemberSigningKey(leaf), next.MemberSigningKey(leaf)) {
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
