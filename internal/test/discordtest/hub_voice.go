package discordtest

import (
	"encoding/json"
	"strconv"

	"clank/internal/test/discordtest/voicetest"
)

// updateVoice handles op 4 of a bot, which enters, moves in or leaves a voice channel. It reports whether the
// data could be read. Where the bot may not enter, Discord says nothing.
func (s *hub) updateVoice(ses *session, data json.RawMessage) bool {
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
	g := s.Guilds[d.GuildID]
	if g == nil || g.Member(ses.Bot.User.ID) == nil {
		return true
	}
	if d.ChannelID != nil && !s.mayConnect(g, *d.ChannelID, ses.Bot.User.ID) {
		return true
	}
	s.SetVoice(g, VoiceState{
		GuildID: g.ID, ChannelID: d.ChannelID, UserID: ses.Bot.User.ID, SessionID: ses.id,
		SelfMute: d.SelfMute, SelfDeaf: d.SelfDeaf, SelfVideo: d.SelfVideo && !ses.Bot.User.Bot,
		Streaming: g.Voice[ses.Bot.User.ID].Streaming,
	})
	if d.ChannelID != nil {
		s.SendVoiceServer(ses, g)
	}
	return true
}

func (s *hub) mayConnect(g *GuildState, channel, user string) bool {
	ch := s.Channels[channel]
	need := ViewChannel | Connect
	if ch == nil || ch.GuildID != g.ID || s.Permissions(ch, user)&need != need {
		return false
	}
	there := 0
	for _, v := range g.Voice {
		if *v.ChannelID == channel && v.UserID != user {
			there++
		}
	}
	return ch.UserLimit == 0 || there < ch.UserLimit || s.Permissions(ch, user)&MoveMembers != 0
}

// SetVoice moves a user in, between or out of voice channels. A voice connection
// to the channel that is left is closed.
func (s *hub) SetVoice(g *GuildState, v VoiceState) {
	was, there := g.Voice[v.UserID]
	if there && (v.ChannelID == nil || *was.ChannelID != *v.ChannelID || was.SessionID != v.SessionID) {
		s.leaveStreams(g, v.UserID)
		s.revokeVoice(g, v.UserID)
		v.Streaming = false
	}
	if v.ChannelID == nil {
		delete(g.Voice, v.UserID)
	} else {
		g.Voice[v.UserID] = v
	}
	v.Member = g.Member(v.UserID)
	s.DispatchGuild(g, "VOICE_STATE_UPDATE", v)
	s.Notify()
}

func (s *hub) revokeVoice(g *GuildState, user string) {
	if s.Voice != nil {
		s.Voice.Revoke(voicetest.ClientID{Server: g.ID, User: user}, voicetest.CloseDisconnected, "Disconnected.")
	}
}

// SendVoiceServer tells a bot in a call where its voice connection goes.
func (s *hub) SendVoiceServer(ses *session, g *GuildState) {
	ticket := s.VoiceCredentials(g, ses.Bot.User.ID)
	s.Dispatch(ses, "VOICE_SERVER_UPDATE", map[string]any{
		"token": ticket.Token, "guild_id": g.ID, "endpoint": s.VoiceEndpoint(g),
	})
}

// VoiceCredentials lets a user who is in a call connect to it. The bot's ticket gives
// no source for video, as in the real service.
func (s *hub) VoiceCredentials(g *GuildState, user string) voicetest.Credentials {
	v := g.Voice[user]
	group, err := strconv.ParseUint(*v.ChannelID, 10, 64)
	if err != nil {
		group = 0 // our ids are numbers
	}
	t := voicetest.Credentials{
		ClientID: voicetest.ClientID{Server: g.ID, User: user}, Room: *v.ChannelID, Session: v.SessionID,
		Token: "voice-" + s.NewID(), Group: group, NoVideo: s.Users[user].Bot,
	}
	if s.Voice != nil {
		s.Voice.Admit(t)
	}
	return t
}

// VoiceEndpoint returns where the guild's calls are; nil while nobody has a place for
// them.
func (s *hub) VoiceEndpoint(g *GuildState) *string {
	if s.Voice == nil {
		return s.Config.VoiceEndpoint
	}
	if g.VoiceEndpoint == "" {
		return nil
	}
	return &g.VoiceEndpoint
}

// LeaveCalls takes the user of a session that has ended out of its calls.
func (s *hub) LeaveCalls(ses *session) {
	for _, g := range s.GuildsOf(ses.Bot.User.ID) {
		if v, ok := g.Voice[ses.Bot.User.ID]; ok && v.SessionID == ses.id {
			s.SetVoice(g, VoiceState{GuildID: g.ID, UserID: v.UserID, SessionID: v.SessionID})
		}
	}
}
