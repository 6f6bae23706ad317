package delivery_test

import (
	"bytes"
	"slices"
	"testing"

	"clank/internal/test/discordtest/delivery"
	"clank/voice/discord/dave"

	"github.com/google/go-cmp/cmp"
)

const channel = 7

// room is a service with what it sent.
type room struct {
	t *testing.T
	*delivery.Service
	sent []delivery.Message
}

func newRoom(t *testing.T) *room {
	t.Helper()
	r := &room{t: t}
	var err error
	if r.Service, err = delivery.New(channel, func(m delivery.Message) { r.sent = append(r.sent, m) }); err != nil {
		t.Fatal(err)
	}
	return r
}

// heard returns the opcodes that user got since the last call.
func (r *room) heard(user uint64) (ops []byte) {
	var rest []delivery.Message
	for _, m := range r.sent {
		if m.To == user {
			ops = append(ops, m.Op)
		} else {
			rest = append(rest, m)
		}
	}
	r.sent = rest
	return ops
}

// payload returns the payload of the last message with op to user.
func (r *room) payload(user uint64, op byte) []byte {
	r.t.Helper()
	for _, m := range slices.Backward(r.sent) {
		if m.To == user && m.Op == op {
			return m.Payload
		}
	}
	r.t.Fatalf("%d got no op %d", user, op)
	return nil
}

func ticket(tb testing.TB, user uint64) *dave.KeyPackageBundle {
	tb.Helper()
	key, err := dave.NewSigningKey()
	if err != nil {
		tb.Fatal(err)
	}
	ticket, err := dave.NewKeyPackageBundle(user, key)
	if err != nil {
		tb.Fatal(err)
	}
	return ticket
}

// enter brings somebody in up to their key package, and gives the group that they have founded.
func (r *room) enter(user uint64) *dave.Group {
	r.t.Helper()
	if got := r.Join(user, 1); got != 1 {
		r.t.Fatalf("version %d for %d, want 1", got, user)
	}
	r.Selected(user)
	sender, err := dave.ParseExternalSender(r.payload(user, delivery.OpExternalSender))
	if err != nil {
		r.t.Fatal(err)
	}
	own := ticket(r.t, user)
	g, err := dave.CreateGroup(channel, own, sender)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := r.KeyPackage(user, own.KeyPackage()); err != nil {
		r.t.Fatal(err)
	}
	return g
}

// commit has a founder commit to what was proposed to them last.
func (r *room) commit(user uint64, g *dave.Group) (commit, welcome []byte) {
	r.t.Helper()
	change, err := dave.ParseProposals(r.payload(user, delivery.OpProposals))
	if err != nil {
		r.t.Fatal(err)
	}
	for _, p := range change.Proposals {
		if err := g.Append(p, func(uint64) bool { return true }); err != nil {
			r.t.Fatal(err)
		}
	}
	if commit, welcome, err = g.Commit(); err != nil {
		r.t.Fatal(err)
	}
	return commit, welcome
}

func wantHeard(t *testing.T, r *room, user uint64, want ...byte) {
	t.Helper()
	if diff := cmp.Diff(want, r.heard(user)); diff != "" {
		t.Errorf("%d heard other opcodes:\n%s", user, diff)
	}
}

func TestTheFirstCommitMakesTheGroup(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	a := r.enter(1)
	wantHeard(t, r, 1, delivery.OpExternalSender, delivery.OpPrepareTransition)
	b := r.enter(2)
	commit, welcome := r.commit(1, a)
	late, lateWelcome := r.commit(2, b)
	wantHeard(t, r, 1, delivery.OpProposals)
	wantHeard(t, r, 2, delivery.OpExternalSender, delivery.OpProposals)

	if err := r.Commit(1, append(bytes.Clone(commit), welcome...)); err != nil {
		t.Fatal(err)
	}
	if got := r.payload(1, delivery.OpAnnounceCommit); !bytes.Equal(got[2:], commit) || got[0] != 0 || got[1] != 1 {
		t.Errorf("announced %x, want transition 1 and the commit", got)
	}
	if err := r.Commit(2, append(bytes.Clone(late), lateWelcome...)); err == nil {
		t.Error("a second commit was taken")
	}
	wantHeard(t, r, 1, delivery.OpAnnounceCommit)
	wantHeard(t, r, 2, delivery.OpWelcome)
	if r.Epoch() != 1 || r.Settled() {
		t.Errorf("epoch %d, settled %v; want 1, and not before all are ready", r.Epoch(), r.Settled())
	}
	r.Ready(1, 1)
	r.Ready(1, 1)
	r.Ready(3, 1)
	wantHeard(t, r, 1)
	r.Ready(2, 1)
	wantHeard(t, r, 1, delivery.OpExecuteTransition)
	wantHeard(t, r, 2, delivery.OpExecuteTransition)
	if !r.Settled() {
		t.Error("not settled")
	}
	r.Execute() // there is nothing left
	wantHeard(t, r, 1)
}

func TestKeyPackagesThatAreRefused(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.Join(1, 1)
	good := ticket(t, 1).KeyPackage()
	changed := bytes.Clone(good)
	changed[len(changed)-1] ^= 1
	named := []byte{0, 1, 8, 0, 0, 0, 0, 0, 0, 0, 1} // a basic credential
	nobody := bytes.Replace(good, named, append([]byte{0, 0}, named[2:]...), 1)
	for name, c := range map[string]struct {
		user    uint64
		payload []byte
	}{
		"somebody else's": {1, ticket(t, 2).KeyPackage()},
		"not in the call": {2, ticket(t, 2).KeyPackage()},
		"framed":          {1, append([]byte{0, 1, 0, 5}, good...)},
		"longer":          {1, append(bytes.Clone(good), 0)},
		"changed":         {1, changed},
		"nobody's":        {1, nobody},
		"nothing":         {1, nil},
	} {
		if err := r.KeyPackage(c.user, c.payload); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if err := r.KeyPackage(1, good); err != nil {
		t.Errorf("a good one: %v", err)
	}
}

func TestCommitsThatAreRefused(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	a := r.enter(1)
	r.enter(2)
	commit, welcome := r.commit(1, a)
	whole := append(bytes.Clone(commit), welcome...)
	for name, c := range map[string]struct {
		user    uint64
		payload []byte
	}{
		"of another member":  {2, whole},
		"of a stranger":      {3, whole},
		"without a Welcome":  {1, commit},
		"with half of one":   {1, whole[:len(whole)-9]},
		"with more than one": {1, append(bytes.Clone(whole), 0)},
		"half":               {1, commit[:len(commit)/2]},
		"nothing":            {1, nil},
	} {
		if err := r.Commit(c.user, c.payload); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	r.enter(3) // now it leaves somebody out
	if err := r.Commit(1, whole); err == nil {
		t.Error("a commit that leaves somebody out was taken")
	}
	if got := r.Epoch(); got != 0 {
		t.Errorf("epoch %d, want 0", got)
	}
}

func TestWhoCannotEncryptLeadsAllToClear(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.enter(1)
	r.heard(1)
	if got := r.Join(2, 0); got != 0 {
		t.Errorf("version %d for somebody who knows none, want 0", got)
	}
	r.Selected(2)
	wantHeard(t, r, 2)
	wantHeard(t, r, 1, delivery.OpPrepareTransition)
	if got := r.Join(3, 1); got != 0 {
		t.Errorf("version %d for somebody who comes now, want 0", got)
	}
	r.Selected(3)
	r.Ready(1, 1)
	wantHeard(t, r, 1, delivery.OpExecuteTransition)
	if err := r.KeyPackage(3, ticket(t, 3).KeyPackage()); err == nil {
		t.Error("a key package is taken in version 0")
	}
	r.Leave(2)
	r.Leave(2)
	for _, user := range []uint64{1, 3} {
		wantHeard(t, r, user, delivery.OpPrepareEpoch, delivery.OpExternalSender)
	}
}
