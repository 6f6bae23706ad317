package bot

import "github.com/bwmarrin/discordgo"

// Permissions are what the bot needs on a server, with calls and threads or without.
func Permissions(calls, threads bool) int64 {
	bits := int64(discordgo.PermissionViewChannel | discordgo.PermissionSendMessages |
		discordgo.PermissionSendMessagesInThreads |
		discordgo.PermissionEmbedLinks | discordgo.PermissionAttachFiles | discordgo.PermissionReadMessageHistory)
	if calls {
		bits |= discordgo.PermissionVoiceConnect | discordgo.PermissionVoiceSpeak
	}
	if threads {
		bits |= discordgo.PermissionCreatePublicThreads
	}
	return bits
}
