package discordtest

import (
	"encoding/json"
	"strconv"

	"clank/internal/discordtest/voiceserver"
)

// updateVoice is op 4 of a bot: it enters, moves in or leaves a voice channel.
// It reports whether the data could be read. Where it may not enter, Discord
// says nothing.
func (s *Server) updateVoice(ses *session, data json.RawMessage) bool {
	var d struct {
		GuildID   string  `json:"guild_id"`
		ChannelID *string `json:"channel_id"`
		SelfMute  bool    `json:"self_mute"`
		SelfDeaf  bool    `json:"self_deaf"`
		SelfVideo bool    `json:"self_video"`
	}
	if err := json.Unmarshal(data, &d); err != nil {
		return false
	}
	g := s.guilds[d.GuildID]
	if g == nil || g.member(ses.bot.user.ID) == nil {
		return true
	}
	if d.ChannelID != nil && !s.mayEnter(g, *d.ChannelID, ses.bot.user.ID) {
		return true
	}
	s.setVoice(g, VoiceState{
		GuildID: g.ID, ChannelID: d.ChannelID, UserID: ses.bot.user.ID, SessionID: ses.id,
		SelfMute: d.SelfMute, SelfDeaf: d.SelfDeaf, SelfVideo: d.SelfVideo && !ses.bot.user.Bot,
		Streaming: g.voice[ses.bot.user.ID].Streaming,
	})
	if d.ChannelID != nil {
		s.sendVoiceServer(ses, g)
	}
	return true
}

func (s *Server) mayEnter(g *guild, channel, user string) bool {
	ch := s.channels[channel]
	need := ViewChannel | Connect
	if ch == nil || ch.GuildID != g.ID || s.permissions(ch, user)&need != need {
		return false
	}
	there := 0
	for _, v := range g.voice {
		if *v.ChannelID == channel && v.UserID != user {
			there++
		}
	}
	return ch.UserLimit == 0 || there < ch.UserLimit || s.permissions(ch, user)&MoveMembers != 0
}

// setVoice moves a user in, between or out of voice channels. A voice connection
// to the channel that is left is closed.
func (s *Server) setVoice(g *guild, v VoiceState) {
	was, there := g.voice[v.UserID]
	if there && (v.ChannelID == nil || *was.ChannelID != *v.ChannelID || was.SessionID != v.SessionID) {
		s.leaveStreams(g, v.UserID)
		s.revokeVoice(g, v.UserID)
		v.Streaming = false
	}
	if v.ChannelID == nil {
		delete(g.voice, v.UserID)
	} else {
		g.voice[v.UserID] = v
	}
	v.Member = g.member(v.UserID)
	s.dispatchGuild(g, "VOICE_STATE_UPDATE", v)
	s.notify()
}

func (s *Server) revokeVoice(g *guild, user string) {
	if s.Voice != nil {
		s.Voice.Revoke(voiceserver.Seat{Server: g.ID, User: user}, voiceserver.CloseDisconnected, "Disconnected.")
	}
}

// sendVoiceServer tells a bot in a call where its voice connection goes.
func (s *Server) sendVoiceServer(ses *session, g *guild) {
	ticket := s.voiceTicket(g, ses.bot.user.ID)
	s.dispatch(ses, "VOICE_SERVER_UPDATE", map[string]any{
		"token": ticket.Token, "guild_id": g.ID, "endpoint": s.voiceEndpoint(g),
	})
}

// voiceTicket lets a user who is in a call connect to it. The bot's ticket gives
// no source for video, as in the real service.
func (s *Server) voiceTicket(g *guild, user string) voiceserver.Ticket {
	v := g.voice[user]
	group, err := strconv.ParseUint(*v.ChannelID, 10, 64)
	if err != nil {
		group = 0 // our ids are numbers
	}
	t := voiceserver.Ticket{
		Seat: voiceserver.Seat{Server: g.ID, User: user}, Room: *v.ChannelID, Session: v.SessionID,
		Token: "voice-" + s.newID(), Group: group, NoVideo: s.users[user].Bot,
	}
	if s.Voice != nil {
		s.Voice.Admit(t)
	}
	return t
}

// voiceEndpoint is where the guild's calls are; nil while nobody has a place for
// them.
func (s *Server) voiceEndpoint(g *guild) *string {
	if s.Voice == nil {
		return s.cfg.VoiceEndpoint
	}
	if g.voiceEndpoint == "" {
		return nil
	}
	return &g.voiceEndpoint
}

// leaveCalls takes the user of a session that has ended out of its calls.
func (s *Server) leaveCalls(ses *session) {
	for _, g := range s.guildsOf(ses.bot.user.ID) {
		if v, ok := g.voice[ses.bot.user.ID]; ok && v.SessionID == ses.id {
			s.setVoice(g, VoiceState{GuildID: g.ID, UserID: v.UserID, SessionID: v.SessionID})
		}
	}
}
