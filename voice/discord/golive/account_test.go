package golive_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/bot/discord"
	"clank/internal/test/check"
	"clank/internal/test/discordtest"
	"clank/internal/test/discordtest/voicetest"
	"clank/sessions"
	"clank/videosource"
	"clank/voice/discord/conn"
	"clank/voice/discord/golive"
	"clank/voice/share"
)

const patience = 30 * time.Second

// film is a page whose pictures are large enough to need several packets.
type film struct {
	mu    sync.Mutex
	taken int
}

func (f *film) CaptureWebP(context.Context, int, float64) ([]byte, string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.taken++
	return framed(frame(f.taken)), "", nil
}

// frame returns the header of a VP8 key frame of 64 x 48 and a body that tells its number.
func frame(n int) []byte {
	vp8 := append([]byte{0, 0, 0, 0x9d, 0x01, 0x2a, 64, 0, 48, 0}, bytes.Repeat([]byte{byte(n), byte(n >> 8), 3}, 1500)...)
	return vp8
}

// framed wraps a VP8 frame in WebP.
func framed(vp8 []byte) []byte {
	out := append([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, uint32(len(vp8)+12))...)
	out = append(append(out, "WEBPVP8 "...), binary.LittleEndian.AppendUint32(nil, uint32(len(vp8)))...)
	return append(out, vp8...)
}

// city is an emulated Discord with a call that ada is in.
type city struct {
	*discordtest.Server
	guild    discordtest.Guild
	call     discordtest.Channel
	ada      discordtest.User
	required func() bool // see [golive.Account]
}

func newCity(t *testing.T) city {
	t.Helper()
	return cityOf(t, 1)
}

// cityOf returns a city whose calls have this version of the end-to-end encryption.
func cityOf(t *testing.T, version int) city {
	t.Helper()
	s := discordtest.StartTest(t, discordtest.Config{Voice: &voicetest.Config{DAVE: version}})
	t.Cleanup(func() {
		if got := s.Voice.Violations(); len(got) > 0 {
			t.Errorf("what Discord would not take: %v", got)
		}
	})
	w := city{Server: s, ada: s.CreateUser("ada")}
	w.guild = s.CreateGuild("home", w.ada)
	w.call = s.CreateVoiceChannel(w.guild, "call")
	s.JoinVoice(w.call, w.ada)
	return w
}

// signIn signs an account in to go live.
func (w city) signIn(t *testing.T, who discordtest.Bot, person bool) *golive.Account {
	t.Helper()
	w.AddMember(w.guild, who.User)
	a := &golive.Account{
		Format: conn.Format{Rate: 8, Bitrate: 4_000_000}, RequireEncryption: w.required,
		HTTPClient: &http.Client{
			Transport: &http.Transport{
				TLSClientConfig:   &tls.Config{RootCAs: w.Voice.Roots(), MinVersion: tls.VersionTLS12},
				DisableKeepAlives: true,
			},
		},
		Dial: func(dispatch func(string, json.RawMessage)) golive.Gateway {
			return &discord.Gateway{
				Token: who.Token, UserToken: person, Intents: 1 | 1<<7, MinWait: 10 * time.Millisecond, OnDispatch: dispatch,
				URL: w.GatewayURL,
			}
		},
	}
	ctx := voicetest.Deadline(t)
	check.Must(t, a.Open(ctx))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		for range 2 {
			check.Must(t, a.Close(ctx))
		}
	})
	return a
}

// showing runs a source until the test ends.
func showing(t *testing.T) *videosource.Source {
	t.Helper()
	src := &videosource.Source{Screen: &film{}, IdleFPS: 20}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = src.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return src
}

// whole waits for a picture, which must be one that was taken.
func whole(t *testing.T, m *voicetest.Member) {
	t.Helper()
	for {
		f := voicetest.NextFrame(t, m)
		if !f.Video || f.Err != nil { // what was sent before the new keys were in use cannot be read
			continue
		}
		if bytes.Equal(f.Data, f.Encrypted) {
			t.Error("got a picture that is not encrypted from end to end")
		}
		if n := int(f.Data[10]) | int(f.Data[11])<<8; !bytes.Equal(f.Data, frame(n)) {
			t.Errorf("got a picture of %d bytes that nobody has taken", len(f.Data))
		}
		return
	}
}

// watch has somebody watch a stream.
func (w city) watch(t *testing.T, key string, who discordtest.User) *voicetest.Member {
	t.Helper()
	m, err := w.WatchStream(voicetest.Deadline(t), key, who, voicetest.MemberOptions{Privacy: voicetest.NewDAVESession})
	check.Must(t, err)
	t.Cleanup(func() { _ = m.Close() }) // which says how it ended, as Discord had it
	m.RequestQuality(100)
	return m
}

// watched begins a stream in the call, of which ada gets two pictures.
func (w city) watched(t *testing.T, a *golive.Account, r golive.Request) (*golive.Stream, *voicetest.Member) {
	t.Helper()
	r.Guild, r.Channel = w.guild.ID, w.call.ID
	s, err := a.Publisher().Start(voicetest.Deadline(t), r)
	check.Must(t, err)
	ada := w.watch(t, s.State().Key, w.ada)
	whole(t, ada)
	whole(t, ada)
	return s, ada
}

// eventually waits for what others bring about.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	late := time.After(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("%s: it never came", what)
		}
	}
}

func TestAStreamThatMustBeEncryptedIsNotShownWhereItIsNot(t *testing.T) {
	w := cityOf(t, 0)
	w.required = func() bool { return true }
	a := w.signIn(t, w.CreateAccount("eve", "of eve"), true)
	a.Publisher().AnswerTimeout = 500 * time.Millisecond
	check.Fails(t, check.Err(a.Publisher().Start(voicetest.Deadline(t),
		golive.Request{Guild: w.guild.ID, Channel: w.call.ID, Source: showing(t)})), nil, "not ready within")
}

func TestAnAccountGoesLiveForThoseWhoWatch(t *testing.T) {
	t.Parallel()
	w := newCity(t)
	eve := w.CreateAccount("eve", "of eve")
	a := w.signIn(t, eve, true)
	ctx := voicetest.Deadline(t)
	src := showing(t)
	var lost losses
	s, ada := w.watched(t, a, golive.Request{Source: src, Lost: lost.add})
	key := s.State().Key

	ada.RequestQuality(0)
	eventually(t, "nobody taking pictures", func() bool { return src.Stats().Viewers == 0 })
	ada.RequestQuality(100)
	eventually(t, "pictures again", func() bool { return src.Stats().Viewers == 1 })

	w.LoseStreamServer(key, voicetest.CloseDisconnected)
	eventually(t, "the loss of the server", func() bool { return s.State().Status == golive.AwaitingCredentials })
	w.FindStreamServer(key)
	eventually(t, "the new server", func() bool { return s.State().Status == golive.Playing })
	whole(t, w.watch(t, key, w.ada))

	if v := w.VoiceStates(w.guild)[eve.ID]; !v.SelfDeaf || !v.SelfMute {
		t.Errorf("got voice state %+v, want an account that shows that it neither listens nor speaks", v)
	}
	check.Must(t, s.Stop(ctx))
	if len(w.Streams()) > 0 || len(lost.all()) > 0 {
		t.Errorf("got the streams %v, lost %v, want none", w.Streams(), lost.all())
	}
	eventually(t, "eve to leave", func() bool { _, there := w.VoiceStates(w.guild)[eve.ID]; return !there })
}

func TestABotIsRefusedInWords(t *testing.T) {
	for name, tc := range map[string]struct {
		fate discordtest.BotStreams
		want string
	}{
		"in silence":     {discordtest.IgnoreBots, "did not answer within"},
		"by its end":     {discordtest.DeleteBots, "bots never may"},
		"with the close": {discordtest.CloseBots, "closed the connection"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // each waits for sockets
			w := newCity(t)
			w.SetBotStreams(tc.fate)
			a := w.signIn(t, w.CreateBot("clank", "secret"), false)
			if tc.fate == discordtest.IgnoreBots {
				a.Publisher().AnswerTimeout = 300 * time.Millisecond
			}
			ctx := voicetest.Deadline(t)
			_, err := a.Publisher().Start(ctx, golive.Request{Guild: w.guild.ID, Channel: w.call.ID, Source: showing(t)})
			if _, refused := errors.AsType[*golive.RefusedError](err); !refused || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got error %v, want a refusal with %q", err, tc.want)
			}
		})
	}
}

func TestAnAccountThatCannotSignInIsTold(t *testing.T) {
	broken := errors.New("code 4004")
	a := &golive.Account{Dial: func(func(string, json.RawMessage)) golive.Gateway { return refusing{broken} }}
	if err := a.Open(t.Context()); !errors.Is(err, broken) || !strings.Contains(err.Error(), "account for Go Live") {
		t.Errorf("got error %v, want %v and whose it is", err, broken)
	}
	check.Must(t, a.Close(t.Context()))
}

// refusing is a gateway that lets nobody in.
type refusing struct{ err error }

func (r refusing) Open(context.Context) error         { return r.err }
func (refusing) Send(context.Context, int, any) error { return nil }
func (refusing) Done() <-chan struct{}                { return nil }
func (refusing) Err() error                           { return nil }
func (refusing) Close(context.Context) error          { return nil }

// one is the sessions of a program that has one, of a server.
type one struct{ guild string }

func (o one) Session(context.Context, string) (sessions.Session, error) {
	return sessions.Session{
		ID: "s", State: sessions.SessionIdle,
		Origin: sessions.Origin{Kind: sessions.FromDiscord, User: "1", Guild: o.guild},
	}, nil
}
func (one) SetShared(context.Context, string, bool) error { return nil }
func (one) Subscribe() (<-chan sessions.Event, func())    { return nil, func() {} }

// link is what is left where Go Live is refused.
type link struct{}

func (link) Name() string { return "a link" }
func (link) Begin(context.Context, share.Presentation) (share.ViewLocation, error) {
	return share.ViewLocation{Link: "https://view.example/"}, nil
}
func (link) End(context.Context, share.Presentation) error { return nil }

// theatre is a city in which ada watches what eve's account shows of session s.
type theatre struct {
	city
	eve    discordtest.Bot
	other  discordtest.Channel // bob is there
	bob    discordtest.User
	pub    *golive.Publisher
	shares *share.Manager
	told   chan share.Notice
	before string            // the stream's key
	seen   *voicetest.Member // ada, who watches it
}

func newTheatre(t *testing.T) *theatre {
	t.Helper()
	w := &theatre{city: newCity(t), told: make(chan share.Notice, 8)}
	w.bob = w.CreateUser("bob")
	w.AddMember(w.guild, w.bob)
	w.other = w.CreateVoiceChannel(w.guild, "other")
	w.JoinVoice(w.other, w.bob)
	w.eve = w.CreateAccount("eve", "of eve")
	w.pub = w.signIn(t, w.eve, true).Publisher()
	w.pub.AnswerTimeout = 8 * patience // so that nothing depends on how fast the machine is
	w.shares = &share.Manager{
		Sessions: one{w.guild.ID}, Host: w,
		NewSource: func() *videosource.Source { return &videosource.Source{IdleFPS: 20} },
	}
	ctx := voicetest.Deadline(t)
	t.Cleanup(func() {
		check.Must(t, w.shares.Close(context.Background()))
	})
	if _, err := w.shares.Share(ctx, w.in(w.call), "s",
		sessions.Origin{Kind: sessions.FromDiscord, User: "1", Guild: w.guild.ID}); err != nil {
		t.Fatal(err)
	}
	<-w.told
	w.before = w.pub.Current().State().Key
	w.seen = w.watch(t, w.before, w.ada)
	whole(t, w.seen)
	return w
}

func (*theatre) Screenshotter(context.Context, sessions.Session) (videosource.Screenshotter, error) {
	return &film{}, nil
}

func (w *theatre) ShareTargets(share.CallRef) []share.Target {
	return []share.Target{&golive.Target{Publisher: w.pub}, link{}}
}

func (*theatre) CheckShare(sessions.Origin, sessions.Session) error { return nil }

func (*theatre) PlaySound(context.Context, share.CallRef, sessions.Session) {}

func (w *theatre) SendNotice(n share.Notice) { w.told <- n }

// in returns the call when it is in a channel.
func (w *theatre) in(c discordtest.Channel) share.CallRef {
	return share.CallRef{ID: "call", Guild: w.guild.ID, Channel: c.ID}
}

// follows moves the call, after which bob sees the stream where he is. It returns the stream's key.
func (w *theatre) follows(t *testing.T) string {
	t.Helper()
	ctx := voicetest.Deadline(t)
	check.Must(t, w.shares.Move(ctx, w.in(w.other)))
	if n := <-w.told; n.Call != w.in(w.other) || !strings.Contains(n.Text, "Go Live") || len(w.told) > 0 {
		t.Errorf("told %+v and %d more, want one notice in the new channel", n, len(w.told))
	}
	now := w.pub.Current().State().Key
	whole(t, w.watch(t, now, w.bob))
	if list := w.Streams(); len(list) != 1 || now == w.before {
		t.Errorf("there are the streams %v, want the new one alone", list)
	}
	eventually(t, "the end for the one who watched in the old channel", func() bool { return w.seen.Err() != nil })
	return now
}

func TestAStreamFollowsItsCall(t *testing.T) {
	t.Parallel()
	w := newTheatre(t)
	now := w.follows(t)
	w.EndStream(now, "unauthorized") // and what Discord ends is shown by the link
	if n := <-w.told; n.Link == "" || !strings.Contains(n.Text, "permission") {
		t.Errorf("told %+v, want why, and the link", n)
	}
}

func TestPeopleAreToldOnceWhenTheAccountIsMovedBeforeTheCall(t *testing.T) {
	t.Parallel()
	w := newTheatre(t)
	s := w.pub.Current()
	w.MoveVoice(w.other, w.eve.User)
	eventually(t, "the end of the stream", func() bool { return s.State().Status == golive.Failed })
	check.Contains(t, s.State().Reason, "moved")
	w.follows(t)
}
