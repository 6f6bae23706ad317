package dave_test

import (
	"bytes"
	"testing"

	"clank/internal/test/check"
	"clank/internal/test/discordtest/delivery"
	"clank/voice/discord/dave"
)

const mlsChannel = 7

// gateway hands out what a delivery service sends, by who gets it.
type gateway struct {
	t       *testing.T
	service *delivery.Service
	sent    map[uint64][]delivery.Message
}

func newGateway(t *testing.T) *gateway {
	t.Helper()
	g := &gateway{t: t, sent: make(map[uint64][]delivery.Message)}
	var err error
	if g.service, err = delivery.New(mlsChannel, func(m delivery.Message) {
		g.sent[m.To] = append(g.sent[m.To], m)
	}); err != nil {
		t.Fatal(err)
	}
	return g
}

// take gives the payload of the first message with op to user, and forgets those up to it.
func (g *gateway) take(user uint64, op byte) []byte {
	g.t.Helper()
	for i, m := range g.sent[user] {
		if m.Op == op {
			g.sent[user] = g.sent[user][i+1:]
			return m.Payload
		}
	}
	g.t.Fatalf("%d got no op %d", user, op)
	return nil
}

// client is somebody who is about to be in a group.
type client struct {
	user   uint64
	key    *dave.SigningKey
	ticket *dave.KeyPackageBundle
	sender dave.ExternalSender
	group  *dave.Group
}

func (g *gateway) client(user uint64) *client {
	g.t.Helper()
	key, err := dave.NewSigningKey()
	check.Must(g.t, err)
	c := &client{user: user, key: key}
	if c.ticket, err = dave.NewKeyPackageBundle(user, key); err != nil {
		g.t.Fatal(err)
	}
	g.service.Join(user, 1)
	g.service.Selected(user)
	if c.sender, err = dave.ParseExternalSender(g.take(user, delivery.OpExternalSender)); err != nil {
		g.t.Fatal(err)
	}
	if c.group, err = dave.CreateGroup(mlsChannel, c.ticket, c.sender); err != nil {
		g.t.Fatal(err)
	}
	check.Must(g.t, g.service.KeyPackage(user, c.ticket.KeyPackage()))
	return c
}

func anybody(uint64) bool { return true }

// append gives the group what the gateway proposes.
func (g *gateway) append(c *client) error {
	g.t.Helper()
	change, err := dave.ParseProposals(g.take(c.user, delivery.OpProposals))
	check.Must(g.t, err)
	for _, p := range change.Proposals {
		if err := c.group.Append(p, anybody); err != nil {
			return err
		}
	}
	for _, ref := range change.Revoked {
		if err := c.group.Revoke(ref); err != nil {
			return err
		}
	}
	return nil
}

func (g *gateway) commit(c *client) (commit, welcome []byte) {
	g.t.Helper()
	commit, welcome, err := c.group.Commit()
	check.Must(g.t, err)
	return commit, welcome
}

func view(t *testing.T, g *dave.Group) dave.GroupView {
	t.Helper()
	v, err := g.View()
	check.Must(t, err)
	return v
}

// pair returns a group of two.
func pair(t *testing.T) (*gateway, *client, *client) {
	t.Helper()
	g := newGateway(t)
	a, b := g.client(1), g.client(2)
	check.Must(t, g.append(a))
	commit, welcome := g.commit(a)
	check.Must(t, g.service.Commit(1, append(bytes.Clone(commit), welcome...)))
	check.Must(t, a.group.Apply(g.take(1, delivery.OpAnnounceCommit)[2:]))
	joined, err := dave.JoinGroup(mlsChannel, g.take(2, delivery.OpWelcome)[2:], b.ticket, b.sender, anybody)
	check.Must(t, err)
	b.group = joined
	return g, a, b
}

func TestAnEarlierCommitOfOursMayBeTheOneThatCounts(t *testing.T) {
	t.Parallel()
	g, a, b := pair(t)
	g.client(3)
	check.Must(t, g.append(a))
	first, _ := g.commit(a)
	second, _ := g.commit(a)
	if bytes.Equal(first, second) {
		t.Fatal("two commits are the same")
	}
	check.Must(t, g.append(b))
	for _, c := range []*client{a, b} {
		check.Must(t, c.group.Apply(first))
		check.Fails(t, c.group.Apply(second), dave.ErrWrongEpoch)
	}
	check.Diff(t, "groups of the two", view(t, b.group), view(t, a.group))
}

func TestWhoIsToBeRemovedLeavesItToOthers(t *testing.T) {
	t.Parallel()
	g, a, b := pair(t)
	c := g.client(3)
	g.service.Leave(2) // and before anybody has added the third
	for range 2 {
		change, err := dave.ParseProposals(g.take(1, delivery.OpProposals))
		check.Must(t, err)
		for _, p := range change.Proposals {
			check.Must(t, a.group.Append(p, anybody))
			check.Must(t, b.group.Append(p, anybody)) // the one who has left hears of it as well
		}
	}
	if commit, welcome, err := b.group.Commit(); commit != nil || welcome != nil || err != nil {
		t.Errorf("who is to be removed commits %x, %x, %v", commit, welcome, err)
	}
	commit, welcome := g.commit(a)
	check.Must(t, g.service.Commit(1, append(bytes.Clone(commit), welcome...)))
	joined, err := dave.JoinGroup(mlsChannel, g.take(3, delivery.OpWelcome)[2:], c.ticket, c.sender, anybody)
	check.Must(t, err)
	check.Must(t, a.group.Apply(commit))
	check.Diff(t, "groups of the two", view(t, joined), view(t, a.group))
	check.Fails(t, b.group.Apply(commit), nil, "removes us")
}

func TestChangesThatAreCutAreRefused(t *testing.T) {
	t.Parallel()
	for _, payload := range map[string][]byte{
		"nothing": nil, "a kind alone": {1}, "a cut list": {1, 3, 2, 1}, "more than the list": {1, 3, 2, 1, 2, 9},
		"a cut reference": {1, 2, 2, 1}, "a reference of no size": {1, 2, 0xc0, 1}, "a cut proposal": {0, 3, 0, 1, 0},
	} {
		check.Fails(t, check.Err(dave.ParseProposals(payload)), nil, "malformed")
	}
}

func TestAWelcomeMustBeForOurGroup(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	a, b := g.client(1), g.client(2)
	check.Must(t, g.append(a))
	_, welcome := g.commit(a)
	other := newGateway(t).client(2)
	for _, join := range map[string]func() (*dave.Group, error){
		"other channel": func() (*dave.Group, error) {
			return dave.JoinGroup(mlsChannel+1, welcome, b.ticket, b.sender, anybody)
		},
		"other sender": func() (*dave.Group, error) {
			return dave.JoinGroup(mlsChannel, welcome, b.ticket, other.sender, anybody)
		},
		"other ticket": func() (*dave.Group, error) {
			return dave.JoinGroup(mlsChannel, welcome, other.ticket, b.sender, anybody)
		},
		"nothing": func() (*dave.Group, error) { return dave.JoinGroup(mlsChannel, nil, b.ticket, b.sender, anybody) },
		"half": func() (*dave.Group, error) {
			return dave.JoinGroup(mlsChannel, welcome[:len(welcome)/2], b.ticket, b.sender, anybody)
		},
	} {
		check.Fails(t, check.Err(join()), nil, "join by a Welcome: ")
	}
	check.Must(t, check.Err(dave.JoinGroup(mlsChannel, welcome, b.ticket, b.sender, anybody))) // the right one
}

func TestCommitsThatAreRefused(t *testing.T) {
	t.Parallel()
	g, a, b := pair(t)
	g.client(3)
	check.Must(t, g.append(a))
	commit, _ := g.commit(a)
	before := view(t, b.group)
	check.Fails(t, b.group.Apply(commit), nil, "a proposal that nobody may make")
	check.Must(t, g.append(b))
	for i := 0; i < len(commit); i += 7 {
		changed := bytes.Clone(commit)
		changed[i] ^= 1
		check.Fails(t, b.group.Apply(changed), nil)
	}
	check.Diff(t, "group afterwards", view(t, b.group), before)
	check.Must(t, b.group.Apply(commit)) // the right one
	stranger := newGateway(t).client(9)
	check.Fails(t, stranger.group.Apply(commit), dave.ErrOtherGroup)
}

func TestProposalsThatAreRefused(t *testing.T) {
	t.Parallel()
	g, a, _ := pair(t)
	g.client(3)
	change, err := dave.ParseProposals(g.take(1, delivery.OpProposals))
	check.Must(t, err)
	proposal := change.Proposals[0]
	check.Fails(t, a.group.Append(proposal, func(user uint64) bool { return user != 3 }),
		nil, "it adds user 3, who is not in the call")
	for i := 0; i < len(proposal); i += 3 {
		changed := bytes.Clone(proposal)
		changed[i] ^= 1
		check.Fails(t, a.group.Append(changed, anybody), nil)
	}
	if commit, _ := g.commit(a); commit != nil {
		t.Error("there is something to commit after all that")
	}
	check.Must(t, a.group.Append(proposal, anybody)) // the right one
	check.Fails(t, a.group.Append(proposal, anybody), nil, "not valid in this group")
}

func FuzzParseChange(f *testing.F) {
	f.Add([]byte{0, 0})
	f.Add([]byte{1, 3, 2, 1, 2})
	f.Add(append([]byte{0, 40, 0, 1, 0, 1, 8}, make([]byte, 40)...))
	f.Fuzz(func(t *testing.T, payload []byte) {
		c, err := dave.ParseProposals(payload)
		if err != nil {
			return
		}
		total := 0
		for _, part := range append(c.Proposals, c.Revoked...) {
			total += len(part)
		}
		if total > len(payload) {
			t.Errorf("%d bytes of a payload of %d", total, len(payload))
		}
	})
}

func FuzzParseSender(f *testing.F) {
	f.Add([]byte{0, 0, 1, 0})
	f.Fuzz(func(_ *testing.T, encoded []byte) { _, _ = dave.ParseExternalSender(encoded) })
}

// FuzzJoin has a member take anything for a Welcome or a commit.
func FuzzJoin(f *testing.F) {
	key, err := dave.NewSigningKey()
	check.Must(f, err)
	ticket, err := dave.NewKeyPackageBundle(1, key)
	check.Must(f, err)
	sender, err := dave.ParseExternalSender(append(append([]byte{0x40, 65}, key.Public()...), 0, 1, 1, 7))
	check.Must(f, err)
	f.Add([]byte{0, 2, 0, 0})
	f.Add([]byte{0, 1, 0, 1, 8, 0, 0, 0, 0, 0, 0, 0, 7})
	f.Fuzz(func(t *testing.T, message []byte) {
		if _, err := dave.JoinGroup(mlsChannel, message, ticket, sender, anybody); err == nil {
			t.Error("joined by what is no Welcome for us")
		}
		g, err := dave.CreateGroup(mlsChannel, ticket, sender)
		check.Must(t, err)
		if err := g.Apply(message); err == nil {
			t.Error("took what nobody committed")
		}
		if err := g.Append(message, anybody); err == nil {
			t.Error("took what nobody proposed")
		}
	})
}
