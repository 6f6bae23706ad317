package discord

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/bwmarrin/discordgo"
)

// isDecodable reports whether discordgo survives a dispatch. The library looks
// into some of them by itself, on a goroutine where nobody can recover, and
// takes for granted what it finds there; errors of decoding it ignores, so they
// leave nil pointers behind.
func isDecodable(kind string, data json.RawMessage) bool {
	if d := bytes.TrimSpace(data); len(d) == 0 || d[0] != '{' {
		return kind == "RESUMED"
	}
	switch kind {
	case "READY":
		var r discordgo.Ready
		_ = json.Unmarshal(data, &r)
		return r.User != nil && !slices.ContainsFunc(r.Guilds, isBrokenGuild)
	case "GUILD_CREATE":
		var g discordgo.GuildCreate
		_ = json.Unmarshal(data, &g)
		return !isBrokenGuild(g.Guild)
	case "GUILD_UPDATE":
		var g discordgo.GuildUpdate
		_ = json.Unmarshal(data, &g)
		return !isBrokenGuild(g.Guild)
	case "VOICE_STATE_UPDATE":
		var v discordgo.VoiceStateUpdate
		_ = json.Unmarshal(data, &v)
		return v.VoiceState != nil
	}
	return true
}

func isBrokenGuild(g *discordgo.Guild) bool {
	return g == nil || slices.Contains(g.Channels, nil) || slices.Contains(g.Members, nil) || slices.Contains(g.VoiceStates, nil)
}
