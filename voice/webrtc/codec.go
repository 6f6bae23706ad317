package webrtc

import (
	"fmt"

	"github.com/pion/interceptor"
	"github.com/pion/webrtc/v4"
)

// The two codecs there are. The payload types are ours only where the page does not say others.
var (
	opusCodec = webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeOpus, ClockRate: 48000, Channels: 2, SDPFmtpLine: "minptime=10;useinbandfec=1"}
	vp8Codec  = webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeVP8, ClockRate: 90000, RTCPFeedback: []webrtc.RTCPFeedback{
		{Type: "nack"},
		{Type: "nack", Parameter: "pli"},
		{Type: "ccm", Parameter: "fir"},
	}}
)

// newMediaEngine has Opus and VP8, with what sends lost packets again and reports (RFC 3550) so that the page can hold sound and picture together.
func newMediaEngine() (*webrtc.MediaEngine, *interceptor.Registry, error) {
	media := new(webrtc.MediaEngine)
	if err := media.RegisterCodec(webrtc.RTPCodecParameters{RTPCodecCapability: opusCodec, PayloadType: 111}, webrtc.RTPCodecTypeAudio); err != nil {
		return nil, nil, fmt.Errorf("register Opus: %w", err)
	}
	if err := media.RegisterCodec(webrtc.RTPCodecParameters{RTPCodecCapability: vp8Codec, PayloadType: 96}, webrtc.RTPCodecTypeVideo); err != nil {
		return nil, nil, fmt.Errorf("register VP8: %w", err)
	}
	registry := new(interceptor.Registry)
	if err := webrtc.ConfigureNack(media, registry); err != nil {
		return nil, nil, fmt.Errorf("register what sends lost packets again: %w", err)
	}
	if err := webrtc.ConfigureRTCPReports(registry); err != nil {
		return nil, nil, fmt.Errorf("register reports: %w", err)
	}
	return media, registry, nil
}
