package golive_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/rtp"

	"clank/internal/test/check"
	"clank/internal/test/discordtest/voicetest"
	"clank/voice/discord/conn"
	"clank/voice/discord/golive"
	"clank/voice/share"
)

func TestAStreamThatDoesNotGetThroughTakesAnotherWayAndSaysSo(t *testing.T) {
	for name, block := range map[string]func(w *town){
		"refused": func(w *town) { w.blocked = "UDP" },
		"eager":   func(w *town) { w.blocked, w.eager = "UDP", true },
		"silent":  func(w *town) { w.slow = true; time.AfterFunc(3999*time.Millisecond, func() { w.slowly(false) }) },
	} {
		t.Run(name, func(t *testing.T) {
			inTown(t, func(t *testing.T, w *town) {
				t.Helper()
				block(w)
				stage := &golive.Target{Publisher: w.pub}
				show := share.Presentation{
					ID: "a", Call: share.CallRef{ID: "x", Guild: guild, Channel: channel}, Source: w.src,
					Lost: func(error) {},
				}
				place, err := stage.Begin(t.Context(), show)
				if err != nil || !strings.Contains(place.Text, "It goes over WebRTC, as UDP does not get through: ") {
					t.Errorf("people are told %q, error %v; want the way that was taken, and why", place.Text, err)
				}
				if st := w.pub.Current().State(); st.Transport != "WebRTC" || st.FallbackReason == "" {
					t.Errorf("got %+v, want it over WebRTC", st)
				}
				w.server("b.example", "token-b")
				pass(2 * time.Second)
				check.Diff(t, "ways that were tried, before and after a move", w.tried,
					[]string{"UDP", "WebRTC", "WebRTC"})
			})
		})
	}
}

func TestAStreamOverWebRTCIsSeenOverUDP(t *testing.T) {
	t.Parallel()
	w := newCity(t)
	eve := w.CreateAccount("eve", "of eve")
	a := w.signIn(t, eve, true)
	a.Publisher().Transports = []golive.TransportOption{{Name: "WebRTC", Transport: golive.NewWebRTCTransport}}
	s, _ := w.watched(t, a, golive.Request{Source: showing(t)})
	if st := s.State(); st.Transport != "WebRTC" || st.FallbackReason != "" {
		t.Errorf("got %+v, want it over WebRTC by choice", st)
	}
	check.Must(t, s.Stop(voicetest.Deadline(t)))
}

// walled is UDP where nothing comes back from.
type walled struct{ conn.Transport }

func (w walled) Select(ctx context.Context, r conn.Ready) (string, any, error) {
	r.Port = 9 // nobody listens there
	return w.Transport.Select(ctx, r)
}

func TestAServerThatDoesNotAnswerOverUDPIsReachedOverWebRTC(t *testing.T) {
	t.Parallel()
	w := newCity(t)
	a := w.signIn(t, w.CreateAccount("eve", "of eve"), true)
	a.Publisher().Transports = []golive.TransportOption{
		{Name: "UDP", Transport: func(received func([]byte), failed func(error)) conn.Transport {
			return walled{conn.NewUDP(received, failed)}
		}},
		{Name: "WebRTC", Transport: golive.NewWebRTCTransport},
	}
	ctx := voicetest.Deadline(t)
	s, err := a.Publisher().Start(ctx, golive.Request{Guild: w.guild.ID, Channel: w.call.ID, Source: showing(t)})
	check.Must(t, err)
	if st := s.State(); st.Transport != "WebRTC" || !strings.Contains(st.FallbackReason, "does not answer over UDP") {
		t.Errorf("got %+v, want it over WebRTC, and why", st)
	}
}

const (
	webrtcPatience = 30 * time.Second
	sound          = 111 // sources, as the gateway gives them
	pictures       = 222
)

// ready returns what the gateway says at the beginning (op 2).
func ready(t *testing.T) conn.Ready {
	t.Helper()
	var r conn.Ready
	check.Must(t, json.Unmarshal(
		[]byte(`{"ssrc":111,"ip":"127.0.0.1","port":5000,"streams":[{"type":"video","rid":"100","ssrc":222,"rtx_ssrc":223}]}`), &r))
	return r
}

// rig is a transport and what came of it.
type rig struct {
	conn.Transport

	received chan []byte
	failed   chan error
}

func newRig(t *testing.T) rig {
	t.Helper()
	r := rig{received: make(chan []byte, 64), failed: make(chan error, 1)}
	r.Transport = golive.NewWebRTCTransport(func(p []byte) { r.received <- p }, func(err error) { r.failed <- err })
	t.Cleanup(func() {
		for range 2 {
			check.Must(t, r.Close())
		}
	})
	return r
}

// next returns what comes next from a channel.
func next[T any](t *testing.T, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(webrtcPatience):
		t.Fatalf("%s never came", what)
		panic("not reached")
	}
}

// packet returns an RTP packet with a header extension, as package media makes it.
func packet(t *testing.T, payload uint8, seq uint16, body []byte) []byte {
	t.Helper()
	p := rtp.Packet{Header: rtp.Header{
		Version: 2, PayloadType: payload, SequenceNumber: seq, Timestamp: 7,
		SSRC: pictures,
	}, Payload: body}
	if payload == 120 {
		p.SSRC = sound
	}
	check.Must(t, p.SetExtension(6, []byte{0, 0, 0}))
	data, err := p.Marshal()
	check.Must(t, err)
	return data
}

// connect brings a transport and a server together, which gets nothing but the fragment.
func connect(t *testing.T, r rig) (server *voicetest.RTCPeer, rtps, rtcps chan []byte) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), webrtcPatience)
	defer cancel()
	protocol, data, err := r.Select(ctx, ready(t))
	fragment, _ := data.(string)
	if err != nil || protocol != "webrtc" || strings.Contains(fragment, "m=") ||
		strings.Contains(fragment, "a=candidate") {
		t.Fatalf("got %q, %q, error %v; want only lines that the server takes", protocol, fragment, err)
	}
	rtps, rtcps = make(chan []byte, 64), make(chan []byte, 64)
	server, answer, err := voicetest.AnswerFragment(voicetest.PeerOptions{
		Fragment: fragment, Audio: sound, Video: pictures,
		OnRTP: func(p []byte) { rtps <- p }, OnRTCP: func(p []byte) { rtcps <- p },
	})
	check.Must(t, err)
	t.Cleanup(func() {
		check.Must(t, server.Close())
	})
	check.Must(t, r.Start(ctx, conn.Description{SDP: answer}))
	return server, rtps, rtcps
}

func TestPacketsGoAsTheyAreAndControlPacketsComeBack(t *testing.T) {
	r := newRig(t)
	server, rtps, rtcps := connect(t, r)
	check.Fails(t, r.Start(t.Context(), conn.Description{}), nil, "out of order")
	video, rtx := r.Transport.(conn.SourceTransport).Sources()
	if video != pictures || rtx == 0 || rtx == pictures || rtx == sound {
		t.Errorf("got the sources %d and %d, want %d and one of its own", video, rtx, pictures)
	}
	for _, sent := range [][]byte{packet(t, 105, 1, []byte("a picture")), packet(t, 120, 9, []byte("a sound"))} {
		check.Must(t, r.Send(sent))
		if got := next(t, rtps, "a packet"); !bytes.Equal(got, sent) {
			t.Errorf("got the packet\n%x, want\n%x", got, sent)
		}
	}
	report, err := rtcp.Marshal([]rtcp.Packet{&rtcp.SenderReport{SSRC: pictures, PacketCount: 1}})
	check.Must(t, err)
	check.Must(t, r.Send(report))
	if got := next(t, rtcps, "a report"); !bytes.HasPrefix(got, report) {
		t.Errorf("got the report %x, want %x", got, report)
	}
	lost, err := rtcp.Marshal([]rtcp.Packet{&rtcp.PictureLossIndication{SenderSSRC: 1, MediaSSRC: pictures}})
	check.Must(t, err)
	check.Must(t, server.WriteRTCP(lost))
	if got := next(t, r.received, "the loss of a picture"); !bytes.Equal(got, lost) {
		t.Errorf("got the control packet %x, want %x", got, lost)
	}
	for _, bad := range map[string][]byte{"nothing": nil, "no RTP": {1, 2, 3}, "no RTCP": {0x80, 200, 0, 9}} {
		check.Fails(t, r.Send(bad), nil, "packet over WebRTC: ")
	}
}

func TestWhatCannotBeConnectedSaysWhy(t *testing.T) {
	check.Fails(t, newRig(t).Start(t.Context(), conn.Description{SDP: "x"}), nil, "out of order")
	if _, _, err := newRig(t).Select(t.Context(), conn.Ready{SSRC: sound}); err == nil ||
		!strings.Contains(err.Error(), "no source for pictures") {
		t.Errorf("got error %v, want that there is no source", err)
	}
	for name, tc := range map[string]struct{ sdp, want string }{
		"no answer": {"", "needs ice-ufrag"},
		"a broken print": {"a=ice-ufrag:themthem\na=ice-pwd:secretsecretsecretsecret\na=fingerprint:none\na=candidate:1 1 " +
			"UDP 1 127.0.0.1 9 typ host", "voice server's answer"},
	} {
		r := newRig(t)
		if _, _, err := r.Select(t.Context(), ready(t)); err != nil {
			t.Fatal(err)
		}
		if err := r.Start(t.Context(), conn.Description{SDP: tc.sdp}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got error %v, want one with %q", name, err, tc.want)
		}
	}
}

func TestAServerThatIsNotThereIsGivenUp(t *testing.T) {
	r := newRig(t)
	if _, _, err := r.Select(t.Context(), ready(t)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	go cancel(context.DeadlineExceeded)
	err := r.Start(ctx, conn.Description{
		SDP: "a=ice-ufrag:themthem\na=ice-pwd:secretsecretsecretsecret\na=fingerprint:sha-256 " + strings.Repeat("AB:", 31) +
			"AB\na=candidate:1 1 UDP 1 127.0.0.1 9 typ host",
	})
	check.Fails(t, err, nil, "over WebRTC")
}
