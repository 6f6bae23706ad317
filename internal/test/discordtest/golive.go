package discordtest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"clank/internal/test/discordtest/voicetest"
)

// SetBotStreams sets what happens when a bot tries to go live. People may.
func (s *Server) SetBotStreams(fate BotStreams) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	s.hub.BotFate = fate
}

// RefuseStream answers the next attempt to go live with STREAM_DELETE and the reason. Calls accumulate.
func (s *Server) RefuseStream(reason string) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	s.hub.Refusals = append(s.hub.Refusals, reason)
}

// CreateAccount creates a person whose account a program uses with a token without "Bot". Discord forbids that; such
// an account can go live.
func (s *Server) CreateAccount(name, token string) Bot {
	u := s.CreateUser(name)
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	s.hub.Accounts[u.ID] = &Account{User: u, Token: token}
	return Bot{User: u, Token: token}
}

// Streams returns all streams by key.
func (s *Server) Streams() map[string]Stream {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	list := map[string]Stream{}
	for key, st := range s.hub.Shown {
		copied := st.Stream
		copied.Viewers = slices.Clone(copied.Viewers)
		list[key] = copied
	}
	return list
}

// WatchStream makes a person in the channel watch a stream, and connects them to its server. They request video with
// [voicetest.Member.RequestQuality]. The caller closes the member.
func (s *Server) WatchStream(ctx context.Context, key string, user User,
	o voicetest.MemberOptions,
) (*voicetest.Member, error) {
	s.hub.Mu.Lock()
	st := s.hub.Shown[key]
	if st == nil || st.Endpoint == "" || st.Guild.Voice[user.ID].ChannelID == nil {
		s.hub.Mu.Unlock()
		return nil, fmt.Errorf("%s watches %s: there is no such stream where they are", user.Username, key)
	}
	s.hub.AddStreamViewer(st, user.ID)
	o.Credentials, o.Endpoint, o.Roots = s.hub.StreamCredentials(st, user.ID), st.Endpoint, s.Voice.Roots()
	s.hub.Mu.Unlock()
	return voicetest.JoinCall(ctx, o)
}

// LoseStreamServer removes a stream's server: participants receive a null endpoint, and the owner's connection is
// closed with the code unless it is 0. FindStreamServer assigns a new one.
func (s *Server) LoseStreamServer(key string, code int) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	st := s.hub.Shown[key]
	st.Endpoint = ""
	if code != 0 {
		s.Voice.Revoke(voicetest.ClientID{Server: st.Server, User: st.Owner}, code, "The server is going away.")
	}
	for user := range st.Sessions {
		s.hub.SendStreamServer(st, user)
	}
	s.hub.Notify()
}

// FindStreamServer assigns a new server to a stream and notifies its participants.
func (s *Server) FindStreamServer(key string) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	st := s.hub.Shown[key]
	s.hub.FindStreamServer(st)
	for user := range st.Sessions {
		s.hub.SendStreamServer(st, user)
	}
	s.hub.Notify()
}

// EndStream ends a stream with a reason.
func (s *Server) EndStream(key, reason string) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	st := s.hub.Shown[key]
	s.hub.EndStream(st, reason)
}

// Gateway opcodes of Go Live, which Discord does not document for bots.
const (
	opStreamCreate = 18
	opStreamDelete = 19
	opStreamPing   = 21
	opStreamPause  = 22
)

// Reasons of STREAM_DELETE.
const (
	StreamUserRequested  = "user_requested"
	StreamEnded          = "stream_ended"
	StreamUnauthorized   = "unauthorized"
	StreamInvalidChannel = "invalid_channel"
)

// Streams is the state of all streams, guarded by the server's lock.
type Streams struct {
	Shown    map[string]*StreamState // by key
	BotFate  BotStreams
	Refusals []string // reasons of STREAM_DELETE for the next attempts
}

// StreamState is a Go Live stream. It is a call of its own on the voice server, whose server id is server.
type StreamState struct {
	Stream
	Guild    *GuildState
	server   uint64
	Endpoint string
	Sessions map[string]string // session id on the main gateway by user, including the owner
}

// A Stream is what a person streams in a call.
type Stream struct {
	Key     string
	Owner   string // user id
	Channel string
	// Server is the id of its server, for [voicetest.ClientID].
	Server  string
	Viewers []string // user ids
	Paused  bool
	Preview string // the last thumbnail, as a data URI
}

// streamCommand handles ops 18 to 22. It reports whether the data could be read.
func (s *hub) streamCommand(ses *session, op int, data json.RawMessage) bool {
	if ses.Bot.User.Bot && s.BotFate != AllowBots {
		if s.BotFate == DeleteBots && op == opStreamCreate {
			s.Dispatch(ses, "STREAM_DELETE", map[string]any{"stream_key": s.keyOf(ses, data), "reason": StreamUnauthorized})
		} else if s.BotFate == CloseBots && ses.Conn != nil {
			s.CloseConn(ses.Conn, CloseUnknownOpcode, "Unknown opcode.")
		}
		return true
	}
	if op == opStreamCreate {
		return s.createStream(ses, data)
	}
	var d struct {
		Key    string `json:"stream_key"`
		Paused bool   `json:"paused"`
	}
	if json.Unmarshal(data, &d) != nil {
		return false
	}
	st, user := s.Shown[d.Key], ses.Bot.User.ID
	switch {
	case st == nil:
		if op != opStreamPing {
			s.Dispatch(ses, "STREAM_DELETE", map[string]any{"stream_key": d.Key, "reason": StreamEnded})
		}
	case op == opStreamDelete && user == st.Owner:
		s.EndStream(st, StreamUserRequested)
	case op == opStreamPause && user == st.Owner:
		st.Paused = d.Paused
		s.sendStream(st)
	}
	return true
}

// keyOf returns the key of the stream that the data describes.
func (s *hub) keyOf(ses *session, data json.RawMessage) string {
	var d struct {
		Type      string `json:"type"`
		GuildID   string `json:"guild_id"`
		ChannelID string `json:"channel_id"`
	}
	if json.Unmarshal(data, &d) != nil || d.Type != "guild" {
		return ""
	}
	return strings.Join([]string{d.Type, d.GuildID, d.ChannelID, ses.Bot.User.ID}, ":")
}

func (s *hub) createStream(ses *session, data json.RawMessage) bool {
	key, user := s.keyOf(ses, data), ses.Bot.User.ID
	if key == "" {
		return false
	}
	parts := strings.Split(key, ":")
	g, ch := s.Guilds[parts[1]], s.Channels[parts[2]]
	reason := ""
	switch {
	case len(s.Refusals) > 0:
		reason, s.Refusals = s.Refusals[0], s.Refusals[1:]
	case g == nil || ch == nil || g.Voice[user].ChannelID == nil || *g.Voice[user].ChannelID != ch.ID || s.Voice == nil:
		reason = StreamInvalidChannel
	case s.Permissions(ch, user)&GoLive == 0:
		reason = StreamUnauthorized
	}
	if reason != "" {
		s.Dispatch(ses, "STREAM_DELETE", map[string]any{"stream_key": key, "reason": reason})
		return true
	}
	if old := s.Shown[key]; old != nil {
		s.EndStream(old, StreamUserRequested)
	}
	id := s.NewID()
	server, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		return false
	}
	st := &StreamState{
		Stream: Stream{Key: key, Owner: user, Channel: ch.ID, Server: id, Viewers: []string{}, Paused: false},
		Guild:  g, server: server, Sessions: map[string]string{user: g.Voice[user].SessionID},
	}
	s.Shown[key] = st
	s.FindStreamServer(st)
	v := g.Voice[user]
	v.Streaming = true
	s.SetVoice(g, v)
	s.Dispatch(ses, "STREAM_CREATE", st.object())
	s.SendStreamServer(st, user)
	return true
}

// object returns the stream in the form of STREAM_CREATE and STREAM_UPDATE.
func (st *StreamState) object() map[string]any {
	return map[string]any{
		"stream_key": st.Key, "rtc_server_id": st.Server, "rtc_channel_id": st.Channel, "region": "test",
		"viewer_ids": slices.Clone(st.Viewers), "paused": st.Paused,
	}
}

// FindStreamServer opens a port for the stream. While the server is closing there is none.
func (s *hub) FindStreamServer(st *StreamState) {
	if endpoint, err := s.Voice.Endpoint(); err == nil {
		st.Endpoint = endpoint
	}
}

// StreamCredentials returns the credentials with which a user connects to a stream.
func (s *hub) StreamCredentials(st *StreamState, user string) voicetest.Credentials {
	t := voicetest.Credentials{
		ClientID: voicetest.ClientID{Server: st.Server, User: user}, Room: st.Channel, Session: st.Sessions[user],
		Token: "stream-" + s.NewID(), Group: st.server - 1,
	}
	s.Voice.Admit(t)
	return t
}

// SendStreamServer sends the stream's address to one user, if they are connected to the gateway.
func (s *hub) SendStreamServer(st *StreamState, user string) {
	ses := s.Sessions[st.Sessions[user]]
	if ses == nil {
		return
	}
	var endpoint *string
	if st.Endpoint != "" {
		endpoint = &st.Endpoint
	}
	s.Dispatch(ses, "STREAM_SERVER_UPDATE", map[string]any{
		"stream_key": st.Key, "token": s.StreamCredentials(st, user).Token, "endpoint": endpoint, "guild_id": nil,
	})
}

// sendStream sends the state of the stream to its participants.
func (s *hub) sendStream(st *StreamState) {
	for _, id := range st.Sessions {
		if ses := s.Sessions[id]; ses != nil {
			s.Dispatch(ses, "STREAM_UPDATE", st.object())
		}
	}
	s.Notify()
}

// AddStreamViewer adds a viewer, who must be in the channel.
func (s *hub) AddStreamViewer(st *StreamState, user string) {
	st.Sessions[user] = st.Guild.Voice[user].SessionID
	if user != st.Owner && !slices.Contains(st.Viewers, user) {
		st.Viewers = append(st.Viewers, user)
	}
	s.sendStream(st)
}

// removeStreamViewer removes a viewer.
func (s *hub) removeStreamViewer(st *StreamState, user string) {
	delete(st.Sessions, user)
	st.Viewers = slices.DeleteFunc(st.Viewers, func(id string) bool { return id == user })
	s.Voice.Revoke(voicetest.ClientID{Server: st.Server, User: user}, voicetest.CloseDisconnected, "Disconnected.")
	s.sendStream(st)
}

// EndStream ends the stream for everyone. Viewers learn that it has ended, the owner why.
func (s *hub) EndStream(st *StreamState, reason string) {
	if s.Shown[st.Key] != st {
		return
	}
	delete(s.Shown, st.Key)
	for user, id := range st.Sessions {
		why := reason
		if user != st.Owner && reason == StreamUserRequested {
			why = StreamEnded
		}
		if ses := s.Sessions[id]; ses != nil {
			s.Dispatch(ses, "STREAM_DELETE", map[string]any{"stream_key": st.Key, "reason": why})
		}
		s.Voice.Revoke(voicetest.ClientID{Server: st.Server, User: user}, voicetest.CloseDisconnected, "Disconnected.")
	}
	if v, ok := st.Guild.Voice[st.Owner]; ok && v.Streaming {
		v.Streaming = false
		s.SetVoice(st.Guild, v)
	}
	s.Notify()
}

// leaveStreams ends the streams that a user owns or watches in a channel that they leave.
func (s *hub) leaveStreams(g *GuildState, user string) {
	for _, st := range s.Shown {
		switch {
		case st.Guild != g || st.Sessions[user] == "":
		case st.Owner == user:
			s.EndStream(st, StreamUserRequested)
		default:
			s.removeStreamViewer(st, user)
		}
	}
}

// BotStreams is the outcome of a bot's attempt to go live.
type BotStreams int

// Outcomes. The behavior of the real service is not known; it is one of the first three.
const (
	IgnoreBots BotStreams = iota // no response
	DeleteBots                   // STREAM_DELETE
	CloseBots                    // the gateway closes with 4001
	AllowBots                    // as for people
)
