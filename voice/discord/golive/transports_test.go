package golive_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"clank/internal/test/discordtest/voicetest"
	"clank/voice/discord/conn"
	"clank/voice/discord/golive"
	"clank/voice/share"

	"github.com/google/go-cmp/cmp"
)

func TestAStreamThatDoesNotGetThroughTakesAnotherWayAndSaysSo(t *testing.T) {
	for name, block := range map[string]func(w *town){
		"refused": func(w *town) { w.blocked = "UDP" },
		"eager":   func(w *town) { w.blocked, w.eager = "UDP", true },
		"silent":  func(w *town) { w.slow = true; time.AfterFunc(3999*time.Millisecond, func() { w.slowly(false) }) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newTown(t)
				block(w)
				stage := &golive.Target{Publisher: w.pub}
				show := share.Presentation{ID: "a", Call: share.CallRef{ID: "x", Guild: guild, Channel: channel}, Source: w.src, Lost: func(error) {}}
				place, err := stage.Begin(t.Context(), show)
				if err != nil || !strings.Contains(place.Text, "It goes over WebRTC, as UDP does not get through: ") {
					t.Errorf("people are told %q, error %v; want the way that was taken, and why", place.Text, err)
				}
				if st := w.pub.Current().State(); st.Transport != "WebRTC" || st.FallbackReason == "" {
					t.Errorf("got %+v, want it over WebRTC", st)
				}
				w.server("b.example", "token-b")
				pass(2 * time.Second)
				if diff := cmp.Diff([]string{"UDP", "WebRTC", "WebRTC"}, w.tried); diff != "" {
					t.Errorf("ways that were tried, before and after a move (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestWhatTheGatewayRefusesIsNotTriedInAnotherWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t)
		w.refuse = &conn.CloseError{Code: 4017}
		if _, err := w.pub.Start(t.Context(), w.wish(nil)); err == nil {
			t.Error("a stream began that was refused")
		}
		if diff := cmp.Diff([]string{"UDP"}, w.tried); diff != "" {
			t.Errorf("ways that were tried (-want +got):\n%s", diff)
		}
	})
}

func TestAStreamOverWebRTCIsSeenOverUDP(t *testing.T) {
	t.Parallel()
	w := newCity(t)
	eve := w.CreateAccount("eve", "of eve")
	a := w.signIn(t, eve, true)
	a.Publisher().Transports = []golive.TransportOption{{Name: "WebRTC", Transport: golive.NewWebRTCTransport}}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	src := showing(t)
	s, err := a.Publisher().Start(ctx, golive.Request{Guild: w.guild.ID, Channel: w.call.ID, Source: src})
	if err != nil {
		t.Fatal(err)
	}
	ada, err := w.WatchStream(ctx, s.State().Key, w.ada, voicetest.MemberOptions{Privacy: voicetest.NewDAVESession})
	if err != nil {
		t.Fatal(err)
	}
	defer ada.Close()
	ada.RequestQuality(100)
	whole(t, ada)
	whole(t, ada)
	if st := s.State(); st.Transport != "WebRTC" || st.FallbackReason != "" {
		t.Errorf("got %+v, want it over WebRTC by choice", st)
	}
	for _, v := range w.Voice.Violations() {
		t.Errorf("the server does not like: %v", v)
	}
	if err := s.Stop(ctx); err != nil {
		t.Fatal(err)
	}
}

// walled is UDP where nothing comes back from.
type walled struct{ conn.Transport }

func (w walled) Select(ctx context.Context, r conn.Ready) (string, any, error) {
	r.Port = 9 // nobody listens there
	return w.Transport.Select(ctx, r)
}

func TestAServerThatDoesNotAnswerOverUDPIsReachedOverWebRTC(t *testing.T) {
	if testing.Short() {
		t.Skip("asking over UDP takes some seconds to fail; what follows is tested with fakes")
	}
	t.Parallel()
	w := newCity(t)
	a := w.signIn(t, w.CreateAccount("eve", "of eve"), true)
	a.Publisher().Transports = []golive.TransportOption{
		{Name: "UDP", Transport: func(received func([]byte), failed func(error)) conn.Transport {
			return walled{conn.NewUDP(received, failed)}
		}},
		{Name: "WebRTC", Transport: golive.NewWebRTCTransport},
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s, err := a.Publisher().Start(ctx, golive.Request{Guild: w.guild.ID, Channel: w.call.ID, Source: showing(t)})
	if err != nil {
		t.Fatal(err)
	}
	if st := s.State(); st.Transport != "WebRTC" || !strings.Contains(st.FallbackReason, "does not answer over UDP") {
		t.Errorf("got %+v, want it over WebRTC, and why", st)
	}
}
