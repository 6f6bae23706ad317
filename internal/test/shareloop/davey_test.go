package shareloop_test

import (
	"encoding/json"
	"strconv"
	"testing"

	"clank/internal/test/discordtest/voicetest"
	"clank/internal/test/npm"
)

// decrypter returns who decrypts on the viewer's side: davey, or our own code where npm cannot install davey.
func decrypter(t *testing.T) (name string, of func(voicetest.PrivacyConfig) (voicetest.Privacy, error)) {
	t.Helper()
	d, err := npm.StartDavey(t.Context(), t.TempDir(), t.Output())
	if err != nil {
		t.Logf("our own code decrypts, as davey cannot: %v", err)
		return "ours", voicetest.NewDAVESession
	}
	t.Cleanup(func() { _ = d.Close() })
	return "davey", func(l voicetest.PrivacyConfig) (voicetest.Privacy, error) {
		p := &privacy{Davey: d, line: l}
		return p, p.ask(map[string]any{"what": "here", "users": []string{p.user()}}, nil)
	}
}

// privacy is one member's encryption.
type privacy struct {
	*npm.Davey
	line voicetest.PrivacyConfig
}

func (p *privacy) user() string { return strconv.FormatUint(p.line.User, 10) }

// ask does one thing, sends what comes of it, and gives the answer.
func (p *privacy) ask(what map[string]any, into any) error {
	what["user"], what["channel"] = p.user(), strconv.FormatUint(p.line.Group, 10)
	return p.Request(what, into, func(s npm.DaveyMessage) {
		if s.Payload != nil {
			p.line.SendBinary(s.Op, s.Payload)
		} else {
			p.line.SendJSON(int(s.Op), map[string]any{"transition_id": s.Transition})
		}
	})
}

func (p *privacy) Select(version int) error {
	return p.ask(map[string]any{"what": "choose", "version": version}, nil)
}

func (p *privacy) HandleJSON(op int, d json.RawMessage) error {
	return p.ask(map[string]any{"what": "json", "op": op, "d": d}, nil)
}

func (p *privacy) HandleBinary(op byte, payload []byte) error {
	return p.ask(map[string]any{"what": "binary", "op": op, "payload": payload}, nil)
}

func (p *privacy) Connected(users ...uint64) { p.people("here", users) }

func (p *privacy) Disconnected(user uint64) { p.people("gone", []uint64{user}) }

func (p *privacy) people(what string, users []uint64) {
	for _, u := range users {
		_ = p.ask(map[string]any{"what": what, "users": []string{strconv.FormatUint(u, 10)}}, nil) // always answered
	}
}

// Their numbers of codecs.
var daveyCodecs = map[string]int{"opus": 1, "VP8": 2}

func (p *privacy) Encrypt(codec string, frame []byte) (sent []byte, err error) {
	err = p.ask(map[string]any{"what": "encrypt", "codec": daveyCodecs[codec], "payload": frame}, &sent)
	return sent, err
}

func (p *privacy) Decrypt(user uint64, codec string, frame []byte) (got []byte, err error) {
	err = p.ask(map[string]any{"what": "decrypt", "users": []string{strconv.FormatUint(user, 10)}, "codec": daveyCodecs[codec], "payload": frame}, &got)
	return got, err
}
