package golive

import (
	"context"
	"errors"
	"fmt"
	"time"

	"clank/voice/discord/conn"
)

// TransportOption is how packets get to the server of a stream.
type TransportOption struct {
	Name      string // for people
	Transport conn.NewTransport
}

// connectTimeout is how long each way but the last one gets. Asking for our own address over UDP takes 3.5 s to fail.
const connectTimeout = 4 * time.Second

func (p *Publisher) transportOptions() []TransportOption {
	if p.Transports != nil {
		return p.Transports
	}
	return []TransportOption{{Name: "UDP", Transport: conn.NewUDP}, {Name: "WebRTC", Transport: NewWebRTCTransport}}
}

// connect opens a leg in the first way that gets through, from the one of a number on. detour is why it is not that one. What the gateway
// itself refuses is not tried again in another way.
func (p *Publisher) connect(ctx context.Context, t conn.Target, from int, handle func(way int, e conn.Event)) connectResult {
	open := p.Connect
	if open == nil {
		open = p.openConn
	}
	var detour error
	for ways := p.transportOptions(); ; from++ {
		from, way := from, ways[from]
		limited, cancel := ctx, context.CancelFunc(func() {})
		if last := from == len(ways)-1; !last {
			limited, cancel = context.WithTimeoutCause(ctx, connectTimeout, fmt.Errorf("it was not there within %s", connectTimeout))
		}
		leg, err := open(limited, t, way, func(e conn.Event) { handle(from, e) })
		cancel()
		if err == nil {
			return connectResult{conn: leg, transport: from, fallbackErr: detour}
		}
		_, refused := errors.AsType[*conn.CloseError](err)
		if refused || ctx.Err() != nil || from == len(ways)-1 {
			return connectResult{err: errors.Join(detour, err)}
		}
		p.logger().Warn("a stream does not get through; trying another way", "way", way.Name, "next", ways[from+1].Name, "error", err)
		detour = fmt.Errorf("%s does not get through: %w", way.Name, err)
	}
}

func (p *Publisher) openConn(ctx context.Context, t conn.Target, w TransportOption, handle func(conn.Event)) (StreamConn, error) {
	c := &conn.Conn{
		Target: t, SpeakingFlags: conn.SpeakingSoundshare, Video: true, Key: p.Key, Handle: handle, Transport: w.Transport, HTTPClient: p.HTTP, Logger: p.Logger,
	}
	if err := c.Open(ctx); err != nil {
		return nil, err
	}
	return c, nil
}
