package voicetest_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"net"
	"strconv"
	"testing"
	"time"

	"clank/internal/test/discordtest/voicetest"

	"github.com/coder/websocket"
)

const (
	guild   = "41771983423143937"
	channel = "127121515262115840"
)

// hall is a voice server with one port.
type hall struct {
	*voicetest.Server
	endpoint string
}

func newHall(t *testing.T, cfg voicetest.Config) hall {
	t.Helper()
	s, err := voicetest.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	endpoint, err := s.Endpoint()
	if err != nil {
		t.Fatal(err)
	}
	t.Parallel()
	return hall{s, endpoint}
}

// ticket lets a user in.
func (h hall) ticket(user string) voicetest.Credentials {
	ticket := voicetest.Credentials{
		ClientID: voicetest.ClientID{Server: guild, User: user}, Room: channel, Session: "session-" + user,
		Token: "token-" + user, Group: 127121515262115840,
	}
	h.Admit(ticket)
	return ticket
}

func (h hall) join(t *testing.T, user string, change func(*voicetest.MemberOptions)) *voicetest.Member {
	t.Helper()
	o := voicetest.MemberOptions{Endpoint: h.endpoint, Credentials: h.ticket(user)}
	if change != nil {
		change(&o)
	}
	m, err := voicetest.JoinCall(testDeadline(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func testDeadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// raw is a client without any library of ours.
type raw struct {
	*testing.T
	ws   *websocket.Conn
	hall hall
}

type message struct {
	Op   int             `json:"op"`
	Data json.RawMessage `json:"d"`
	Seq  *int            `json:"seq"`
}

func (h hall) dial(t *testing.T, query string) *raw {
	t.Helper()
	ws, resp, err := websocket.Dial(testDeadline(t), "ws://"+h.endpoint+"/?"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp.Body != nil {
		_ = resp.Body.Close()
	}
	t.Cleanup(func() { _ = ws.CloseNow() })
	return &raw{t, ws, h}
}

func (r *raw) write(text string) {
	r.Helper()
	if err := r.ws.Write(testDeadline(r.T), websocket.MessageText, []byte(text)); err != nil {
		r.Fatal(err)
	}
}

// await reads until a message of text with that opcode comes.
func (r *raw) await(op int) message {
	r.Helper()
	for {
		kind, data, err := r.ws.Read(testDeadline(r.T))
		if err != nil {
			r.Fatalf("op %d: %v", op, err)
		}
		var m message
		if kind == websocket.MessageText && json.Unmarshal(data, &m) == nil && m.Op == op {
			return m
		}
	}
}

// code reads until the server closes.
func (r *raw) code() int {
	r.Helper()
	for {
		if _, _, err := r.ws.Read(testDeadline(r.T)); err != nil {
			return int(websocket.CloseStatus(err))
		}
	}
}

func identify(user string) string {
	return `{"op":0,"d":{"server_id":"` + guild + `","user_id":"` + user + `","session_id":"session-` + user +
		`","token":"token-` + user + `","max_dave_protocol_version":1}}`
}

const selectGCM = `{"op":1,"d":{"protocol":"udp","data":{"address":"127.0.0.1","port":9,"mode":"aead_aes256_gcm_rtpsize"}}}`

// ready identifies and reads op 2.
func (r *raw) ready(user string) (ssrc uint32, media string) {
	r.Helper()
	r.hall.ticket(user)
	r.write(identify(user))
	var d struct {
		SSRC uint32 `json:"ssrc"`
		IP   string `json:"ip"`
		Port int    `json:"port"`
	}
	if err := json.Unmarshal(r.await(voicetest.OpReady).Data, &d); err != nil {
		r.Fatal(err)
	}
	return d.SSRC, net.JoinHostPort(d.IP, strconv.Itoa(d.Port))
}

// exchange sends a datagram and returns the answer, or nil when none comes in time.
func exchange(t *testing.T, c net.Conn, ask []byte, patience time.Duration) []byte {
	t.Helper()
	if _, err := c.Write(ask); err != nil {
		t.Fatal(err)
	}
	if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 1500)
	n, err := c.Read(answer)
	var timeout net.Error
	switch {
	case errors.As(err, &timeout) && timeout.Timeout():
		return nil
	case err != nil:
		t.Fatal(err)
	}
	return answer[:n]
}

func discovery(ssrc uint32) []byte {
	ask := make([]byte, 74)
	binary.BigEndian.PutUint16(ask, 1)
	binary.BigEndian.PutUint16(ask[2:], 70)
	binary.BigEndian.PutUint32(ask[4:], ssrc)
	return ask
}
