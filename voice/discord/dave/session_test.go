package dave_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/internal/test/discordtest/delivery"
	"clank/voice/discord/dave"
)

const (
	ada = 1000000000000000001
	bob = 1000000000000000002
	cyd = 1000000000000000003
	dot = 1000000000000000004
)

func TestMembersAgreeOnKeysAsTheyCome(t *testing.T) {
	c := callOf(t, ada)
	a := c.session(ada)
	check.Equal(t, "code of somebody alone", a.PrivacyCode(), "")
	for _, user := range []uint64{bob, cyd, dot} {
		c.ours(user)
		c.together()
	}
	c.quiet()
}

func TestTheOneWhoIsAloneIsReadyAndReadableByNobody(t *testing.T) {
	c := callOf(t, ada)
	a := c.session(ada)
	if !a.Ready() || a.Version() != 1 {
		t.Fatalf("ready %v, version %d; want ready, 1", a.Ready(), a.Version())
	}
	frame := frames[dave.Opus]
	got, err := a.Encrypt(dave.Opus, frame)
	if err != nil || bytes.Contains(got, frame[8:]) {
		t.Errorf("encrypt gave %x, %v; want a frame that is not readable", got, err)
	}
	c.quiet()
}

func TestWhoLeavesIsRemoved(t *testing.T) {
	c := callOf(t, ada, bob, cyd, dot)
	b := c.session(bob)
	c.leave(bob)
	c.together()
	sent, err := c.people[ada].Encrypt(dave.Opus, frames[dave.Opus])
	check.Must(t, err)
	check.Fails(t, check.Err(b.Decrypt(ada, dave.Opus, sent)), nil, "it is not authentic")
	c.ours(bob)
	c.together()
	c.leave(ada)
	c.together()
	c.quiet()
}

func TestTheLastOneBeginsAnewAndCanBeJoined(t *testing.T) {
	c := callOf(t, ada, bob)
	a := c.session(ada)
	before := a.PrivacyCode()
	c.leave(bob)
	if !a.Ready() || a.Epoch() != 0 || a.PrivacyCode() != "" {
		t.Errorf("ready %v, epoch %d, code %q; want ready, 0, none", a.Ready(), a.Epoch(), a.PrivacyCode())
	}
	c.ours(cyd)
	c.together()
	if got := a.PrivacyCode(); got == before {
		t.Error("the new group has the code of the old one")
	}
	c.quiet()
}

func TestOneOfSeveralCommitsWins(t *testing.T) {
	t.Parallel()
	for name, order := range map[string][]int{
		"first of two founders": {0, 1}, "second of two founders": {1, 0}, "first of three": {0, 1, 2},
		"last of three": {2, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCall(t)
			members := []uint64{ada, bob, cyd, dot}
			if len(order) == 2 {
				members = members[:2]
			}
			last := len(members) - 1
			for _, user := range members[:last] {
				c.ours(user)
			}
			c.service.Hold = true
			c.ours(members[last])
			if got := c.service.Held(); got != len(order) {
				t.Fatalf("%d commits, want one of each who may make one", got)
			}
			c.release(order...)
			c.settle()
			c.together()
			c.quiet()
		})
	}
}

func TestALateCommitThatIsAnnouncedIsPassedOver(t *testing.T) {
	t.Parallel()
	c := newCall(t)
	c.service.AnnounceAll = true
	for _, user := range []uint64{ada, bob, cyd} {
		c.ours(user)
	}
	c.service.Hold = true
	c.ours(dot)
	c.release()
	c.settle()
	c.together()
	c.quiet()
	for user, sent := range c.sent {
		if sent[dave.OpInvalid] > 0 {
			t.Errorf("%d called a late commit invalid", user)
		}
	}
}

func TestABrokenWelcomeIsReportedAndMadeGood(t *testing.T) {
	t.Parallel()
	for name, members := range map[string][]uint64{"founding": {ada}, "third": {ada, bob}, "fourth": {ada, bob, cyd}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCall(t)
			for _, user := range members {
				c.ours(user)
			}
			broken := c.breakWelcome()
			c.ours(dot)
			if *broken != 1 {
				t.Fatalf("%d Welcomes broken, want 1", *broken)
			}
			c.together()
			if len(c.problems) == 0 {
				t.Error("nobody noticed")
			}
		})
	}
}

func TestABrokenCommitIsReportedAndMadeGood(t *testing.T) {
	c := callOf(t, ada, bob, cyd)
	var victim uint64
	c.service.Tamper = func(m delivery.Message) []delivery.Message {
		// The one whose commit it is takes it as it was.
		if m.Op == delivery.OpAnnounceCommit && victim == 0 && m.To == cyd {
			victim = m.To
			m.Payload = bytes.Clone(m.Payload)
			m.Payload[len(m.Payload)-40] ^= 1
		}
		return []delivery.Message{m}
	}
	c.ours(dot)
	if victim == 0 || c.sent[victim][dave.OpInvalid] != 1 {
		t.Fatalf("victim %d reported %d times, want once", victim, c.sent[victim][dave.OpInvalid])
	}
	c.together()
}

func TestNothingIsReadableBetweenVersions(t *testing.T) {
	c := callOf(t, ada, bob)
	a, b := c.session(ada), c.session(bob)
	frame := frames[dave.Opus]

	old := newOurs(c, cyd) // does not speak the protocol
	old.Connected(ada, bob)
	c.join(cyd, old, 0)
	underWay, err := a.Encrypt(dave.Opus, frame)
	if err != nil || bytes.Equal(underWay, frame) {
		t.Fatalf("before the transition: %x, %v; want an encrypted frame", underWay, err)
	}
	c.settle()
	for _, p := range []*ours{a, b, old} {
		if got, err := p.Encrypt(dave.Opus, frame); err != nil || !bytes.Equal(got, frame) || p.Version() != 0 {
			t.Errorf("after the downgrade %d sends %x, %v in version %d", p.id, got, err, p.Version())
		}
	}
	if got, err := b.Decrypt(ada, dave.Opus, frame); err != nil || !bytes.Equal(got, frame) {
		t.Errorf("a frame in clear comes as %x, %v", got, err)
	}
	if got, err := b.Decrypt(ada, dave.Opus, underWay); err != nil || !bytes.Equal(got, frame) {
		t.Errorf("a frame that was under way comes as %x, %v", got, err)
	}
	c.clock.now = c.clock.now.Add(11 * time.Second)
	if _, err := b.Decrypt(ada, dave.Opus, frame); err != nil || !b.Unencrypted() {
		t.Errorf("a frame in clear long after the downgrade: %v, unencrypted %v", err, b.Unencrypted())
	}

	c.leave(cyd)
	c.together()
	check.Equal(t, "a.Version()", a.Version(), 1)
	check.Must(t, check.Err(b.Decrypt(ada, dave.Opus, frame))) // a frame in clear that was under way
	c.clock.now = c.clock.now.Add(11 * time.Second)
	check.Fails(t, check.Err(b.Decrypt(ada, dave.Opus, frame)), nil, "it is not encrypted, and it should be")
	c.quiet()
}

// The gateway says whatever makes a session use keys that it had before. The same key, nonce and frame give the same
// bytes.
func TestNoNonceIsUsedTwiceWhateverTheGatewaySays(t *testing.T) {
	t.Parallel()
	version := func(id, v int) []any {
		return []any{dave.OpPrepareTransition, fmt.Sprintf(`{"transition_id":%d,"protocol_version":%d}`, id, v)}
	}
	execute := []any{dave.OpExecuteTransition, `{"transition_id":7}`}
	broken := []any{dave.OpAnnounceCommit, []byte{0, 0, 1}}
	anew := []any{dave.OpPrepareEpoch, `{"protocol_version":1,"epoch":1}`}
	again := []any{dave.OpAnnounceCommit, []byte(nil)} // the commit that was announced
	moves := [][]any{version(0, 0), version(0, 1), version(7, 0), version(7, 1), execute, broken, anew, again}
	rows := map[string][][]any{
		"off and on":                        {version(0, 0), version(0, 1)},
		"off and on with the others":        {version(7, 0), execute, version(7, 1), execute},
		"announced before a broken commit":  {version(7, 1), broken, execute},
		"off, and the commit that was":      {version(0, 0), again, version(0, 1)},
		"made anew, off and on":             {anew, version(0, 1), nil, version(0, 0), version(0, 1)},
		"announced, made anew and executed": {version(7, 1), anew, version(0, 1), nil, execute},
	}
	for seed := range uint64(20) {
		r, name := rand.New(rand.NewPCG(seed, 9)), fmt.Sprintf("by chance %d", seed)
		for range 40 {
			rows[name] = append(rows[name], moves[r.IntN(len(moves))])
		}
	}
	for name, row := range rows {
		c := newCall(t)
		var announced []byte
		c.service.Tamper = func(m delivery.Message) []delivery.Message {
			if m.To == ada && m.Op == delivery.OpAnnounceCommit {
				announced = m.Payload
			}
			return []delivery.Message{m}
		}
		a := c.ours(ada)
		c.ours(bob)
		c.together()
		before := map[string]bool{}
		speak := func() {
			for range 5 {
				sent, err := a.Encrypt(dave.Opus, frames[dave.Opus])
				if err != nil || a.Version() == 0 {
					return
				}
				if before[string(sent)] {
					t.Fatalf("%s: a frame was encrypted with a key and nonce of one before", name)
				}
				before[string(sent)] = true
			}
		}
		speak()
		for _, move := range row {
			switch {
			case move == nil:
			case move[0] == dave.OpAnnounceCommit:
				payload := move[1].([]byte)
				if payload == nil {
					payload = announced
				}
				_ = a.HandleBinary(dave.OpAnnounceCommit, payload)
			default:
				_ = a.HandleJSON(move[0].(int), json.RawMessage(move[1].(string)))
			}
			speak()
		}
		if len(before) < 10 {
			t.Errorf("%s: only %d frames were encrypted", name, len(before))
		}
	}
}

func TestNothingIsSentWithoutEncryptionWhereItIsRequired(t *testing.T) {
	t.Parallel()
	for version, want := range map[int]error{0: dave.ErrNotReady, 1: nil} {
		c := newCall(t)
		c.required = true
		a := c.ours(ada)
		check.Must(t, a.HandleJSON(dave.OpPrepareTransition, fmt.Appendf(nil, `{"transition_id":0,"protocol_version":%d}`,
			version)))
		sent, err := a.Encrypt(dave.Opus, frames[dave.Opus])
		if !errors.Is(err, want) || (sent == nil) != (want != nil) || a.Ready() != (want == nil) {
			t.Errorf("version %d: sent %x, %v, ready %v; want %v", version, sent, err, a.Ready(), want)
		}
	}
}

func TestNothingIsSentWhileAHandshakeRuns(t *testing.T) {
	c := callOf(t, ada)
	b := newOurs(c, bob)
	check.Fails(t, check.Err(b.Encrypt(dave.Opus, frames[dave.Opus])), dave.ErrNotReady)
	c.pass = func(_ uint64, s said) bool { return s.op != dave.OpTransitionReady }
	c.join(bob, b, 1)
	c.settle()
	if _, err := b.Encrypt(dave.Opus, frames[dave.Opus]); !errors.Is(err, dave.ErrNotReady) || b.Ready() {
		t.Errorf("while others are not ready: %v, ready %v; want ErrNotReady", err, b.Ready())
	}
	c.service.Execute() // the server waits no longer
	c.settle()
	c.together()
	c.quiet()
}

func TestOldKeysServeForAWhile(t *testing.T) {
	c := callOf(t, ada, bob)
	a, b := c.session(ada), c.session(bob)
	var underWay [3][]byte
	for i := range underWay {
		var err error
		if underWay[i], err = a.Encrypt(dave.Opus, frames[dave.Opus]); err != nil {
			t.Fatal(err)
		}
	}
	c.ours(cyd)
	c.clock.now = c.clock.now.Add(9 * time.Second)
	check.Must(t, check.Err(b.Decrypt(ada, dave.Opus, underWay[0]))) // after 9 s
	check.Fails(t, check.Err(b.Decrypt(ada, dave.Opus, underWay[0])), nil, "it came before")
	c.clock.now = c.clock.now.Add(2 * time.Second)
	check.Fails(t, check.Err(b.Decrypt(ada, dave.Opus, underWay[1])), nil, "it is not authentic")
	c.together()
	c.quiet()
}

func TestWhoIsNotInTheCallIsNotAdded(t *testing.T) {
	c := callOf(t, ada, bob)
	spy := newCall(t)
	var offered []byte
	spy.pass = func(_ uint64, s said) bool {
		offered = s.payload
		return false
	}
	spy.ours(dot)
	check.Must(t, c.service.Intrude(dot, offered))
	before := c.sent[ada][dave.OpCommitWelcome]
	c.settle()
	if len(c.problems) != 2 {
		t.Errorf("problems %v, want one of each member", c.problems)
	}
	if got := c.sent[ada][dave.OpCommitWelcome]; got != before {
		t.Error("somebody commits to adding who is not in the call")
	}
}

func TestAWelcomeWithSomebodyWhoIsNotInTheCallIsRefused(t *testing.T) {
	c := callOf(t, ada, bob, dot)
	p := newOurs(c, cyd)
	c.pass = func(from uint64, s said) bool {
		return from != cyd || s.op != dave.OpKeyPackage || c.sent[cyd][dave.OpInvalid] == 0
	}
	c.join(cyd, p, 1)
	p.Disconnected(dot) // the gateway does not say that dot listens
	c.settle()
	if got, err := p.Encrypt(dave.Opus, frames[dave.Opus]); !errors.Is(err, dave.ErrNotReady) || p.PrivacyCode() != "" {
		t.Errorf("encrypt: %x, %v, code %q; want ErrNotReady and no group", got, err, p.PrivacyCode())
	}
	if got := c.sent[cyd][dave.OpInvalid]; got != 1 || len(c.problems) != 1 {
		t.Fatalf("reported %d times, problems %v; want one", got, c.problems)
	}
	check.Contains(t, c.problems[0].Error(), strconv.Itoa(dot), "not in the call")
	c.pass = nil
	c.leave(cyd)
	c.ours(cyd)
	c.together()
}

func TestProposalsOfAnotherEpochAreForMembersToRefuse(t *testing.T) {
	t.Parallel()
	c := newCall(t)
	var sender []byte
	var proposals [][]byte // of epochs 0 and 1
	c.service.Tamper = func(m delivery.Message) []delivery.Message {
		if m.To == ada && m.Op == delivery.OpExternalSender {
			sender = m.Payload
		}
		if m.To == ada && m.Op == delivery.OpProposals {
			proposals = append(proposals, m.Payload)
		}
		return []delivery.Message{m}
	}
	a := c.ours(ada)
	c.ours(bob)
	c.ours(cyd)
	if len(proposals) != 2 {
		t.Fatalf("%d proposals, want those that add bob and cyd", len(proposals))
	}
	check.Fails(t, a.HandleBinary(dave.OpProposals, proposals[1]), dave.ErrWrongEpoch)
	waiting := newOurs(newCall(t), dot)
	check.Must(t, waiting.Select(1))
	check.Must(t, waiting.HandleBinary(dave.OpExternalSender, sender))
	check.Must(t, waiting.HandleBinary(dave.OpProposals, proposals[1]))
	check.Fails(t, waiting.HandleBinary(dave.OpProposals, proposals[0]), nil, "who is not in the call")
}

func TestSilencePassesWithoutKeys(t *testing.T) {
	c := callOf(t, ada)
	a := c.session(ada)
	silence := []byte{0xF8, 0xFF, 0xFE}
	if got, err := a.Decrypt(bob, dave.Opus, silence); err != nil || !bytes.Equal(got, silence) {
		t.Errorf("silence comes as %x, %v", got, err)
	}
	check.Fails(t, check.Err(a.Decrypt(bob, dave.VP8, silence)), nil, "it is not encrypted, and it should be")
}

func TestSeveralComeAndGoAtOnce(t *testing.T) {
	c := callOf(t, ada, bob, cyd)
	// Commits wait until somebody has gone and two have come: one commit removes and adds.
	c.service.Hold = true
	c.leave(bob)
	c.ours(dot)
	c.ours(bob)
	c.release()
	c.settle()
	c.together()
	c.quiet()
	check.Equal(t, "epoch", c.service.Epoch(), 3)
}

func TestWhoIsWelcomedGetsTheSecretsOfTheirPath(t *testing.T) {
	c := callOf(t, ada, bob, cyd, dot)
	c.leave(bob)
	c.ours(bob) // next to ada in the tree, by a commit of ada's
	c.service.Hold = true
	c.ours(dot + 1)
	c.release(1, 0, 2, 3) // cyd's commit is encrypted to ada and bob by the node above them
	c.together()
	c.quiet()
}

func TestAnyComingAndGoingEndsTogether(t *testing.T) {
	t.Parallel()
	steps := 15
	if testing.Short() {
		steps = 6
	}
	for seed := range uint64(2) {
		wander(newCall(t), seed, steps, func(c *call, user uint64) { c.ours(user) })
	}
}

// wander has people come and go, one or several at once, and checks each time that those who are there are together.
// Ada stays: davey leaves the Welcome out of a commit when somebody's proposal comes between, so somebody else has to
// be there.
func wander(c *call, seed uint64, steps int, bring func(c *call, user uint64)) {
	c.t.Helper()
	r := rand.New(rand.NewPCG(seed, 0))
	bring(c, ada)
	for range steps {
		c.service.Hold = r.IntN(2) == 0
		for range 1 + r.IntN(3) {
			user := ada + 1 + r.Uint64N(8)
			if c.people[user] != nil {
				c.leave(user)
			} else {
				bring(c, user)
			}
		}
		if held := c.service.Held(); held > 0 {
			c.release(r.Perm(held)...)
		}
		c.service.Hold = false
		c.settle()
		if len(c.order) > 0 {
			c.together()
		}
		if c.t.Failed() {
			c.t.Fatalf("seed %d: problems %v, refused %v", seed, c.problems, c.refused)
		}
	}
	c.quiet()
}

func TestATransitionIsExecutedOnceAndAsItWasAnnouncedLast(t *testing.T) {
	c := callOf(t, ada, bob)
	a := c.session(ada)
	announce := func(id, version int) {
		t.Helper()
		text := fmt.Sprintf(`{"transition_id":%d,"protocol_version":%d}`, id, version)
		check.Must(t, a.HandleJSON(dave.OpPrepareTransition, json.RawMessage(text)))
	}
	execute := func(id, version int, ok bool) {
		t.Helper()
		err := a.HandleJSON(dave.OpExecuteTransition, json.RawMessage(fmt.Sprintf(`{"transition_id":%d}`, id)))
		if (err == nil) != ok || a.Version() != version {
			t.Errorf("transition %d: %v, and the version is %d, want %d", id, err, a.Version(), version)
		}
	}
	announce(6, 1)
	announce(7, 1)
	announce(7, 0)
	execute(7, 0, true)
	execute(7, 0, false)
	execute(6, 0, false) // it is void with one that came later
	for id := range 17 { // more than are kept
		announce(10+id, 1)
	}
	execute(10, 0, false)
	execute(11, 1, true)
	execute(26, 1, true)
}

func TestMessagesThatMakeNoSense(t *testing.T) {
	c := callOf(t, ada, bob)
	a := c.session(ada)
	before := a.PrivacyCode()
	for want, err := range map[string]error{
		"op 29 of the voice gateway: it is too short": a.HandleBinary(dave.OpAnnounceCommit, []byte{1}),
		"op 30 of the voice gateway: it is too short": a.HandleBinary(dave.OpWelcome, nil),
		"read proposals: it is malformed":             a.HandleBinary(dave.OpProposals, nil),
		"read a proposal: it is malformed":            a.HandleBinary(dave.OpProposals, []byte{0, 3, 1, 2, 3}),
		"proposals: it is malformed":                  a.HandleBinary(dave.OpProposals, []byte{2, 0}),
		"revoke a proposal: none has that reference":  a.HandleBinary(dave.OpProposals, []byte{1, 3, 2, 1, 2}),
		"read an external sender: it is malformed":    a.HandleBinary(dave.OpExternalSender, []byte{1, 2, 3}),
		"binary op 99 of the voice gateway is not":    a.HandleBinary(99, nil),
		"read op 21 of the voice gateway":             a.HandleJSON(dave.OpPrepareTransition, json.RawMessage(`{`)),
		"op 99 of the voice gateway is not":           a.HandleJSON(99, json.RawMessage(`{}`)),
		"take op 24 of the voice gateway: version 2 is not known": a.HandleJSON(dave.OpPrepareEpoch,
			json.RawMessage(`{"protocol_version":2,"epoch":1}`)),
		"transition 77: it was not announced": a.HandleJSON(dave.OpExecuteTransition,
			json.RawMessage(`{"transition_id":77}`)),
		"the gateway wants version 2 of it": a.Select(2),
	} {
		check.Fails(t, err, nil, want)
	}
	check.Equal(t, "a.PrivacyCode()", a.PrivacyCode(), before)
	c.together()
}

func TestAReconnectBeginsAnew(t *testing.T) {
	c := callOf(t, ada, bob)
	a := c.session(ada)
	c.leave(ada)
	c.join(ada, a, 1) // the same session on a new connection
	if a.Ready() {
		t.Error("ready with the keys of the connection before")
	}
	c.settle()
	c.together()
	c.quiet()
}

func TestMessagesInTheWrongOrder(t *testing.T) {
	c := callOf(t, ada, bob)
	// A Welcome comes before the external sender that it is to be checked by.
	var sender *delivery.Message
	c.service.Tamper = func(m delivery.Message) []delivery.Message {
		switch {
		case m.To == cyd && m.Op == delivery.OpExternalSender && sender == nil:
			sender = &m
			return nil
		case m.To == cyd && m.Op == delivery.OpWelcome && sender.Op != 0:
			late := *sender
			sender.Op = 0
			return []delivery.Message{m, late}
		}
		return []delivery.Message{m}
	}
	c.ours(cyd)
	check.Equal(t, "c.sent[cyd][dave.OpInvalid]", c.sent[cyd][dave.OpInvalid], 1)
	c.together()
}

func TestATransitionThatFailsLeavesNothingToSendWith(t *testing.T) {
	c := callOf(t, ada, bob, cyd)
	b := c.session(bob)
	c.service.Tamper = func(m delivery.Message) []delivery.Message {
		if m.To == bob && m.Op == delivery.OpAnnounceCommit {
			m.Payload = append(bytes.Clone(m.Payload), 1)
		}
		return []delivery.Message{m}
	}
	c.pass = func(from uint64, s said) bool { return from != bob || s.op != dave.OpKeyPackage }
	c.ours(dot)
	// The others have moved on, and we are yet to be added again.
	if got, err := b.Encrypt(dave.Opus, frames[dave.Opus]); !errors.Is(err, dave.ErrNotReady) || b.Ready() ||
		b.Version() != 1 {
		t.Errorf("encrypt: %x, %v, ready %v in version %d; want ErrNotReady in 1", got, err, b.Ready(), b.Version())
	}
}

func TestAllAtOnce(t *testing.T) {
	c := callOf(t, ada, bob)
	a, b := c.session(ada), c.session(bob)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for _, run := range []func(){
		func() { _, _ = a.Encrypt(dave.Opus, frames[dave.Opus]) },
		func() { _, _ = a.Encrypt(dave.VP8, frames[dave.VP8]) },
		func() {
			if sent, err := b.Encrypt(dave.Opus, frames[dave.Opus]); err == nil {
				_, _ = a.Decrypt(bob, dave.Opus, sent)
			}
		},
		func() { a.Ready(); a.Version(); a.Epoch(); a.PrivacyCode() },
		func() { a.Connected(dot + 1); a.Disconnected(dot + 1) },
	} {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					run()
				}
			}
		})
	}
	c.ours(cyd)
	c.leave(cyd)
	close(stop)
	wg.Wait()
	c.together()
	c.quiet()
}

// FuzzGateway has the gateway say anything, in any order, to a session that is in a call. It must come out alive, and
// never send in clear.
func FuzzGateway(f *testing.F) {
	f.Add(byte(27), []byte{0, 0}, byte(29), []byte{0, 1, 0, 1, 0, 1})
	f.Add(byte(25), []byte{1, 2}, byte(30), []byte{0, 0, 0, 2})
	f.Add(byte(21), []byte(`{"transition_id":0,"protocol_version":1}`), byte(24),
		[]byte(`{"epoch":1,"protocol_version":1}`))
	f.Fuzz(func(t *testing.T, op1 byte, one []byte, op2 byte, two []byte) {
		s, err := dave.New(dave.Options{
			UserID: ada, GroupID: channel, SendBinary: func(byte, []byte) {},
			SendJSON: func(int, any) {},
		})
		check.Must(t, err)
		s.Connected(bob)
		check.Must(t, s.Select(1))
		for _, m := range []struct {
			op      byte
			payload []byte
		}{{op1, one}, {op2, two}} {
			_ = s.HandleBinary(m.op, m.payload)
			_ = s.HandleJSON(int(m.op), m.payload)
		}
		if s.Version() == 0 {
			return // it was led there
		}
		if got, err := s.Encrypt(dave.Opus, frames[dave.Opus]); err == nil && bytes.Contains(got, frames[dave.Opus]) {
			t.Errorf("sent in clear: %x", got)
		}
	})
}
