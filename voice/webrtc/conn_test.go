package webrtc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"clank/internal/test/browsertest"
	"clank/internal/test/check"
	"clank/internal/test/rtctest"
	"clank/voice"
	"clank/voice/webrtc"

	"github.com/google/go-cmp/cmp"
)

func connect(t *testing.T, e *webrtc.Engine, peer webrtc.Handlers,
	o rtctest.PageOptions,
) (*webrtc.Conn, *rtctest.Page) {
	t.Helper()
	page, offer := rtctest.NewPage(t, o)
	up, connected := make(chan struct{}), peer.Connected
	peer.Connected = func(c *webrtc.Conn) {
		if connected != nil {
			connected(c)
		}
		close(up)
	}
	conn, answer, err := e.Answer(t.Context(), offer, peer)
	check.Must(t, err)
	page.Accept(t, answer)
	rtctest.Next(t, page.Up)
	rtctest.Next(t, up)
	return conn, page
}

func TestSoundGoesBothWays(t *testing.T) {
	e := rtctest.OpenEngine(t, new(webrtc.Engine))
	heard := make(chan voice.Packet, 100)
	conn, page := connect(t, e, webrtc.Handlers{Packet: func(p voice.Packet) { heard <- p }}, rtctest.PageOptions{})
	page.SendOpus(t, 3, []byte("hello"))
	for i := range 3 {
		got := rtctest.Next(t, heard)
		want := voice.Packet{Sequence: uint16(i), Timestamp: uint32(i) * 960, Opus: []byte("hello"), At: got.At}
		if diff := cmp.Diff(want, got); diff != "" || got.At.IsZero() {
			t.Errorf("packet %d (-want +got):\n%s", i, diff)
		}
	}
	for range 2 {
		check.Must(t, conn.Play([]byte("hi there")))
	}
	check.Must(t, conn.EndSpeech())
	first := rtctest.Next(t, page.Sounds)
	if got := string(first.Payload); got != "hi there" || !first.Marker {
		t.Errorf("the page hears %q, marker %v", got, first.Marker)
	}
	for i := 1; i < 7; i++ {
		p := rtctest.Next(t, page.Sounds)
		want := "hi there"
		if i > 1 {
			want = "\xf8\xff\xfe"
		}
		if got := string(p.Payload); got != want || p.Timestamp-first.Timestamp != uint32(i)*960 ||
			p.SequenceNumber-first.SequenceNumber != uint16(i) {
			t.Errorf("packet %d is %q at %d, number %d", i, got, p.Timestamp-first.Timestamp,
				p.SequenceNumber-first.SequenceNumber)
		}
	}
}

func TestAPauseIsSeenInTheTimestamps(t *testing.T) {
	e := rtctest.OpenEngine(t, new(webrtc.Engine))
	conn, page := connect(t, e, webrtc.Handlers{}, rtctest.PageOptions{})
	began := time.Now()
	_ = conn.Play([]byte("one"))
	one := rtctest.Next(t, page.Sounds)
	<-time.After(200 * time.Millisecond)
	_ = conn.Play([]byte("two"))
	two := rtctest.Next(t, page.Sounds)
	got := time.Duration(two.Timestamp-one.Timestamp) * time.Second / 48000
	if got < 180*time.Millisecond || got > time.Since(began) || !two.Marker {
		t.Errorf("the pause is %v in the timestamps, marker %v", got, two.Marker)
	}
}

func TestPicturesAreShownAndShownAgainWhenLost(t *testing.T) {
	e := rtctest.OpenEngine(t, new(webrtc.Engine))
	var screen, other rtctest.FrameSource
	screen.Show(rtctest.Red())
	other.Show(rtctest.Blue())
	conn, page := connect(t, e, webrtc.Handlers{Connected: func(c *webrtc.Conn) { c.ShowVideo(screen.Watch()) }},
		rtctest.PageOptions{NoMicrophone: true})
	if got := rtctest.Next(t, page.Frames); !cmp.Equal(got, rtctest.Red().Data) {
		t.Errorf("a frame of %d bytes came, not the red one", len(got))
	}
	browsertest.Eventually(t, "the picture comes again, for a page that was not ready",
		func() bool { return screen.Refreshed() == 3 })
	page.LosePicture(t)
	browsertest.Eventually(t, "the picture comes again after a loss", func() bool { return screen.Refreshed() == 4 })
	for range 4 {
		if got := rtctest.Next(t, page.Frames); !cmp.Equal(got, rtctest.Red().Data) {
			t.Errorf("a frame of %d bytes came again", len(got))
		}
	}
	conn.ShowVideo(other.Watch())
	if got := rtctest.Next(t, page.Frames); !cmp.Equal(got, rtctest.Blue().Data) {
		t.Errorf("a frame of %d bytes came, not the blue one", len(got))
	}
	check.Equal(t, "still look at what is not shown any more", screen.Viewers(), 0)
	conn.ShowVideo(nil)
	browsertest.Eventually(t, "nobody looks", func() bool { return other.Viewers() == 0 })
	conn.End(webrtc.ErrPageLeft)
	rtctest.Next(t, conn.Done())
	if conn.ShowVideo(other.Watch()); other.Viewers() != 0 {
		t.Error("after the end somebody looks")
	}
}

func TestMessagesGoBothWaysAndTheLastOneArrives(t *testing.T) {
	e := rtctest.OpenEngine(t, new(webrtc.Engine))
	told, up := make(chan string, 10), make(chan struct{}, 1)
	page, offer := rtctest.NewPage(t, rtctest.PageOptions{})
	conn, answer, err := e.Answer(t.Context(), offer, webrtc.Handlers{
		Message: func(data []byte) { told <- string(data) }, Connected: func(*webrtc.Conn) { up <- struct{}{} },
	})
	check.Must(t, err)
	check.Must(t, conn.SendMessage("early"))
	page.Accept(t, answer)
	check.Equal(t, "the page was told", rtctest.Next(t, page.Said), "early")
	rtctest.Next(t, up)
	page.SendText(t, strings.Repeat("x", 5000))
	page.SendText(t, "stop")
	if got := rtctest.Next(t, told); got != "stop" {
		t.Errorf("%d bytes came from the page", len(got))
	}
	_ = conn.SendMessage("bye")
	why := errors.New("enough")
	conn.End(why)
	check.Equal(t, "the last word was", rtctest.Next(t, page.Said), "bye")
	rtctest.Next(t, conn.Done())
	check.Fails(t, conn.Err(), why)
	rtctest.Next(t, page.Ended)
	check.Fails(t, conn.Play([]byte("x")), voice.ErrUnavailable)
}

func TestAPageThatLeavesLeavesNothingBehind(t *testing.T) {
	e := rtctest.OpenEngine(t, new(webrtc.Engine))
	var screen rtctest.FrameSource
	before := runtime.NumGoroutine()
	conn, page := connect(t, e, webrtc.Handlers{Connected: func(c *webrtc.Conn) { c.ShowVideo(screen.Watch()) }},
		rtctest.PageOptions{})
	_ = page.PC.GracefulClose()
	rtctest.Next(t, conn.Done())
	check.Fails(t, conn.Err(), webrtc.ErrPageLeft)
	browsertest.Eventually(t, "nothing is left of it", func() bool {
		return e.Count() == 0 && screen.Viewers() == 0 && runtime.NumGoroutine() <= before
	})
}

func TestAPageThatNeverComesIsGivenUp(t *testing.T) {
	e := rtctest.OpenEngine(t, &webrtc.Engine{ConnectTimeout: 10 * time.Millisecond})
	_, offer := rtctest.NewPage(t, rtctest.PageOptions{})
	conn, _, err := e.Answer(t.Context(), offer, webrtc.Handlers{})
	check.Must(t, err)
	rtctest.Next(t, conn.Done())
	check.Fails(t, conn.Err(), webrtc.ErrNoRoute)
	browsertest.Eventually(t, "its place is free", func() bool { return e.Count() == 0 })
}

func TestOnePortIsEnough(t *testing.T) {
	e := rtctest.OpenEngine(t, &webrtc.Engine{UDP: "127.0.0.1:0"})
	told := make(chan string, 10)
	for range 2 {
		_, page := connect(t, e, webrtc.Handlers{Message: func(data []byte) { told <- string(data) }}, rtctest.PageOptions{})
		page.SendText(t, "here")
		check.Equal(t, "rtctest.Next(t, told)", rtctest.Next(t, told), "here")
	}
}

func TestPagesAreReachedOverTCPWhereThereIsNoUDP(t *testing.T) {
	for name, e := range map[string]*webrtc.Engine{"one port": {UDP: "127.0.0.1:0"}, "any": {}} {
		t.Run(name, func(t *testing.T) {
			conn, page := connect(t, rtctest.OpenEngine(t, e), webrtc.Handlers{}, rtctest.PageOptions{NoUDP: true})
			screen := &rtctest.FrameSource{}
			screen.Show(rtctest.Red())
			conn.ShowVideo(screen.Watch())
			if got := rtctest.Next(t, page.Frames); len(got) == 0 {
				t.Error("the page got an empty picture")
			}
		})
	}
}

// TestATakenTCPPortCostsOnlyTCP tests an engine whose port is another program's for TCP, such as 443.
func TestATakenTCPPortCostsOnlyTCP(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	check.Must(t, err)
	defer taken.Close()
	var log bytes.Buffer
	e := &webrtc.Engine{UDP: taken.Addr().String(), Logger: slog.New(slog.NewTextHandler(&log, nil))}
	connect(t, rtctest.OpenEngine(t, e), webrtc.Handlers{}, rtctest.PageOptions{})
	check.Contains(t, log.String(), taken.Addr().String())
}

func TestOffersThatAreRefused(t *testing.T) {
	e := rtctest.OpenEngine(t, &webrtc.Engine{MaxConns: 1})
	_, good := rtctest.NewPage(t, rtctest.PageOptions{})
	for name, offer := range map[string]string{
		"nothing":          "",
		"garbage":          "hello",
		"too long":         strings.Repeat("a=x\r\n", 20000),
		"no part":          "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\n",
		"without a secret": strings.ReplaceAll(strings.ReplaceAll(good, "a=ice-pwd", "a=x-pwd"), "a=ice-ufrag", "a=x-ufrag"),
		"another kind":     strings.ReplaceAll(good, "m=audio", "m=text"),
	} {
		if _, _, err := e.Answer(t.Context(), offer, webrtc.Handlers{}); !errors.Is(err, webrtc.ErrBadOffer) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := e.Count(); got != 0 {
		t.Fatalf("%d places are taken by what was refused", got)
	}
	conn, _ := connect(t, e, webrtc.Handlers{}, rtctest.PageOptions{})
	if _, _, err := e.Answer(t.Context(), good, webrtc.Handlers{}); !errors.Is(err, webrtc.ErrTooManyConns) {
		t.Errorf("one too many: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), rtctest.Patience)
	defer cancel()
	check.Must(t, e.Close(ctx))
	check.Fails(t, conn.Err(), webrtc.ErrClosed)
	if _, _, err := e.Answer(t.Context(), good, webrtc.Handlers{}); !errors.Is(err, webrtc.ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}

func TestAPortThatIsTakenIsNamed(t *testing.T) {
	taken, err := net.ListenPacket("udp", "127.0.0.1:0")
	check.Must(t, err)
	defer taken.Close()
	e := &webrtc.Engine{UDP: taken.LocalAddr().String()}
	check.Fails(t, e.Open(t.Context()), nil, taken.LocalAddr().String())
	check.Must(t, e.Close(t.Context()))
}

func TestAPageIsReachedThroughARelayOnly(t *testing.T) {
	relay := rtctest.NewRelay(t, "a shared secret")
	e := rtctest.OpenEngine(t, &webrtc.Engine{ICEServers: []webrtc.ICEServer{relay.Server}})
	conn, page := connect(t, e, webrtc.Handlers{}, rtctest.PageOptions{Relays: e.OfferedServers(time.Now())})
	screen := &rtctest.FrameSource{}
	screen.Show(rtctest.Red())
	conn.ShowVideo(screen.Watch())
	if got := rtctest.Next(t, page.Frames); len(got) == 0 {
		t.Error("the page got an empty picture")
	}
	check.Must(t, conn.Play([]byte("hi there")))
	check.Equal(t, "the page hears", string(rtctest.Next(t, page.Sounds).Payload), "hi there")
	if relay.Connections.Load() == 0 {
		t.Error("nobody went through the relay")
	}
}

func TestRelaysAreTested(t *testing.T) {
	relay := rtctest.NewRelay(t, "a shared secret")
	wrong := relay.Server
	wrong.Secret = "another secret"
	for name, tc := range map[string]struct {
		server webrtc.ICEServer
		want   string
	}{"one that works": {relay.Server, ""}, "a wrong secret": {wrong, "check the servers' names, ports and secrets"}} {
		e := rtctest.OpenEngine(t, &webrtc.Engine{ICEServers: []webrtc.ICEServer{tc.server}})
		check.Outcome(t, name, e.CheckRelays(t.Context()), tc.want)
		if e.Count() != 0 {
			t.Errorf("%s: a connection is left", name)
		}
	}
}

func TestARelayIsLentForATime(t *testing.T) {
	relay := rtctest.NewRelay(t, "a shared secret")
	e := &webrtc.Engine{ICEServers: []webrtc.ICEServer{
		{URLs: []string{"stun:stun.example:3478"}},
		relay.Server,
		{URLs: relay.Server.URLs, Username: "ada", Credential: "static"},
	}}
	now := time.Now()
	got := e.OfferedServers(now)
	if len(got) != 3 || got[0].Username != "" || got[0].Credential != "" || got[2].Username != "ada" ||
		got[2].Credential != "static" {
		t.Fatalf("offered %d servers", len(got))
	}
	until, name, _ := strings.Cut(got[1].Username, ":")
	if at, err := strconv.ParseInt(until, 10, 64); err != nil || at != now.Add(webrtc.CredentialLifetime).Unix() ||
		name != "clank" || got[1].Secret != "" {
		t.Errorf("lent to %q", got[1].Username)
	}
	later := e.OfferedServers(now.Add(time.Second))
	if later[1].Credential == got[1].Credential {
		t.Error("the same credential is lent for ever")
	}
	if _, offer := rtctest.NewPage(t, rtctest.PageOptions{Relays: got[1:2]}); !strings.Contains(offer, "typ relay") {
		t.Error("what is lent lets nobody through the relay")
	}
	for what, server := range map[string]webrtc.ICEServer{
		"what has expired": e.OfferedServers(now.Add(-webrtc.CredentialLifetime - time.Minute))[1],
		"what was changed": {
			URLs: got[1].URLs, Username: strconv.FormatInt(now.Add(1000*time.Hour).Unix(), 10) + ":clank",
			Credential: got[1].Credential,
		},
	} {
		_, offer := rtctest.NewPage(t, rtctest.PageOptions{Relays: []webrtc.ICEServer{server}})
		if strings.Contains(offer, "typ relay") {
			t.Errorf("%s lets one through the relay", what)
		}
	}
}

func TestServersPrintThemselvesWithoutTheirSecrets(t *testing.T) {
	s := webrtc.ICEServer{
		URLs: []string{"turn:turn.example"}, Username: "ada", Credential: "classified",
		Secret: "confidential",
	}
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("a server", "server", s)
	for _, text := range []string{
		fmt.Sprint(s), fmt.Sprintf("%+v", []webrtc.ICEServer{s}), fmt.Sprintf("%#v", s),
		log.String(),
	} {
		check.Contains(t, text, "turn.example")
		check.Lacks(t, text, "confidential", "classified")
	}
}
