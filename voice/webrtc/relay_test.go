package webrtc_test

import (
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"clank/internal/test/rtctest"
	"clank/voice/webrtc"
)

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
	if err := conn.Play([]byte("hi there")); err != nil {
		t.Fatal(err)
	}
	if got := string(rtctest.Next(t, page.Sounds).Payload); got != "hi there" {
		t.Errorf("the page hears %q", got)
	}
	if relay.Connections.Load() == 0 {
		t.Error("nobody went through the relay")
	}
}

func TestARelayIsLentForATime(t *testing.T) {
	relay := rtctest.NewRelay(t, "a shared secret")
	e := &webrtc.Engine{ICEServers: []webrtc.ICEServer{{URLs: []string{"stun:stun.example:3478"}}, relay.Server, {URLs: relay.Server.URLs, Username: "ada", Credential: "static"}}}
	now := time.Now()
	got := e.OfferedServers(now)
	if len(got) != 3 || got[0].Username != "" || got[0].Credential != "" || got[2].Username != "ada" || got[2].Credential != "static" {
		t.Fatalf("offered %d servers", len(got))
	}
	until, name, _ := strings.Cut(got[1].Username, ":")
	if at, err := strconv.ParseInt(until, 10, 64); err != nil || at != now.Add(webrtc.CredentialLifetime).Unix() || name != "clank" || got[1].Secret != "" {
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
		"what was changed": {URLs: got[1].URLs, Username: strconv.FormatInt(now.Add(1000*time.Hour).Unix(), 10) + ":clank", Credential: got[1].Credential},
	} {
		_, offer := rtctest.NewPage(t, rtctest.PageOptions{Relays: []webrtc.ICEServer{server}})
		if strings.Contains(offer, "typ relay") {
			t.Errorf("%s lets one through the relay", what)
		}
	}
}

func TestServersPrintThemselvesWithoutTheirSecrets(t *testing.T) {
	s := webrtc.ICEServer{URLs: []string{"turn:turn.example"}, Username: "ada", Credential: "classified", Secret: "confidential"}
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("a server", "server", s)
	for _, text := range []string{fmt.Sprint(s), fmt.Sprintf("%+v", []webrtc.ICEServer{s}), fmt.Sprintf("%#v", s), log.String()} {
		if strings.Contains(text, "confidential") || strings.Contains(text, "classified") || !strings.Contains(text, "turn.example") {
			t.Errorf("printed %s", text)
		}
	}
}
