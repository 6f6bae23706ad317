package discordtest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"testing"

	"clank/internal/test/discordtest"
	"clank/internal/test/discordtest/voicetest"

	"github.com/bwmarrin/discordgo"
	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"
)

// studio is a town in which eve, who signs in by a program, sits in the call.
type studio struct {
	town
	call   discordtest.Channel
	eve    discordtest.Bot
	signed *discordgo.Session
	events <-chan *discordgo.Event
}

// newStudio signs in a person or, as is not allowed to go live, the bot.
func newStudio(t *testing.T, asBot bool, version int) studio {
	t.Helper()
	w := newTown(t, discordtest.Config{Voice: &voicetest.Config{DAVE: version}})
	s := studio{town: w, call: w.CreateVoiceChannel(w.guild, "call")}
	d := w.session(t)
	if s.eve = w.bot; !asBot {
		s.eve = w.CreateAccount("eve", "of eve")
		w.AddMember(w.guild, s.eve.User)
		d.Token, d.Identify.Token = s.eve.Token, s.eve.Token
	}
	d.SyncEvents = true
	s.signed, s.events = d, events[*discordgo.Event](d)
	if err := d.Open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { go d.Close() })
	if err := d.ChannelVoiceJoinManual(w.guild.ID, s.call.ID, false, false); err != nil {
		t.Fatal(err)
	}
	s.await(t, "VOICE_SERVER_UPDATE")
	return s
}

// await reads until an event of that type comes.
func (s studio) await(t *testing.T, kind string) map[string]any {
	t.Helper()
	for {
		e := next(t, s.events)
		if e.Type != kind {
			continue
		}
		var d map[string]any
		if err := json.Unmarshal(e.RawData, &d); err != nil {
			t.Fatal(err)
		}
		return d
	}
}

func (s studio) send(t *testing.T, op int, d any) {
	t.Helper()
	if err := s.signed.GatewayWriteStruct(map[string]any{"op": op, "d": d}); err != nil {
		t.Fatal(err)
	}
}

func (s studio) key() string { return "guild:" + s.guild.ID + ":" + s.call.ID + ":" + s.eve.ID }

func (s studio) golive(t *testing.T) {
	t.Helper()
	s.send(t, 18, map[string]any{"type": "guild", "guild_id": s.guild.ID, "channel_id": s.call.ID, "preferred_region": nil})
}

func (s studio) onKey() map[string]any { return map[string]any{"stream_key": s.key()} }

// publish connects to the stream's server with what the events say.
func (s studio) publish(t *testing.T, created, server map[string]any) *voicetest.Member {
	t.Helper()
	id, err := strconv.ParseUint(fmt.Sprint(created["rtc_server_id"]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	text := func(m map[string]any, name string) string {
		v, ok := m[name].(string)
		if !ok {
			t.Fatalf("got %v for %s, want text", m[name], name)
		}
		return v
	}
	m, err := voicetest.JoinCall(deadline(t), voicetest.MemberOptions{
		Endpoint: text(server, "endpoint"), Roots: s.Voice.Roots(), Video: true, Privacy: voicetest.NewDAVESession, Credentials: voicetest.Credentials{
			ClientID: voicetest.ClientID{Server: text(created, "rtc_server_id"), User: s.eve.ID},
			Session:  s.VoiceStates(s.guild)[s.eve.ID].SessionID, Token: text(server, "token"), Group: id - 1,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

func TestAPersonGoesLiveAndIsWatched(t *testing.T) {
	s := newStudio(t, false, 0)
	s.golive(t)
	created := s.await(t, "STREAM_CREATE")
	if created["stream_key"] != s.key() {
		t.Errorf("got key %v, want %s", created["stream_key"], s.key())
	}
	eve := s.publish(t, created, s.await(t, "STREAM_SERVER_UPDATE"))
	eve.AnnounceVideo(true, 1280, 720)
	if !s.VoiceStates(s.guild)[s.eve.ID].Streaming {
		t.Error("the voice state does not show the stream")
	}
	if _, err := s.WatchStream(deadline(t), s.key(), s.ada, voicetest.MemberOptions{}); err == nil {
		t.Error("ada watches without being in the channel")
	}
	s.JoinVoice(s.call, s.ada)
	ada, err := s.WatchStream(deadline(t), s.key(), s.ada, voicetest.MemberOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ada.Close() })
	if d := cmp.Diff([]any{s.ada.ID}, s.await(t, "STREAM_UPDATE")["viewer_ids"]); d != "" {
		t.Error(d)
	}
	ada.RequestQuality(100)
	if err := eve.Wait(deadline(t), "a viewer", func() bool { return eve.Wanted() == 100 }); err != nil {
		t.Fatal(err)
	}
	picture := []byte{0x10, 2, 3, 4}
	if err := eve.SendVP8(picture); err != nil {
		t.Fatal(err)
	}
	if f, err := ada.Next(deadline(t)); err != nil || f.From != s.eve.ID || !cmp.Equal(f.Data, picture) {
		t.Errorf("got %+v, %v, want eve's picture", f, err)
	}

	s.send(t, 22, map[string]any{"stream_key": s.key(), "paused": true})
	if got := s.await(t, "STREAM_UPDATE")["paused"]; got != true {
		t.Errorf("got paused %v, want true", got)
	}
	s.send(t, 21, s.onKey())
	s.send(t, 19, s.onKey())
	if got, want := s.await(t, "STREAM_DELETE")["reason"], discordtest.StreamUserRequested; got != want {
		t.Errorf("got reason %v, want %s", got, want)
	}
	ended(t, eve, voicetest.CloseDisconnected)
	ended(t, ada, voicetest.CloseDisconnected)
	if got := s.Streams(); len(got) != 0 || s.VoiceStates(s.guild)[s.eve.ID].Streaming {
		t.Errorf("got streams %v, want none, and no mark of one", got)
	}
}

func TestAStreamIsEncryptedInAGroupOfItsOwn(t *testing.T) {
	s := newStudio(t, false, 1)
	s.golive(t)
	eve := s.publish(t, s.await(t, "STREAM_CREATE"), s.await(t, "STREAM_SERVER_UPDATE"))
	eve.AnnounceVideo(true, 1280, 720)
	s.JoinVoice(s.call, s.ada)
	ada, err := s.WatchStream(deadline(t), s.key(), s.ada, voicetest.MemberOptions{Privacy: voicetest.NewDAVESession})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ada.Close() })
	ada.RequestQuality(100)
	for _, m := range []*voicetest.Member{eve, ada} {
		if err := m.Wait(deadline(t), "a code", func() bool {
			p, ok := m.Private().(*voicetest.DAVESession)
			return ok && p.Ready() && p.PrivacyCode() != ""
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := eve.Wait(deadline(t), "a viewer", func() bool { return eve.Wanted() == 100 }); err != nil {
		t.Fatal(err)
	}
	picture := bytes.Repeat([]byte{0x10, 2, 3, 4}, 1000)
	for ctx := deadline(t); ; {
		if err := eve.SendVP8(picture); err != nil {
			t.Fatal(err)
		}
		f, err := ada.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if f.Err != nil {
			continue // the old keys, while the change to those of both is under way
		}
		if !bytes.Equal(f.Data, picture) || bytes.Equal(f.Encrypted, picture) {
			t.Errorf("got %d bytes, want eve's picture, encrypted on the way", len(f.Data))
		}
		break
	}
}

func TestAStreamMovesToAnotherServer(t *testing.T) {
	s := newStudio(t, false, 0)
	s.golive(t)
	created, first := s.await(t, "STREAM_CREATE"), s.await(t, "STREAM_SERVER_UPDATE")
	eve := s.publish(t, created, first)
	s.LoseStreamServer(s.key(), voicetest.CloseDisconnected)
	ended(t, eve, voicetest.CloseDisconnected)
	if got := s.await(t, "STREAM_SERVER_UPDATE")["endpoint"]; got != nil {
		t.Errorf("got endpoint %v, want null", got)
	}
	s.FindStreamServer(s.key())
	second := s.await(t, "STREAM_SERVER_UPDATE")
	if second["endpoint"] == first["endpoint"] || second["token"] == first["token"] {
		t.Errorf("got %v after %v, want another place and token", second, first)
	}
	s.publish(t, created, second)
}

func TestStreamsEndForTheDocumentedReasons(t *testing.T) {
	s := newStudio(t, false, 0)
	s.RefuseStream(discordtest.StreamFull)
	s.golive(t)
	if got, want := s.await(t, "STREAM_DELETE")["reason"], discordtest.StreamFull; got != want {
		t.Errorf("got reason %v, want %s", got, want)
	}
	s.send(t, 18, map[string]any{"type": "guild", "guild_id": s.guild.ID, "channel_id": s.room.ID})
	if got, want := s.await(t, "STREAM_DELETE")["reason"], discordtest.StreamInvalidChannel; got != want {
		t.Errorf("got reason %v, want %s", got, want)
	}
	s.golive(t)
	s.await(t, "STREAM_SERVER_UPDATE")
	s.EndStream(s.key(), discordtest.StreamRateLimited)
	if got, want := s.await(t, "STREAM_DELETE")["reason"], discordtest.StreamRateLimited; got != want {
		t.Errorf("got reason %v, want %s", got, want)
	}
	s.golive(t)
	s.await(t, "STREAM_SERVER_UPDATE")
	s.LeaveVoice(s.guild, s.eve.User)
	s.await(t, "STREAM_DELETE")
	s.SetPermissions(s.guild, discordtest.Role{}, discordtest.Everyday&^discordtest.GoLive)
	s.JoinVoice(s.call, s.eve.User)
	s.golive(t)
	if got, want := s.await(t, "STREAM_DELETE")["reason"], discordtest.StreamUnauthorized; got != want {
		t.Errorf("got reason %v, want %s", got, want)
	}
}

func TestAPreviewIsKeptOfTheOwnStreamOnly(t *testing.T) {
	s := newStudio(t, false, 0)
	upload := func(key, picture string) error {
		_, err := s.signed.Request("POST", discordgo.EndpointAPI+"streams/"+key+"/preview", map[string]any{"thumbnail": picture})
		return err
	}
	post := func(key string) error { return upload(key, "data:image/png;base64,AA==") }
	refusal(t, post(s.key()), 404, 0)
	s.golive(t)
	s.await(t, "STREAM_SERVER_UPDATE")
	refusal(t, upload(s.key(), "AA=="), 400, 50035)
	if err := post(s.key()); err != nil {
		t.Fatal(err)
	}
	if got, want := s.Streams()[s.key()].Preview, "data:image/png;base64,AA=="; got != want {
		t.Errorf("got preview %q, want %q", got, want)
	}
}

func TestBotsDoNotGoLive(t *testing.T) {
	s := newStudio(t, true, 0)
	s.golive(t)
	if _, err := s.WaitReceived(deadline(t), 18, 0); err != nil {
		t.Fatal(err)
	}
	if got := s.Streams(); len(got) != 0 {
		t.Errorf("got streams %v of a bot", got)
	}
	s.SetBotStreams(discordtest.DeleteBots)
	s.golive(t)
	if got, want := s.await(t, "STREAM_DELETE")["reason"], discordtest.StreamUnauthorized; got != want {
		t.Errorf("got reason %v, want %s", got, want)
	}
	s.SetBotStreams(discordtest.AllowBots)
	s.golive(t)
	s.await(t, "STREAM_SERVER_UPDATE")
}

func TestAGatewayThatClosesOnBotsThatGoLive(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	w.SetBotStreams(discordtest.CloseBots)
	c := dial(t, w, "v=10")
	for _, text := range []string{goodIdentify, `{"op":18,"d":{"type":"guild","guild_id":"1","channel_id":"2"}}`} {
		if err := c.Write(deadline(t), websocket.MessageText, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := closeCode(t, c), discordtest.CloseUnknownOpcode; got != want {
		t.Errorf("got close code %d, want %d", got, want)
	}
}
