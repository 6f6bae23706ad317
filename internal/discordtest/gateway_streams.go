package discordtest

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"clank/internal/discordtest/voiceserver"
)

// Gateway opcodes of Go Live, which Discord does not document for bots.
const (
	opStreamCreate = 18
	opStreamDelete = 19
	opStreamWatch  = 20
	opStreamPing   = 21
	opStreamPause  = 22
)

// Reasons of STREAM_DELETE.
const (
	StreamUserRequested  = "user_requested"
	StreamEnded          = "stream_ended"
	StreamFull           = "stream_full"
	StreamUnauthorized   = "unauthorized"
	StreamRateLimited    = "safety_guild_rate_limited"
	StreamParseFailed    = "parse_failed"
	StreamInvalidChannel = "invalid_channel"
)

// streams is all that is shown. The server's lock guards it.
type streams struct {
	shown    map[string]*stream // by key
	botFate  BotStreams
	refusals []string // for the next to begin, reasons of STREAM_DELETE
}

// stream is one Go Live. It is a call of its own on the voice server, whose
// server id is server.
type stream struct {
	Stream
	guild    *guild
	server   uint64
	endpoint string
	sessions map[string]string // session on the main gateway by user, the owner's too
}

// A Stream is what somebody shows in a call.
type Stream struct {
	Key     string
	Owner   string // user id
	Channel string
	// Server is the id of its server, for [voiceserver.Seat].
	Server  string
	Viewers []string // user ids
	Paused  bool
	Preview string // the last thumbnail, as a data URI
}

// streamCommand is ops 18 to 22. It reports whether the data could be read.
func (s *Server) streamCommand(ses *session, op int, data json.RawMessage) bool {
	if ses.bot.user.Bot && s.botFate != AllowBots {
		if s.botFate == DeleteBots && op == opStreamCreate {
			s.dispatch(ses, "STREAM_DELETE", map[string]any{"stream_key": s.keyOf(ses, data), "reason": StreamUnauthorized})
		} else if s.botFate == CloseBots && ses.conn != nil {
			s.shut(ses.conn, CloseUnknownOpcode, "Unknown opcode.")
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
	st, user := s.shown[d.Key], ses.bot.user.ID
	switch {
	case st == nil:
		if op != opStreamPing {
			s.dispatch(ses, "STREAM_DELETE", map[string]any{"stream_key": d.Key, "reason": StreamEnded})
		}
	case op == opStreamWatch:
		s.watch(st, ses.id, user)
	case op == opStreamDelete && user == st.Owner:
		s.endStream(st, StreamUserRequested)
	case op == opStreamDelete:
		s.unwatch(st, user, StreamUserRequested)
	case op == opStreamPause && user == st.Owner:
		st.Paused = d.Paused
		s.tellStream(st)
	}
	return true
}

// keyOf is the key that a stream would have.
func (s *Server) keyOf(ses *session, data json.RawMessage) string {
	var d struct {
		Type      string `json:"type"`
		GuildID   string `json:"guild_id"`
		ChannelID string `json:"channel_id"`
	}
	if json.Unmarshal(data, &d) != nil || d.Type != "guild" {
		return ""
	}
	return strings.Join([]string{d.Type, d.GuildID, d.ChannelID, ses.bot.user.ID}, ":")
}

func (s *Server) createStream(ses *session, data json.RawMessage) bool {
	key, user := s.keyOf(ses, data), ses.bot.user.ID
	if key == "" {
		return false
	}
	parts := strings.Split(key, ":")
	g, ch := s.guilds[parts[1]], s.channels[parts[2]]
	reason := ""
	switch {
	case len(s.refusals) > 0:
		reason, s.refusals = s.refusals[0], s.refusals[1:]
	case g == nil || ch == nil || g.voice[user].ChannelID == nil || *g.voice[user].ChannelID != ch.ID || s.Voice == nil:
		reason = StreamInvalidChannel
	case s.permissions(ch, user)&GoLive == 0:
		reason = StreamUnauthorized
	}
	if reason != "" {
		s.dispatch(ses, "STREAM_DELETE", map[string]any{"stream_key": key, "reason": reason})
		return true
	}
	if old := s.shown[key]; old != nil {
		s.endStream(old, StreamUserRequested)
	}
	id := s.newID()
	server, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		return false
	}
	st := &stream{
		Stream: Stream{Key: key, Owner: user, Channel: ch.ID, Server: id, Viewers: []string{}, Paused: false},
		guild:  g, server: server, sessions: map[string]string{user: g.voice[user].SessionID},
	}
	s.shown[key] = st
	s.findStreamServer(st)
	v := g.voice[user]
	v.Streaming = true
	s.setVoice(g, v)
	s.dispatch(ses, "STREAM_CREATE", st.object())
	s.tellStreamServer(st, user)
	return true
}

// object is the stream as STREAM_CREATE and STREAM_UPDATE have it.
func (st *stream) object() map[string]any {
	return map[string]any{
		"stream_key": st.Key, "rtc_server_id": st.Server, "rtc_channel_id": st.Channel, "region": "test",
		"viewer_ids": slices.Clone(st.Viewers), "paused": st.Paused,
	}
}

// findStreamServer opens a port for the stream. While the server is being closed
// there is none.
func (s *Server) findStreamServer(st *stream) {
	if endpoint, err := s.Voice.Endpoint(); err == nil {
		st.endpoint = endpoint
	}
}

// streamTicket lets a user connect to a stream.
func (s *Server) streamTicket(st *stream, user string) voiceserver.Ticket {
	t := voiceserver.Ticket{
		Seat: voiceserver.Seat{Server: st.Server, User: user}, Room: st.Channel, Session: st.sessions[user],
		Token: "stream-" + s.newID(), Group: st.server - 1,
	}
	s.Voice.Admit(t)
	return t
}

// tellStreamServer tells one user, if they are a client of the gateway, where the
// stream is.
func (s *Server) tellStreamServer(st *stream, user string) {
	ses := s.sessions[st.sessions[user]]
	if ses == nil {
		return
	}
	var endpoint *string
	if st.endpoint != "" {
		endpoint = &st.endpoint
	}
	s.dispatch(ses, "STREAM_SERVER_UPDATE", map[string]any{
		"stream_key": st.Key, "token": s.streamTicket(st, user).Token, "endpoint": endpoint, "guild_id": nil,
	})
}

// tellStream tells all who are part of the stream how it stands.
func (s *Server) tellStream(st *stream) {
	for _, id := range st.sessions {
		if ses := s.sessions[id]; ses != nil {
			s.dispatch(ses, "STREAM_UPDATE", st.object())
		}
	}
	s.notify()
}

// watch lets a user see the stream.
func (s *Server) watch(st *stream, session, user string) {
	v, there := st.guild.voice[user]
	ses := s.sessions[session]
	if !there || *v.ChannelID != st.Channel {
		if ses != nil {
			s.dispatch(ses, "STREAM_DELETE", map[string]any{"stream_key": st.Key, "reason": StreamInvalidChannel})
		}
		return
	}
	st.sessions[user] = v.SessionID
	if user != st.Owner && !slices.Contains(st.Viewers, user) {
		st.Viewers = append(st.Viewers, user)
	}
	if ses != nil {
		s.dispatch(ses, "STREAM_CREATE", st.object())
		s.tellStreamServer(st, user)
	}
	s.tellStream(st)
}

// unwatch ends the stream for one viewer.
func (s *Server) unwatch(st *stream, user, reason string) {
	if ses := s.sessions[st.sessions[user]]; ses != nil {
		s.dispatch(ses, "STREAM_DELETE", map[string]any{"stream_key": st.Key, "reason": reason})
	}
	delete(st.sessions, user)
	st.Viewers = slices.DeleteFunc(st.Viewers, func(id string) bool { return id == user })
	s.Voice.Revoke(voiceserver.Seat{Server: st.Server, User: user}, voiceserver.CloseDisconnected, "Disconnected.")
	s.tellStream(st)
}

// endStream ends the stream for all. Viewers read that it has ended, the owner
// why.
func (s *Server) endStream(st *stream, reason string) {
	if s.shown[st.Key] != st {
		return
	}
	delete(s.shown, st.Key)
	for user, id := range st.sessions {
		why := reason
		if user != st.Owner && reason == StreamUserRequested {
			why = StreamEnded
		}
		if ses := s.sessions[id]; ses != nil {
			s.dispatch(ses, "STREAM_DELETE", map[string]any{"stream_key": st.Key, "reason": why})
		}
		s.Voice.Revoke(voiceserver.Seat{Server: st.Server, User: user}, voiceserver.CloseDisconnected, "Disconnected.")
	}
	if v, ok := st.guild.voice[st.Owner]; ok && v.Streaming {
		v.Streaming = false
		s.setVoice(st.guild, v)
	}
	s.notify()
}

// leaveStreams ends what a user who leaves a channel shows or watches there.
func (s *Server) leaveStreams(g *guild, user string) {
	for _, st := range s.shown {
		switch {
		case st.guild != g || st.sessions[user] == "":
		case st.Owner == user:
			s.endStream(st, StreamUserRequested)
		default:
			s.unwatch(st, user, StreamUserRequested)
		}
	}
}
