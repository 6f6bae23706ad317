package discordtest

import "strings"

// ShapeIntents is what a gateway session asks to hear of.
type ShapeIntents int

// Intents that matter here, with Discord's numbers.
const (
	ShapeGuilds           ShapeIntents = 1 << 0
	ShapeGuildMembers     ShapeIntents = 1 << 1 // privileged
	ShapeGuildVoiceStates ShapeIntents = 1 << 7
	ShapeGuildPresences   ShapeIntents = 1 << 8 // privileged
	ShapeGuildMessages    ShapeIntents = 1 << 9
	ShapeGuildReactions   ShapeIntents = 1 << 10
	ShapeGuildTyping      ShapeIntents = 1 << 11
	ShapeDirectMessages   ShapeIntents = 1 << 12
	ShapeDirectReactions  ShapeIntents = 1 << 13
	ShapeDirectTyping     ShapeIntents = 1 << 14
	ShapeMessageContent   ShapeIntents = 1 << 15 // privileged

	Privileged = ShapeGuildMembers | ShapeGuildPresences | ShapeMessageContent

	// defined are the bits that Discord knows; others are refused with 4013.
	Defined ShapeIntents = 1<<17 - 1 | 1<<20 | 1<<21 | 1<<24 | 1<<25
)

// IntentFor is what a session needs to be sent the event, 0 for nothing.
func IntentFor(event string, inGuild bool) ShapeIntents {
	pick := func(guild, direct ShapeIntents) ShapeIntents {
		if inGuild {
			return guild
		}
		return direct
	}
	switch {
	case strings.HasPrefix(event, "MESSAGE_REACTION_"):
		return pick(ShapeGuildReactions, ShapeDirectReactions)
	case strings.HasPrefix(event, "MESSAGE_"):
		return pick(ShapeGuildMessages, ShapeDirectMessages)
	case event == "TYPING_START":
		return pick(ShapeGuildTyping, ShapeDirectTyping)
	case event == "VOICE_STATE_UPDATE":
		return ShapeGuildVoiceStates
	case strings.HasPrefix(event, "GUILD_MEMBER_"):
		return ShapeGuildMembers
	case strings.HasPrefix(event, "GUILD_"), strings.HasPrefix(event, "CHANNEL_"), strings.HasPrefix(event, "THREAD_"):
		return ShapeGuilds
	default:
		return 0
	}
}
