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

// sendReports sends sender and receiver reports until ctx ends.
func (c *Conn) sendReports(ctx context.Context) {
	tick := time.Tick(cmp.Or(c.ReportEvery, defaultReports))
	for {
		select {
		case now := <-tick:
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
	return &rtcp.SenderReport{
		SSRC: ssrc, NTPTime: ntpTime(now), RTPTime: timestamp, PacketCount: t.packets,
		OctetCount: t.octets,
	}
}

// ntpTime returns a time as 32 bits of seconds since 1900 and 32 bits of fractions.
func ntpTime(t time.Time) uint64 {
	seconds := uint64(t.Unix() + ntpEpoch)        //nolint:gosec // after 1900
	parts := (uint64(t.Nanosecond()) << 32) / 1e9 //nolint:gosec // not negative
	return seconds<<32 | parts
}

// handleRTCP handles the reports and key frame requests of others.
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
			c.locked(func() { s.senders.HandleSenderReport(p, now) })
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

const (
	soundClockRate  = 48000 // of sound
	maxReportBlocks = 31    // of one report
)

// reception is the state of receiver reports about one source (RFC 3550, section 6.4 and appendix A).
type reception struct {
	began                  bool
	first, highest         uint32 // sequence numbers, counted on when they wrap
	packets                uint32
	transit                int64
	jitter                 float64
	lastExpected, lastLost uint32 // expected and lost, as of the last report
	reportNTP              uint32 // middle of the sender's last report
	reportAt               time.Time
}

func (r *reception) count(p RTPPacket, at time.Time) {
	transit := at.UnixMicro()*soundClockRate/1e6 - int64(p.Timestamp)
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
	if change = max(change, -change); change < soundClockRate { // anything longer is a pause, or a clock that wrapped
		r.jitter += (float64(change) - r.jitter) / 16
	}
}

// report returns the report block about one source and begins the next interval.
func (r *reception) report(ssrc uint32, now time.Time) rtcp.ReceptionReport {
	expected := r.highest - r.first + 1
	lost := uint32(0)
	if expected > r.packets {
		lost = expected - r.packets
	}
	var fraction uint8
	if n := expected - r.lastExpected; n > 0 && lost > r.lastLost {
		fraction = uint8(min(255, (lost-r.lastLost)*256/n))
	}
	r.lastExpected, r.lastLost = expected, lost
	b := rtcp.ReceptionReport{
		SSRC: ssrc, FractionLost: fraction, TotalLost: min(lost, 1<<23-1), LastSequenceNumber: r.highest,
		Jitter: uint32(r.jitter),
	}
	if !r.reportAt.IsZero() {
		b.LastSenderReport = r.reportNTP
		b.Delay = uint32(now.Sub(r.reportAt).Seconds() * 65536)
	}
	return b
}

// Reports returns the report blocks about the sources heard since the last report.
func (b *SenderTable) Reports(now time.Time) []rtcp.ReceptionReport {
	var blocks []rtcp.ReceptionReport
	for ssrc, from := range b.sources {
		r := &from.quality
		if len(blocks) < maxReportBlocks && r.began && r.highest-r.first+1 != r.lastExpected {
			blocks = append(blocks, r.report(ssrc, now))
		}
	}
	return blocks
}

// HandleSenderReport notes what a sender reports of itself, as ours answer it.
func (b *SenderTable) HandleSenderReport(p *rtcp.SenderReport, at time.Time) {
	if from := b.sources[p.SSRC]; from != nil {
		from.quality.reportNTP, from.quality.reportAt = uint32(p.NTPTime>>16), at //nolint:gosec // the middle bits
	}
}
