package discordtest

import "strings"

// Intents is what a gateway session asks to hear of.
type Intents int

// Intents that matter here, with Discord's numbers.
const (
	Guilds           Intents = 1 << 0
	GuildMembers     Intents = 1 << 1 // privileged
	GuildVoiceStates Intents = 1 << 7
	GuildPresences   Intents = 1 << 8 // privileged
	GuildMessages    Intents = 1 << 9
	GuildTyping      Intents = 1 << 11
	DirectMessages   Intents = 1 << 12
	DirectTyping     Intents = 1 << 14
	MessageContent   Intents = 1 << 15 // privileged

	Privileged = GuildMembers | GuildPresences | MessageContent

	// defined are the bits that Discord knows; others are refused with 4013.
	Defined Intents = 1<<17 - 1 | 1<<20 | 1<<21 | 1<<24 | 1<<25
)

// IntentFor returns the intents that a session needs to be sent the event, 0 for none.
func IntentFor(event string, inGuild bool) Intents {
	pick := func(guild, direct Intents) Intents {
		if inGuild {
			return guild
		}
		return direct
	}
	switch {
	case strings.HasPrefix(event, "MESSAGE_"):
		return pick(GuildMessages, DirectMessages)
	case event == "TYPING_START":
		return pick(GuildTyping, DirectTyping)
	case event == "VOICE_STATE_UPDATE":
		return GuildVoiceStates
	case strings.HasPrefix(event, "GUILD_MEMBER_"):
		return GuildMembers
	case strings.HasPrefix(event, "GUILD_"), strings.HasPrefix(event, "CHANNEL_"), strings.HasPrefix(event, "THREAD_"):
		return Guilds
	default:
		return 0
	}
}
