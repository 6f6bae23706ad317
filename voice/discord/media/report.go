package media

import (
	"context"
	"time"

	"github.com/pion/rtcp"

	"clank/voice/discord/media/rtpsize"
)

const (
	defaultReports = 5 * time.Second
	soundClock     = 48000
	maxBlocks      = 31 // of one report
	ntpEpoch       = 2208988800
)

// reception is what a receiver tells a sender (RFC 3550, section 6.4 and appendix A).
type reception struct {
	began          bool
	first, highest uint32 // sequence numbers, counted on when they wrap
	packets        uint32
	transit        int64
	jitter         float64
	told, toldLost uint32 // expected and lost, as of the last report
	reportNTP      uint32 // middle of the sender's last report
	reportAt       time.Time
}

// count takes a packet that came.
func (r *reception) count(p rtpsize.Packet, at time.Time) {
	transit := at.UnixMicro()*soundClock/1e6 - int64(p.Timestamp)
	if !r.began {
		r.began, r.first, r.highest, r.packets, r.transit = true, uint32(p.Sequence), uint32(p.Sequence), 1, transit
		return
	}
	r.packets++
	if step := int16(p.Sequence - uint16(r.highest)); step > 0 { //nolint:gosec // numbers wrap
		r.highest += uint32(step)
	}
	change := transit - r.transit
	r.transit = transit
	if change = max(change, -change); change < soundClock { // anything longer is a pause, or a clock that wrapped
		r.jitter += (float64(change) - r.jitter) / 16
	}
}

// report makes the block about one source, and counts on from there.
func (r *reception) report(ssrc uint32, now time.Time) rtcp.ReceptionReport {
	expected := r.highest - r.first + 1
	lost := uint32(0)
	if expected > r.packets {
		lost = expected - r.packets
	}
	var fraction uint8
	if n := expected - r.told; n > 0 && lost > r.toldLost {
		fraction = uint8(min(255, (lost-r.toldLost)*256/n))
	}
	r.told, r.toldLost = expected, lost
	b := rtcp.ReceptionReport{
		SSRC: ssrc, FractionLost: fraction, TotalLost: min(lost, 1<<23-1), LastSequenceNumber: r.highest, Jitter: uint32(r.jitter),
	}
	if !r.reportAt.IsZero() {
		b.LastSenderReport = r.reportNTP
		b.Delay = uint32(now.Sub(r.reportAt).Seconds() * 65536)
	}
	return b
}

// reports sends what senders and receivers tell each other, until ctx ends.
func (c *Conn) reports(ctx context.Context) {
	every := c.ReportEvery
	if every <= 0 {
		every = defaultReports
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			c.report(now)
		case <-ctx.Done():
			return
		}
	}
}

func (c *Conn) report(now time.Time) {
	c.sending.Lock()
	defer c.sending.Unlock()
	s := c.sendable()
	if s == nil {
		return
	}
	var packets []rtcp.Packet
	if t := &c.out.sound; t.packets != t.reported {
		t.reported = t.packets
		since := uint32(now.Sub(c.out.last).Seconds() * soundClock)
		packets = append(packets, senderReport(s.ready.SSRC, *t, t.timestamp-opusTicks+since, now))
	}
	if t := &c.out.pictures; t.packets != t.reported {
		t.reported = t.packets
		ssrc, _ := s.ready.VideoSSRCs()
		packets = append(packets, senderReport(ssrc, *t, t.timestamp+ticks(now.Sub(c.out.began)), now))
	}
	if blocks := c.receptions(s, now); len(blocks) > 0 {
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
	return &rtcp.SenderReport{SSRC: ssrc, NTPTime: ntp(now), RTPTime: timestamp, PacketCount: t.packets, OctetCount: t.octets}
}

// ntp is a time as 32 bits of seconds since 1900 and 32 of their parts.
func ntp(t time.Time) uint64 {
	seconds := uint64(t.Unix() + ntpEpoch)        //nolint:gosec // after 1900
	parts := (uint64(t.Nanosecond()) << 32) / 1e9 //nolint:gosec // not negative
	return seconds<<32 | parts
}

// receptions are the blocks about those who were heard since the last report.
func (c *Conn) receptions(s *session, now time.Time) []rtcp.ReceptionReport {
	c.mu.Lock()
	defer c.mu.Unlock()
	var blocks []rtcp.ReceptionReport
	for ssrc, from := range s.in.sources {
		r := &from.quality
		if len(blocks) < maxBlocks && r.began && r.highest-r.first+1 != r.told {
			blocks = append(blocks, r.report(ssrc, now))
		}
	}
	return blocks
}

// receivedControl takes what others report, and their wish for a whole picture.
func (c *Conn) receivedControl(s *session, data []byte) {
	packets, err := rtcp.Unmarshal(data)
	if err != nil {
		c.note(func(s *Stats) { s.Malformed++ })
		return
	}
	now, refresh := time.Now(), false
	for _, p := range packets {
		switch p := p.(type) {
		case *rtcp.SenderReport:
			c.noteSender(s, p, now)
			c.noteLoss(s, p.Reports)
		case *rtcp.ReceiverReport:
			c.noteLoss(s, p.Reports)
		case *rtcp.TransportLayerNack:
			c.missed(s, p, now)
		case *rtcp.PictureLossIndication, *rtcp.FullIntraRequest:
			refresh = true
		}
	}
	if refresh && c.Video {
		c.tell(Event{Kind: Refresh})
	}
}

func (c *Conn) noteSender(s *session, p *rtcp.SenderReport, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if from := s.in.sources[p.SSRC]; from != nil {
		from.quality.reportNTP, from.quality.reportAt = uint32(p.NTPTime>>16), now //nolint:gosec // the middle bits
	}
}

func (c *Conn) noteLoss(s *session, blocks []rtcp.ReceptionReport) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range blocks {
		if b.SSRC == s.ready.SSRC {
			c.stats.LostSent = float64(b.FractionLost) / 256
		}
	}
}
