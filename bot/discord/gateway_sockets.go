package discord

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/coder/websocket"
)

// Operations the relay looks at.
const (
	opDispatch     = 0
	opHeartbeat    = 1
	opReconnect    = 7
	opInvalid      = 9
	opHello        = 10
	opHeartbeatAck = 11
)

type gatewayMessage struct {
	Op   *int            `json:"op"`
	Data json.RawMessage `json:"d"`
	Seq  *int64          `json:"s"`
	Type string          `json:"t"`
}

// dispatchPrefix before a dispatch's type prevents the library from decoding its data, which crashes it if the data has
// a null where it expects none.
const dispatchPrefix = "~"

// errSessionLost means that Discord no longer knows the session of a connection.
var errSessionLost = errors.New("the gateway has ended the session")

// socketPair is one pair of sockets: inner to the library, outer to the gateway.
type socketPair struct {
	relay        *gatewayRelay
	inner, outer *websocket.Conn

	mu      sync.Mutex
	unacked int // heartbeats since the last acknowledgement
}

// fromGateway passes on what the gateway sends until one side ends, and returns why.
func (l *socketPair) fromGateway(ctx context.Context) error {
	late := time.AfterFunc(helloTimeout, func() { _ = l.outer.CloseNow() })
	defer late.Stop()
	for {
		kind, b, err := l.outer.Read(ctx)
		if err != nil {
			return socketError(err)
		}
		var f gatewayMessage
		if kind != websocket.MessageText || json.Unmarshal(b, &f) != nil || f.Op == nil {
			l.relay.log.Warn("gateway sent something that is no message")
			continue
		}
		switch *f.Op {
		case opHello:
			late.Reset(readyTimeout)
		case opHeartbeatAck:
			l.heartbeatAcked()
		case opReconnect:
			return errors.New("the gateway asked for a new connection")
		case opInvalid: // the library would identify immediately, and repeatedly
			if resumable := false; json.Unmarshal(f.Data, &resumable) == nil && resumable {
				return errors.New("the gateway asked to resume the session")
			}
			return errSessionLost
		case opDispatch:
			if f.Type == "READY" || f.Type == "RESUMED" {
				late.Stop()
			}
			if !isDecodable(f.Type, f.Data) {
				l.relay.log.Warn("gateway sent a dispatch that cannot be read", "type", f.Type)
				continue
			}
		}
		for _, m := range l.prefixDispatches(f, b) {
			if err := l.inner.Write(ctx, websocket.MessageText, m); err != nil {
				return fmt.Errorf("hand a message to the library: %w", err)
			}
		}
	}
}

// prefixDispatches returns the messages to give the library for f: a dispatch with its type prefixed, anything
// else unchanged. READY is preceded by a form that has only what the library needs.
func (l *socketPair) prefixDispatches(f gatewayMessage, b []byte) [][]byte {
	if *f.Op != opDispatch || f.Type == "RESUMED" {
		return [][]byte{b}
	}
	var out [][]byte
	if f.Type == "READY" {
		var r struct {
			Session string `json:"session_id"`
		}
		if err := json.Unmarshal(f.Data, &r); err != nil {
			l.relay.log.Warn("gateway said READY in a way that cannot be read", "error", err)
		}
		out = append(out, encodeDispatch(f, "READY", r))
	}
	return append(out, encodeDispatch(f, dispatchPrefix+f.Type, f.Data))
}

// encodeDispatch returns the dispatch f with another type and other data. The data is JSON
// already, or a struct of strings, so that nothing can fail.
func encodeDispatch(f gatewayMessage, kind string, data any) []byte {
	b, err := json.Marshal(map[string]any{"op": opDispatch, "s": f.Seq, "t": kind, "d": data})
	if err != nil {
		return nil
	}
	return b
}

// fromLibrary passes on what the library sends. It ends the connection if heartbeats are not acknowledged.
func (l *socketPair) fromLibrary(ctx context.Context) {
	for {
		kind, b, err := l.inner.Read(ctx)
		if err != nil {
			return
		}
		var f gatewayMessage
		if json.Unmarshal(b, &f) == nil && f.Op != nil && *f.Op == opHeartbeat && !l.countHeartbeat() {
			l.relay.recordError(errors.New("the gateway did not answer a heartbeat"))
			return
		}
		wctx, cancel := context.WithTimeout(ctx, writeTimeout)
		err = l.outer.Write(wctx, kind, b)
		cancel()
		if err != nil {
			return
		}
	}
}

// maxUnackedHeartbeats is how many heartbeats may go unanswered. The gateway may ask for one
// at any moment, so two can be on their way.
const maxUnackedHeartbeats = 2

// countHeartbeat notes a heartbeat, and reports whether the gateway still answers.
func (l *socketPair) countHeartbeat() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unacked++
	return l.unacked <= maxUnackedHeartbeats
}

func (l *socketPair) heartbeatAcked() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unacked = 0
}

// socketError turns the error of a read into the reason the socket ended.
func socketError(err error) error {
	var ce websocket.CloseError
	if !errors.As(err, &ce) {
		return fmt.Errorf("read from the gateway: %w", err)
	}
	switch code := int(ce.Code); code {
	case CloseInvalidToken, CloseInvalidShard, CloseShardingRequired, CloseInvalidVersion, CloseInvalidIntents,
		CloseDisallowedIntents:
		return &GatewayRefusedError{Code: code, Reason: ce.Reason}
	case 4007, 4009: // invalid sequence, timed out
		return fmt.Errorf("%w with code %d (%s)", errSessionLost, code, ce.Reason)
	}
	return fmt.Errorf("the gateway closed the connection with code %d (%s)", ce.Code, ce.Reason)
}

// isDecodable reports whether discordgo can handle a dispatch. The library looks into some of them itself, on a
// goroutine where nobody can recover, and relies on their content; it ignores decoding errors, so they leave nil
// pointers behind.
func isDecodable(kind string, data json.RawMessage) bool {
	if d := bytes.TrimSpace(data); len(d) == 0 || d[0] != '{' {
		return kind == "RESUMED"
	}
	switch kind {
	case "READY":
		var r discordgo.Ready
		_ = json.Unmarshal(data, &r)
		return r.User != nil && !slices.ContainsFunc(r.Guilds, isBrokenGuild)
	case "GUILD_CREATE":
		var g discordgo.GuildCreate
		_ = json.Unmarshal(data, &g)
		return !isBrokenGuild(g.Guild)
	case "GUILD_UPDATE":
		var g discordgo.GuildUpdate
		_ = json.Unmarshal(data, &g)
		return !isBrokenGuild(g.Guild)
	case "VOICE_STATE_UPDATE":
		var v discordgo.VoiceStateUpdate
		_ = json.Unmarshal(data, &v)
		return v.VoiceState != nil
	}
	return true
}

func isBrokenGuild(g *discordgo.Guild) bool {
	return g == nil || slices.Contains(g.Channels, nil) || slices.Contains(g.Members, nil) ||
		slices.Contains(g.VoiceStates, nil)
}
