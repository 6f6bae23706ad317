package conn

import (
	"cmp"
	"context"
	"time"

	"github.com/pion/rtcp"
)

const (
	defaultReports = 5 * time.Second
	ntpEpoch       = 2208988800
)

// sendReports sends what senders and receivers tell each other, until ctx ends.
func (c *Conn) sendReports(ctx context.Context) {
	tick := time.NewTicker(cmp.Or(c.ReportEvery, defaultReports))
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			c.sendReport(now)
		case <-ctx.Done():
			return
		}
	}
}

func (c *Conn) sendReport(now time.Time) {
	c.sendMu.Lock()
	defer c.sendMu.Unlock()
	s := c.sendable()
	if s == nil {
		return
	}
	var packets []rtcp.Packet
	if t := &c.out.sound; t.packets != t.reported {
		t.reported = t.packets
		since := uint32(now.Sub(c.out.last).Seconds() * soundClockRate)
		packets = append(packets, senderReport(s.ready.SSRC, *t, t.timestamp-opusTicks+since, now))
	}
	if t := &c.out.video; t.packets != t.reported {
		t.reported = t.packets
		ssrc, _ := s.ready.VideoSSRCs()
		packets = append(packets, senderReport(ssrc, *t, t.timestamp+videoTicks(now.Sub(c.out.began)), now))
	}
	c.mu.Lock()
	blocks := s.senders.Reports(now)
	c.mu.Unlock()
	if len(blocks) > 0 {
		packets = append(packets, &rtcp.ReceiverReport{SSRC: s.ready.SSRC, Reports: blocks})
	}
	for _, p := range packets {
		data, err := p.Marshal()
		if err == nil {
			err = s.transport.Send(data)
		}
		if err != nil {
			c.logger().Debug("report was not sent", "error", err)
		}
	}
}

func senderReport(ssrc uint32, t track, timestamp uint32, now time.Time) *rtcp.SenderReport {
	return &rtcp.SenderReport{SSRC: ssrc, NTPTime: ntpTime(now), RTPTime: timestamp, PacketCount: t.packets, OctetCount: t.octets}
}

// ntpTime returns a time as 32 bits of seconds since 1900 and 32 of their parts.
func ntpTime(t time.Time) uint64 {
	seconds := uint64(t.Unix() + ntpEpoch)        //nolint:gosec // after 1900
	parts := (uint64(t.Nanosecond()) << 32) / 1e9 //nolint:gosec // not negative
	return seconds<<32 | parts
}

// handleRTCP takes what others report, and their wish for a whole picture.
func (c *Conn) handleRTCP(s *session, data []byte) {
	packets, err := rtcp.Unmarshal(data)
	if err != nil {
		c.updateStats(func(s *Stats) { s.Malformed++ })
		return
	}
	now, refresh := time.Now(), false
	for _, p := range packets {
		switch p := p.(type) {
		case *rtcp.SenderReport:
			c.mu.Lock()
			s.senders.HandleSenderReport(p, now)
			c.mu.Unlock()
			c.recordLoss(s, p.Reports)
		case *rtcp.ReceiverReport:
			c.recordLoss(s, p.Reports)
		case *rtcp.TransportLayerNack:
			c.handleNack(s, p, now)
		case *rtcp.PictureLossIndication, *rtcp.FullIntraRequest:
			refresh = true
		}
	}
	if refresh && c.Video {
		c.emit(Event{Kind: KeyFrameWanted})
	}
}

func (c *Conn) recordLoss(s *session, blocks []rtcp.ReceptionReport) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range blocks {
		if b.SSRC == s.ready.SSRC {
			c.stats.LostSent = float64(b.FractionLost) / 256
		}
	}
}
