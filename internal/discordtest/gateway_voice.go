package discordtest

import (
	"encoding/json"
	"slices"
	"strings"
)

// updateVoice is op 4 of a bot: it enters, moves in or leaves a voice channel.
// It reports whether the data could be read.
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
		return true // Discord says nothing
	}
	if d.ChannelID != nil {
		ch := s.channels[*d.ChannelID]
		need := ViewChannel | Connect
		if ch == nil || ch.GuildID != g.ID || s.permissions(ch, ses.bot.user.ID)&need != need {
			return true
		}
	}
	s.setVoice(g, VoiceState{
		GuildID: g.ID, ChannelID: d.ChannelID, UserID: ses.bot.user.ID, SessionID: ses.id,
		SelfMute: d.SelfMute, SelfDeaf: d.SelfDeaf, SelfVideo: d.SelfVideo,
	})
	if d.ChannelID != nil {
		s.dispatch(ses, "VOICE_SERVER_UPDATE", map[string]any{
			"token": "voice-" + s.newID(), "guild_id": g.ID, "endpoint": s.cfg.VoiceEndpoint,
		})
	}
	return true
}

func (s *Server) setVoice(g *guild, v VoiceState) {
	if v.ChannelID == nil {
		delete(g.voice, v.UserID)
	} else {
		g.voice[v.UserID] = v
	}
	v.Member = g.member(v.UserID)
	s.dispatchGuild(g, "VOICE_STATE_UPDATE", v)
	s.notify()
}

// sendMembers is op 8. It reports whether the data could be read.
func (s *Server) sendMembers(ses *session, data json.RawMessage) bool {
	var d struct {
		GuildID json.RawMessage `json:"guild_id"`
		Query   *string         `json:"query"`
		UserIDs json.RawMessage `json:"user_ids"`
		Limit   int             `json:"limit"`
		Nonce   string          `json:"nonce"`
	}
	if err := json.Unmarshal(data, &d); err != nil {
		return false
	}
	for _, id := range oneOrMany(d.GuildID) {
		g := s.guilds[id]
		if g == nil || g.member(ses.bot.user.ID) == nil {
			continue
		}
		found, wanted := []*Member{}, oneOrMany(d.UserIDs)
		for _, m := range g.members {
			byName := d.Query != nil && strings.HasPrefix(strings.ToLower(m.User.Username), strings.ToLower(*d.Query))
			if (byName || slices.Contains(wanted, m.User.ID)) && (d.Limit == 0 || len(found) < d.Limit) {
				found = append(found, m)
			}
		}
		s.dispatch(ses, "GUILD_MEMBERS_CHUNK", map[string]any{
			"guild_id": g.ID, "members": found, "chunk_index": 0, "chunk_count": 1, "nonce": d.Nonce,
		})
	}
	return true
}

// oneOrMany reads an id or a list of ids.
func oneOrMany(data json.RawMessage) []string {
	var one string
	if json.Unmarshal(data, &one) == nil {
		return []string{one}
	}
	var many []string
	if json.Unmarshal(data, &many) != nil {
		return nil
	}
	return many
}
