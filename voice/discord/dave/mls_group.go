package dave

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/thomas-vilte/mls-go/credentials"
	"github.com/thomas-vilte/mls-go/extensions"
	"github.com/thomas-vilte/mls-go/framing"
	"github.com/thomas-vilte/mls-go/group"
)

// Errors of [Group.Apply] that leave the group unchanged.
var (
	ErrWrongEpoch = errors.New("the message is for an epoch that is over")
	ErrOtherGroup = errors.New("the commit founds another group than ours") // a Welcome follows if we become a member
)

// errRemoved is what [Group.Apply] returns for a commit that removes us.
var errRemoved = errors.New("the commit removes us from the group")

// maxStaged is how many of our commits for one epoch are kept until a commit is announced.
const maxStaged = 8

// Group is our view of a group. It is not safe for concurrent use.
type Group struct {
	key    *SigningKey
	inner  *group.Group
	staged []stagedCommit
}

// stagedCommit is one of our commits, and the group after it.
type stagedCommit struct {
	commit []byte
	next   *group.Group
}

// CreateGroup creates a group with ourselves as the only member, at epoch 0.
func CreateGroup(id uint64, ticket *KeyPackageBundle, sender ExternalSender) (*Group, error) {
	inner, err := group.NewGroup(group.NewGroupID(groupID(id)), cipherSuite, ticket.keyPackage, ticket.secrets,
		group.WithExtensions([]group.Extension{{Type: extensions.ExtensionTypeExternalSenders, Data: sender.extension()}}))
	if err != nil {
		return nil, errors.New("found a group: the library refuses")
	}
	return &Group{key: ticket.key, inner: inner}, nil
}

// JoinGroup joins a group with a Welcome that was made for the ticket. The group must have the given id, the given
// external sender as its only one, no duplicate members, and only members for whom known returns true.
func JoinGroup(id uint64, welcome []byte, ticket *KeyPackageBundle, sender ExternalSender,
	known func(user uint64) bool,
) (*Group, error) {
	g := &Group{key: ticket.key}
	err := recoverPanic(func() error {
		w, err := group.UnmarshalWelcome(welcome)
		if err != nil {
			return err
		}
		g.inner, err = group.JoinFromWelcome(w, ticket.keyPackage, ticket.secrets, nil)
		return err
	})
	if err != nil {
		return nil, errors.New("join by a Welcome: it is not for us, or does not fit together")
	}
	context := g.inner.GroupContext()
	ext := context.Extensions
	switch {
	case context.CipherSuite != cipherSuite:
		return nil, fmt.Errorf("join by a Welcome: the group has cipher suite %d", context.CipherSuite)
	case !bytes.Equal(context.GroupID.AsSlice(), groupID(id)):
		return nil, errors.New("join by a Welcome: it is for another group")
	case len(ext) != 1 || ext[0].Type != extensions.ExtensionTypeExternalSenders ||
		!bytes.Equal(ext[0].Data, sender.extension()):
		return nil, errors.New("join by a Welcome: the group has another external sender")
	}
	members, err := memberKeys(g.inner)
	if err != nil {
		return nil, fmt.Errorf("join by a Welcome: %w", err)
	}
	for user := range members {
		if !known(user) {
			return nil, fmt.Errorf("join by a Welcome: user %d is in the group, and not in the call", user)
		}
	}
	return g, nil
}

func groupID(id uint64) []byte { return binary.BigEndian.AppendUint64(nil, id) }

// Append adds a proposal of the external sender. It refuses to add users for whom known returns false.
func (g *Group) Append(message []byte, known func(user uint64) bool) error {
	public, err := readPublic(message)
	if err != nil {
		return err
	}
	content := public.Content
	switch {
	case !bytes.Equal(content.GroupID, g.inner.ID().AsSlice()):
		return errors.New("take a proposal: it is for another group")
	case content.Epoch != g.inner.Epoch().AsUint64():
		return fmt.Errorf("take a proposal: %w", ErrWrongEpoch)
	case content.Sender.Type != framing.SenderTypeExternal:
		return errors.New("take a proposal: it is not from the external sender")
	}
	body, ok := content.ProposalData()
	if !ok {
		return errors.New("take a proposal: it is something else")
	}
	var proposal *group.Proposal
	if err := recoverPanic(func() (err error) {
		proposal, err = group.UnmarshalProposal(body)
		return err
	}); err != nil {
		return errMalformed("a proposal")
	}
	if err := checkProposal(proposal, known); err != nil {
		return err
	}
	if recoverPanic(func() error { return g.inner.ProcessPublicMessage(public) }) != nil {
		return errors.New("take a proposal: it is not valid in this group")
	}
	return nil
}

// checkProposal refuses proposals that DAVE does not use, and users who are not in the call.
func checkProposal(p *group.Proposal, known func(user uint64) bool) error {
	switch {
	case p.Type == group.ProposalTypeRemove && p.Remove != nil:
		return nil
	case p.Type != group.ProposalTypeAdd || p.Add == nil || p.Add.KeyPackage == nil || p.Add.KeyPackage.LeafNode == nil:
		return fmt.Errorf("take a proposal: kind %d is not allowed", p.Type)
	}
	user, err := userOf(p.Add.KeyPackage.LeafNode.Credential)
	if err != nil {
		return fmt.Errorf("take a proposal: %w", err)
	}
	if !known(user) {
		return fmt.Errorf("take a proposal: it adds user %d, who is not in the call", user)
	}
	return nil
}

// Revoke forgets a proposal.
func (g *Group) Revoke(ref []byte) error {
	if !g.inner.RevokeProposal(ref) {
		return errors.New("revoke a proposal: none has that reference")
	}
	return nil
}

// GroupView is what the members of a group have in common at one epoch.
type GroupView struct {
	Epoch         uint64
	Authenticator []byte            // RFC 9420 section 8.7; equal for all members of the same group
	Members       map[uint64][]byte // their public signing keys as uncompressed points
}

// View returns the state of the group.
func (g *Group) View() (GroupView, error) {
	members, err := memberKeys(g.inner)
	if err != nil {
		return GroupView{}, err
	}
	return GroupView{Epoch: g.inner.Epoch().AsUint64(), Authenticator: g.inner.EpochAuthenticator(), Members: members}, nil
}

// Export derives a secret of the present epoch (RFC 9420 section 8.5).
func (g *Group) Export(label string, context []byte, length int) ([]byte, error) {
	secret, err := g.inner.Export(label, context, length)
	if err != nil {
		return nil, errors.New("export a secret: the library refuses")
	}
	return secret, nil
}

// memberKeys returns the signing keys of the members. A duplicate member is an error.
func memberKeys(inner *group.Group) (map[uint64][]byte, error) {
	members := make(map[uint64][]byte)
	for _, m := range inner.GetMembers() {
		user, err := userOf(m.Credential)
		if err != nil {
			return nil, err
		}
		if _, twice := members[user]; twice {
			return nil, fmt.Errorf("user %d is in the group twice", user)
		}
		members[user] = slices.Clone(inner.MemberSigningKey(m.LeafIndex))
	}
	return members, nil
}

func userOf(c *credentials.Credential) (uint64, error) {
	if c == nil || c.CredentialType != credentials.BasicCredential || len(c.Identity) != 8 {
		return 0, errors.New("a credential is not a user id")
	}
	return binary.BigEndian.Uint64(c.Identity), nil
}

// copyGroup returns an independent copy of inner.
func copyGroup(inner *group.Group) (*group.Group, error) {
	state, err := inner.MarshalState()
	if err != nil {
		return nil, errors.New("copy a group: the library refuses")
	}
	again, err := group.UnmarshalGroupState(state)
	clear(state)
	if err != nil {
		return nil, errors.New("copy a group: the library refuses its own copy")
	}
	return again, nil
}
