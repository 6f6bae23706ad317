package golive

import (
	"context"
	"errors"
	"fmt"
	"time"

	"clank/voice/discord/golive/rtcmode"
	"clank/voice/discord/media"
)

// Way is how packets get to the server of a stream.
type Way struct {
	Name      string // for people
	Transport media.NewTransport
}

// wayLimit is how long each way but the last one gets. Asking for our own address over UDP takes 3.5 s to fail.
const wayLimit = 4 * time.Second

func (p *Publisher) ways() []Way {
	if p.Ways != nil {
		return p.Ways
	}
	return []Way{{Name: "UDP", Transport: media.UDP}, {Name: "WebRTC", Transport: rtcmode.New}}
}

// connect opens a leg in the first way that gets through, from the one of a number on. detour is why it is not that one. What the gateway
// itself refuses is not tried again in another way.
func (p *Publisher) connect(ctx context.Context, t media.Target, from int, handle func(way int, e media.Event)) opened {
	open := p.Connect
	if open == nil {
		open = p.openConn
	}
	var detour error
	for ways := p.ways(); ; from++ {
		from, way := from, ways[from]
		limited, cancel := ctx, context.CancelFunc(func() {})
		if last := from == len(ways)-1; !last {
			limited, cancel = context.WithTimeoutCause(ctx, wayLimit, fmt.Errorf("it was not there within %s", wayLimit))
		}
		leg, err := open(limited, t, way, func(e media.Event) { handle(from, e) })
		cancel()
		if err == nil {
			return opened{leg: leg, way: from, detour: detour}
		}
		_, refused := errors.AsType[*media.CloseError](err)
		if refused || ctx.Err() != nil || from == len(ways)-1 {
			return opened{err: errors.Join(detour, err)}
		}
		p.logger().Warn("a stream does not get through; trying another way", "way", way.Name, "next", ways[from+1].Name, "error", err)
		detour = fmt.Errorf("%s does not get through: %w", way.Name, err)
	}
}

func (p *Publisher) openConn(ctx context.Context, t media.Target, w Way, handle func(media.Event)) (Leg, error) {
	c := &media.Conn{
		Target: t, Mask: media.MaskSound, Video: true, Key: p.Key, Handle: handle, Transport: w.Transport, HTTPClient: p.HTTP, Logger: p.Logger,
	}
	if err := c.Open(ctx); err != nil {
		return nil, err
	}
	return c, nil
}
