package rtctest

import (
	"fmt"
	"net"
	"sync/atomic"
	"testing"

	"clank/voice/webrtc"

	"github.com/pion/logging"
	"github.com/pion/turn/v5"
)

// Relay is a TURN server on the loopback interface.
type Relay struct {
	Server      webrtc.ICEServer // with its secret
	Connections atomic.Int64     // ways through it
}

// NewRelay starts a TURN server that lends itself by a secret, until the test ends.
func NewRelay(tb testing.TB, secret string) *Relay {
	tb.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0") //nolint:noctx // it does not wait
	must(tb, err)
	r := &Relay{Server: webrtc.ICEServer{URLs: []string{"turn:" + conn.LocalAddr().String() + "?transport=udp"}, Username: "clank", Secret: secret}}
	silent := &logging.DefaultLoggerFactory{Writer: tb.Output(), DefaultLogLevel: logging.LogLevelDisabled}
	server, err := turn.NewServer(turn.ServerConfig{
		Realm: "clank.test", LoggerFactory: silent,
		AuthHandler:  turn.LongTermTURNRESTAuthHandler(secret, silent.NewLogger("turn")),
		EventHandler: turn.EventHandler{OnAllocationCreated: func(_, _ net.Addr, _, _, _ string, _ net.Addr, _ int) { r.Connections.Add(1) }},
		PacketConnConfigs: []turn.PacketConnConfig{{
			PacketConn:            conn,
			RelayAddressGenerator: &turn.RelayAddressGeneratorStatic{RelayAddress: net.IPv4(127, 0, 0, 1), Address: "127.0.0.1"},
		}},
	})
	must(tb, err)
	tb.Cleanup(func() {
		if err := server.Close(); err != nil {
			tb.Error(fmt.Errorf("close the relay: %w", err))
		}
	})
	return r
}
