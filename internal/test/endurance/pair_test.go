package endurance_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"clank/internal/test/check"
	"clank/internal/test/discordtest/voicetest"
	"clank/voice"
	"clank/voice/discord/conn"
)

// pair is a call of us and one other person, over a network whose streams can be forbidden.
type pair struct {
	*world
	away  atomic.Bool
	conn  *conn.Conn
	other *voicetest.Member
}

const (
	pairGuild, pairRoom = "10", "11"
	somebody            = "901"
)

func newPair(tb testing.TB) *pair {
	tb.Helper()
	p := &pair{world: newWorld(tb, 0)}
	p.voice.SetNetwork(voicetest.NetworkFaults{})
	check.Must(tb, p.hall.open(pairGuild))
	us, them := p.hall.ticket(pairGuild, pairRoom, us), p.hall.ticket(pairGuild, pairRoom, somebody)
	at := p.hall.gateway(pairGuild)
	p.conn = &conn.Conn{
		Target: conn.Target{
			Endpoint: "ws://" + at, ServerID: us.Server, UserID: us.User, SessionID: us.Session,
			Token: us.Token, GroupID: us.Group,
		},
		Transport: conn.NewUDPWithDialer(p.net.Dial),
		HTTPClient: &http.Client{Transport: &http.Transport{
			DisableKeepAlives: true,
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				if p.away.Load() {
					return nil, errors.New("no way there")
				}
				return p.net.Dial(ctx, network, address)
			},
		}},
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var err error
	if p.other, err = voicetest.JoinCall(ctx, voicetest.MemberOptions{
		Endpoint: at, Credentials: them,
		Privacy: voicetest.NewDAVESession, Dial: p.net.Dial,
	}); err != nil {
		tb.Fatal(err)
	}
	return p
}

// open connects us and waits until both have the keys.
func (p *pair) open(tb testing.TB) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	check.Must(tb, p.conn.Open(ctx))
	err := p.voice.Wait(ctx, "keys", func() bool { return p.voice.Settled(pairGuild, pairRoom) })
	for err == nil && (p.conn.PrivacyCode() == "" ||
		errors.Is(p.conn.SendAudio(voicetest.OpusSilence), voice.ErrUnavailable)) {
		rest(p.life, 10*time.Millisecond)
		err = ctx.Err()
	}
	check.Must(tb, err)
}

func (p *pair) close(tb testing.TB) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := errors.Join(p.conn.Close(ctx), p.other.Close()); err != nil {
		tb.Error(err)
	}
	p.world.close()
}

// mask returns what the server thinks that we speak as.
func (p *pair) mask() int {
	c, _ := p.voice.Client(seatOf(pairGuild, us))
	return c.Speaking
}

// inPair tests something with an open call, in simulated time.
func inPair(t *testing.T, test func(*testing.T, *pair)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		defer p.close(t)
		p.open(t)
		synctest.Wait()
		test(t, p)
	})
}

func TestSpeechGoesOnWhileTheGatewayIsAway(t *testing.T) {
	inPair(t, func(t *testing.T, p *pair) {
		t.Helper()
		p.away.Store(true)
		check.Must(t, p.voice.CloseSeat(seatOf(pairGuild, us), 4015, "crashed"))
		rest(p.life, time.Second)
		got, _ := p.voice.Client(seatOf(pairGuild, us))
		before := got.Received
		if err := p.conn.SendAudio(mark(1, 1)); err != nil {
			t.Errorf("a second after the gateway went away: %v", err)
		}
		synctest.Wait()
		if got, _ := p.voice.Client(seatOf(pairGuild, us)); got.Received != before+1 {
			t.Errorf("the server got %d packets, want one", got.Received-before)
		}
		if err := p.conn.EndSpeech(); err != nil {
			t.Error(err)
		}
		check.Fails(t, p.conn.SendAudio(mark(2, 1)), voice.ErrUnavailable)
		check.Equal(t, "the server thinks that we speak as", p.mask(), 1)
		p.away.Store(false)
		rest(p.life, 10*time.Second)
		check.Equal(t, "after the resume the server thinks that we speak as", p.mask(), 0)
		if err := p.conn.SendAudio(mark(3, 1)); err != nil {
			t.Error(err)
		}
	})
}

func TestASpeakingStateThatWasLostIsToldAgain(t *testing.T) {
	inPair(t, func(t *testing.T, p *pair) {
		t.Helper()
		check.Must(t, p.conn.EndSpeech())
		synctest.Wait()
		check.Must(t, p.conn.SendAudio(mark(1, 1)))
		check.Must(t, p.voice.Drop(seatOf(pairGuild, us)))
		rest(p.life, 10*time.Second)
		check.Equal(t, "the server thinks that we speak as", p.mask(), 1)
	})
}

func TestSpeechStopsWhenTheGatewayStaysAway(t *testing.T) {
	inPair(t, func(t *testing.T, p *pair) {
		t.Helper()
		p.away.Store(true)
		check.Must(t, p.voice.Drop(seatOf(pairGuild, us)))
		rest(p.life, 4*time.Second)
		check.Fails(t, p.conn.SendAudio(mark(1, 1)), voice.ErrUnavailable)
	})
}
