package discordtest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"clank/internal/test/discordtest"

	"github.com/coder/websocket"
)

// dial opens a gateway connection without a library.
func dial(t *testing.T, w town, query string) *websocket.Conn {
	t.Helper()
	c, resp, err := websocket.Dial(deadline(t), "ws"+strings.TrimPrefix(w.URL, "http")+"/?"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp.Body != nil {
		resp.Body.Close()
	}
	c.SetReadLimit(1 << 20)
	t.Cleanup(func() { c.CloseNow() })
	return c
}

// closeCode reads until the server closes.
func closeCode(t *testing.T, c *websocket.Conn) int {
	t.Helper()
	for {
		if _, _, err := c.Read(deadline(t)); err != nil {
			return int(websocket.CloseStatus(err))
		}
	}
}

const goodIdentify = `{"op":2,"d":{"token":"secret","properties":{},"intents":513}}`

func TestGatewayClosesWithTheDocumentedCodes(t *testing.T) {
	for name, c := range map[string]struct {
		query string
		send  []string
		want  int
	}{
		"unknown opcode":        {"v=10", []string{goodIdentify, `{"op":99,"d":null}`}, discordtest.CloseUnknownOpcode},
		"not JSON":              {"v=10", []string{`{`}, discordtest.CloseDecodeError},
		"wrong type":            {"v=10", []string{`{"op":2,"d":{"token":5,"properties":{},"intents":1}}`}, discordtest.CloseDecodeError},
		"no intents":            {"v=10", []string{`{"op":2,"d":{"token":"secret","properties":{}}}`}, discordtest.CloseDecodeError},
		"too long":              {"v=10", []string{`{"op":1,"d":"` + strings.Repeat("x", 5000) + `"}`}, discordtest.CloseDecodeError},
		"bad voice state":       {"v=10", []string{goodIdentify, `{"op":4,"d":5}`}, discordtest.CloseDecodeError},
		"before identify":       {"v=10", []string{`{"op":4,"d":5}`}, discordtest.CloseNotAuthenticated},
		"wrong token":           {"v=10", []string{`{"op":2,"d":{"token":"guess","properties":{},"intents":1}}`}, discordtest.CloseAuthFailed},
		"identify twice":        {"v=10", []string{goodIdentify, goodIdentify}, discordtest.CloseAlreadyAuthed},
		"shard out of range":    {"v=10", []string{`{"op":2,"d":{"token":"secret","properties":{},"intents":1,"shard":[2,2]}}`}, discordtest.CloseInvalidShard},
		"version 5":             {"v=5", nil, discordtest.CloseInvalidVersion},
		"no version":            {"", nil, discordtest.CloseInvalidVersion},
		"other encoding":        {"v=10&encoding=etf", nil, discordtest.CloseDecodeError},
		"undefined intents":     {"v=10", []string{`{"op":2,"d":{"token":"secret","properties":{},"intents":1073741824}}`}, discordtest.CloseInvalidIntents},
		"resume, wrong token":   {"v=10", []string{`{"op":6,"d":{"token":"guess","session_id":"x","seq":1}}`}, discordtest.CloseAuthFailed},
		"resume, not decodable": {"v=10", []string{`{"op":6,"d":[]}`}, discordtest.CloseDecodeError},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTown(t, discordtest.Config{})
			conn := dial(t, w, c.query)
			for _, text := range c.send {
				if err := conn.Write(deadline(t), websocket.MessageText, []byte(text)); err != nil {
					t.Fatal(err)
				}
			}
			if got := closeCode(t, conn); got != c.want {
				t.Errorf("got close code %d, want %d", got, c.want)
			}
		})
	}
}

func TestResumeBeyondWhatWasSentIsClosedWith4007(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	c := dial(t, w, "v=10")
	write(t, c, goodIdentify)
	id := readyID(t, func() []byte { return read(t, c) })
	if err := w.DropSockets(w.bot); err != nil {
		t.Fatal(err)
	}
	c = dial(t, w, "v=10")
	write(t, c, fmt.Sprintf(`{"op":6,"d":{"token":"secret","session_id":%q,"seq":999}}`, id))
	if got, want := closeCode(t, c), discordtest.CloseInvalidSeq; got != want {
		t.Errorf("got close code %d, want %d", got, want)
	}
}

func TestTooManyFramesAMinuteAreClosedWith4008(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	c := dial(t, w, "v=10")
	for range 121 {
		write(t, c, `{"op":1,"d":null}`)
	}
	if got, want := closeCode(t, c), discordtest.CloseRateLimited; got != want {
		t.Errorf("got close code %d, want %d", got, want)
	}
}

func TestSilentClientIsClosedWith4009(t *testing.T) {
	w := newTown(t, discordtest.Config{HeartbeatInterval: 20 * time.Millisecond, Silence: 30 * time.Millisecond})
	if got, want := closeCode(t, dial(t, w, "v=10")), discordtest.CloseSessionTimedOut; got != want {
		t.Errorf("got close code %d, want %d", got, want)
	}
}

func TestGoodbyeWith1000EndsTheSession(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	c := dial(t, w, "v=10")
	write(t, c, goodIdentify)
	id := readyID(t, func() []byte { return read(t, c) })
	if err := c.Close(websocket.StatusNormalClosure, ""); err != nil {
		t.Fatal(err)
	}
	if err := w.Wait(deadline(t), "the goodbye", func() bool { return len(w.Disconnects()) == 1 }); err != nil {
		t.Fatal(err)
	}
	c = dial(t, w, "v=10")
	write(t, c, fmt.Sprintf(`{"op":6,"d":{"token":"secret","session_id":%q,"seq":1}}`, id))
	read(t, c) // hello
	if got, want := string(read(t, c)), `{"op":9,"d":false,"s":null,"t":null}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func write(t *testing.T, c *websocket.Conn, text string) {
	t.Helper()
	if err := c.Write(deadline(t), websocket.MessageText, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, c *websocket.Conn) []byte {
	t.Helper()
	_, data, err := c.Read(deadline(t))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// readyID reads hello and READY.
func readyID(t *testing.T, read func() []byte) string {
	t.Helper()
	read()
	var ready struct {
		Type string `json:"t"`
		Data struct {
			SessionID string `json:"session_id"`
		} `json:"d"`
	}
	if err := json.Unmarshal(read(), &ready); err != nil || ready.Type != "READY" {
		t.Fatalf("got %+v, %v, want READY", ready, err)
	}
	return ready.Data.SessionID
}
