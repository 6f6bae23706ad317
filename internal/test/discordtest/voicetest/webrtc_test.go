package voicetest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"clank/internal/test/discordtest/voicetest"

	"github.com/pion/rtcp"
	"github.com/pion/webrtc/v4"
	"github.com/pion/webrtc/v4/pkg/media"
)

// publisher is a client of the WebRTC mode.
type publisher struct {
	*raw
	pc           *webrtc.PeerConnection
	audio, video uint32
	sound, show  *webrtc.TrackLocalStaticSample
	sender       *webrtc.RTPSender
}

// newPublisher identifies with video and prepares what is sent with the sources that the server gives.
func newPublisher(t *testing.T, h hall, user string) *publisher {
	t.Helper()
	h.ticket(user)
	p := &publisher{raw: h.dial(t, "v=8")}
	p.write(strings.Replace(identify(user), `"d":{`, `"d":{"video":true,"streams":[{"type":"screen","rid":"100","quality":100}],`, 1))
	var ready struct {
		SSRC    uint32 `json:"ssrc"`
		Streams []struct {
			SSRC uint32 `json:"ssrc"`
		} `json:"streams"`
	}
	if err := json.Unmarshal(p.await(voicetest.OpReady).Data, &ready); err != nil || len(ready.Streams) != 1 {
		t.Fatalf("got ready %+v, %v", ready, err)
	}
	p.audio, p.video = ready.SSRC, ready.Streams[0].SSRC
	p.pc = clientConnection(t)
	p.sound, _ = p.send(webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeOpus, ClockRate: 48000, Channels: 2}, p.audio)
	p.show, p.sender = p.send(webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeVP8, ClockRate: 90000}, p.video)
	return p
}

func clientConnection(t *testing.T) *webrtc.PeerConnection {
	t.Helper()
	codecs := &webrtc.MediaEngine{}
	for payload, c := range map[webrtc.PayloadType]webrtc.RTPCodecCapability{
		120: {MimeType: webrtc.MimeTypeOpus, ClockRate: 48000, Channels: 2}, 105: {MimeType: webrtc.MimeTypeVP8, ClockRate: 90000},
	} {
		kind := webrtc.RTPCodecTypeVideo
		if payload == 120 {
			kind = webrtc.RTPCodecTypeAudio
		}
		if err := codecs.RegisterCodec(webrtc.RTPCodecParameters{RTPCodecCapability: c, PayloadType: payload}, kind); err != nil {
			t.Fatal(err)
		}
	}
	setting := webrtc.SettingEngine{}
	setting.SetIncludeLoopbackCandidate(true)
	setting.SetIPFilter(func(ip net.IP) bool { return ip.IsLoopback() })
	pc, err := webrtc.NewAPI(webrtc.WithMediaEngine(codecs), webrtc.WithSettingEngine(setting)).NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pc.GracefulClose() })
	return pc
}

func (p *publisher) send(c webrtc.RTPCodecCapability, ssrc uint32) (*webrtc.TrackLocalStaticSample, *webrtc.RTPSender) {
	p.Helper()
	track, err := webrtc.NewTrackLocalStaticSample(c, c.MimeType, "call")
	if err != nil {
		p.Fatal(err)
	}
	tr, err := p.pc.AddTransceiverFromTrack(track, webrtc.RTPTransceiverInit{
		Direction:     webrtc.RTPTransceiverDirectionSendonly,
		SendEncodings: []webrtc.RTPEncodingParameters{{RTPCodingParameters: webrtc.RTPCodingParameters{SSRC: webrtc.SSRC(ssrc)}}},
	})
	if err != nil {
		p.Fatal(err)
	}
	return track, tr.Sender()
}

// connect sends a fragment of the offer and makes an answer of the few lines that come back.
func (p *publisher) connect() {
	p.Helper()
	offer, err := p.pc.CreateOffer(nil)
	if err != nil {
		p.Fatal(err)
	}
	gathered := webrtc.GatheringCompletePromise(p.pc)
	if err := p.pc.SetLocalDescription(offer); err != nil {
		p.Fatal(err)
	}
	<-gathered
	data, err := json.Marshal(map[string]any{"op": 1, "d": map[string]any{
		"protocol": "webrtc", "data": cut(p.pc.LocalDescription().SDP), "rtc_connection_id": "1",
		"codecs": []map[string]any{
			{"name": "opus", "type": "audio", "priority": 1000, "payload_type": 120},
			{"name": "VP8", "type": "video", "priority": 1000, "payload_type": 105, "encode": true, "decode": false},
		},
	}})
	if err != nil {
		p.Fatal(err)
	}
	p.write(string(data))
	var described struct {
		SDP   string `json:"sdp"`
		Codec string `json:"video_codec"`
	}
	if err := json.Unmarshal(p.await(voicetest.OpDescription).Data, &described); err != nil || described.Codec != "VP8" {
		p.Fatalf("got %+v, %v, want VP8", described, err)
	}
	answer := webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: complete(described.SDP)}
	if err := p.pc.SetRemoteDescription(answer); err != nil {
		p.Fatalf("%v\n%s", err, answer.SDP)
	}
}

// cut keeps of an offer what goes to the server.
func cut(offer string) string {
	var kept []string
	for line := range strings.Lines(offer) {
		line = strings.TrimSpace(line)
		for _, prefix := range []string{"a=extmap", "a=ice-", "a=fingerprint:", "a=rtpmap:"} {
			if strings.HasPrefix(line, prefix) && !slices.Contains(kept, line) {
				kept = append(kept, line)
			}
		}
	}
	return strings.Join(kept, "\n")
}

// complete makes an answer of the server's lines.
func complete(lines string) string {
	var transport strings.Builder
	for line := range strings.Lines(lines) {
		for _, prefix := range []string{"a=ice-ufrag:", "a=ice-pwd:", "a=fingerprint:", "a=candidate:"} {
			if strings.HasPrefix(line, prefix) {
				transport.WriteString(strings.TrimSpace(line) + "\r\n")
			}
		}
	}
	common := "c=IN IP4 127.0.0.1\r\na=setup:passive\r\na=rtcp-mux\r\na=recvonly\r\n" + transport.String()
	return "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=group:BUNDLE 0 1\r\na=ice-lite\r\n" +
		"m=audio 9 UDP/TLS/RTP/SAVPF 120\r\na=mid:0\r\n" + common + "a=rtpmap:120 opus/48000/2\r\n" +
		"m=video 9 UDP/TLS/RTP/SAVPF 105\r\na=mid:1\r\n" + common + "a=rtpmap:105 VP8/90000\r\na=rtcp-fb:105 nack pli\r\n"
}

func TestAPublisherOfTheWebRTCModeIsSeenAndHeardOverUDP(t *testing.T) {
	h := newHall(t, voicetest.Config{})
	bob := h.join(t, "2", nil)
	p := newPublisher(t, h, "1")
	p.connect()
	p.write(fmt.Sprintf(`{"op":5,"d":{"speaking":2,"delay":0,"ssrc":%d}}`, p.audio))
	p.write(fmt.Sprintf(`{"op":12,"d":{"audio_ssrc":%d,"video_ssrc":%d,"rtx_ssrc":0,"streams":[]}}`, p.audio, p.video))
	bob.RequestQuality(100)
	if err := bob.Wait(testDeadline(t), "the publisher", func() bool { return bob.KnowsUser("1") }); err != nil {
		t.Fatal(err)
	}
	asked := make(chan rtcp.Packet, 100)
	go func() {
		for {
			packets, _, err := p.sender.ReadRTCP()
			if err != nil {
				return
			}
			for _, packet := range packets {
				asked <- packet
			}
		}
	}()
	picture, sound := bytes.Repeat([]byte{0x10, 1, 2, 3}, 1000), []byte{0x78, 5, 6}
	saw, heard := false, false
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for ctx := testDeadline(t); !saw || !heard; {
		select {
		case <-tick.C: // what is sent before the connection is there is lost
			if err := p.show.WriteSample(media.Sample{Data: picture, Duration: 20 * time.Millisecond}); err != nil {
				t.Fatal(err)
			}
			if err := p.sound.WriteSample(media.Sample{Data: sound, Duration: 20 * time.Millisecond}); err != nil {
				t.Fatal(err)
			}
		case f := <-bob.Frames():
			saw = saw || (f.Video && f.From == "1" && bytes.Equal(f.Data, picture))
			heard = heard || (!f.Video && f.From == "1" && bytes.Equal(f.Data, sound))
		case <-ctx.Done():
			t.Fatalf("saw %v, heard %v: %v", saw, heard, h.Violations())
		}
	}
	pli, err := (&rtcp.PictureLossIndication{SenderSSRC: 7, MediaSSRC: p.video}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if err := bob.SendRTCP(pli); err != nil {
		t.Fatal(err)
	}
	for {
		if got, ok := next(t, asked).(*rtcp.PictureLossIndication); ok {
			if got.MediaSSRC != p.video {
				t.Errorf("got a request for %d, want %d", got.MediaSSRC, p.video)
			}
			break
		}
	}
	if got := h.Violations(); len(got) != 0 {
		t.Errorf("got violations %v, want none", got)
	}
	h.Revoke(voicetest.ClientID{Server: guild, User: "1"}, voicetest.CloseDisconnected, "Disconnected.")
	if got, want := p.code(), voicetest.CloseDisconnected; got != want {
		t.Errorf("got close code %d, want %d", got, want)
	}
}

func next(t *testing.T, c <-chan rtcp.Packet) rtcp.Packet {
	t.Helper()
	select {
	case p := <-c:
		return p
	case <-testDeadline(t).Done():
		t.Fatal("no control packet came")
		return nil
	}
}

func TestAnOfferThatLacksSomethingIsABadRequest(t *testing.T) {
	for name, data := range map[string]string{
		"empty":       `""`,
		"no codec":    `"a=ice-ufrag:x\na=ice-pwd:y\na=fingerprint:sha-256 00"`,
		"bad payload": `"a=ice-ufrag:x\na=ice-pwd:y\na=fingerprint:sha-256 00\na=rtpmap:900 opus/48000/2"`,
		"bad print":   `"a=ice-ufrag:x\na=ice-pwd:y\na=fingerprint:none\na=rtpmap:120 opus/48000/2"`,
	} {
		t.Run(name, func(t *testing.T) {
			r := newHall(t, voicetest.Config{}).dial(t, "v=8")
			r.ready("1")
			r.write(`{"op":1,"d":{"protocol":"webrtc","data":` + data + `}}`)
			if got, want := r.code(), voicetest.CloseBadRequest; got != want {
				t.Errorf("got close code %d, want %d", got, want)
			}
		})
	}
	r := newHall(t, voicetest.Config{}).dial(t, "v=8")
	r.ready("1")
	r.write(`{"op":1,"d":{"protocol":"webrtc","data":{}}}`)
	if got, want := r.code(), voicetest.CloseDecodeError; got != want {
		t.Errorf("got close code %d, want %d", got, want)
	}
}
