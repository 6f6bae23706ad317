package dave_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"sync"
	"testing"

	"clank/internal/test/discordtest/delivery"
	"clank/voice/discord/dave"
)

func TestMessagesThatMakeNoSense(t *testing.T) {
	t.Parallel()
	c := newCall(t)
	a := c.ours(ada)
	c.ours(bob)
	before := a.PrivacyCode()
	for name, handle := range map[string]func() error{
		"short commit":   func() error { return a.HandleBinary(dave.OpAnnounceCommit, []byte{1}) },
		"short welcome":  func() error { return a.HandleBinary(dave.OpWelcome, nil) },
		"no proposals":   func() error { return a.HandleBinary(dave.OpProposals, nil) },
		"odd proposals":  func() error { return a.HandleBinary(dave.OpProposals, []byte{0, 3, 1, 2, 3}) },
		"unknown change": func() error { return a.HandleBinary(dave.OpProposals, []byte{2, 0}) },
		"unknown ref":    func() error { return a.HandleBinary(dave.OpProposals, []byte{1, 3, 2, 1, 2}) },
		"odd sender":     func() error { return a.HandleBinary(dave.OpExternalSender, []byte{1, 2, 3}) },
		"unknown binary": func() error { return a.HandleBinary(99, nil) },
		"no JSON":        func() error { return a.HandleJSON(dave.OpPrepareTransition, json.RawMessage(`{`)) },
		"unknown JSON":   func() error { return a.HandleJSON(99, json.RawMessage(`{}`)) },
		"unknown version": func() error {
			return a.HandleJSON(dave.OpPrepareEpoch, json.RawMessage(`{"protocol_version":2,"epoch":1}`))
		},
		"never announced":  func() error { return a.HandleJSON(dave.OpExecuteTransition, json.RawMessage(`{"transition_id":77}`)) },
		"version to begin": func() error { return a.Select(2) },
	} {
		if err := handle(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if got := a.PrivacyCode(); got != before {
		t.Errorf("code is %q after that, want %q", got, before)
	}
	c.together()
}

func TestAReconnectBeginsAnew(t *testing.T) {
	t.Parallel()
	c := newCall(t)
	a := c.ours(ada)
	c.ours(bob)
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
	t.Parallel()
	c := newCall(t)
	c.ours(ada)
	c.ours(bob)
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
	if got := c.sent[cyd][dave.OpInvalid]; got != 1 {
		t.Errorf("reported %d times, want once", got)
	}
	c.together()
}

func TestATransitionThatFailsLeavesNothingToSendWith(t *testing.T) {
	t.Parallel()
	c := newCall(t)
	c.ours(ada)
	b := c.ours(bob)
	c.ours(cyd)
	c.service.Tamper = func(m delivery.Message) []delivery.Message {
		if m.To == bob && m.Op == delivery.OpAnnounceCommit {
			m.Payload = append(bytes.Clone(m.Payload), 1)
		}
		return []delivery.Message{m}
	}
	c.pass = func(from uint64, s said) bool { return from != bob || s.op != dave.OpKeyPackage }
	c.ours(dot)
	// The others have moved on, and we are yet to be added again.
	if got, err := b.Encrypt(dave.Opus, frames[dave.Opus]); !errors.Is(err, dave.ErrNotReady) || b.Ready() || b.Version() != 1 {
		t.Errorf("encrypt: %x, %v, ready %v in version %d; want ErrNotReady in 1", got, err, b.Ready(), b.Version())
	}
}

func TestAllAtOnce(t *testing.T) {
	t.Parallel()
	c := newCall(t)
	a, b := c.ours(ada), c.ours(bob)
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

// FuzzGateway has the gateway say anything, in any order, to a session that is in a call. It must come out alive, and never send in clear.
func FuzzGateway(f *testing.F) {
	f.Add(byte(27), []byte{0, 0}, byte(29), []byte{0, 1, 0, 1, 0, 1})
	f.Add(byte(25), []byte{1, 2}, byte(30), []byte{0, 0, 0, 2})
	f.Add(byte(21), []byte(`{"transition_id":0,"protocol_version":1}`), byte(24), []byte(`{"epoch":1,"protocol_version":1}`))
	f.Fuzz(func(t *testing.T, op1 byte, one []byte, op2 byte, two []byte) {
		s, err := dave.New(dave.Options{UserID: ada, GroupID: channel, SendBinary: func(byte, []byte) {}, SendJSON: func(int, any) {}})
		if err != nil {
			t.Fatal(err)
		}
		s.Connected(bob)
		if err := s.Select(1); err != nil {
			t.Fatal(err)
		}
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
