package discordtest

import (
	"encoding/json"
	"slices"
	"strings"
)

// sendMembers is op 8. It reports whether the data could be read.
func (s *Hub) sendMembers(ses *session, data json.RawMessage) bool {
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
		g := s.Guilds[id]
		if g == nil || g.Member(ses.Bot.User.ID) == nil {
			continue
		}
		found, wanted := []*Member{}, oneOrMany(d.UserIDs)
		for _, m := range g.Members {
			byName := d.Query != nil && strings.HasPrefix(strings.ToLower(m.User.Username), strings.ToLower(*d.Query))
			if (byName || slices.Contains(wanted, m.User.ID)) && (d.Limit == 0 || len(found) < d.Limit) {
				found = append(found, m)
			}
		}
		s.Dispatch(ses, "GUILD_MEMBERS_CHUNK", map[string]any{
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
