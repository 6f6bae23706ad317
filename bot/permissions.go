package bot

import "github.com/bwmarrin/discordgo"

// Permissions are what the bot needs on a server, with calls or without.
func Permissions(calls bool) int64 {
	bits := int64(discordgo.PermissionViewChannel | discordgo.PermissionSendMessages | discordgo.PermissionSendMessagesInThreads |
		discordgo.PermissionEmbedLinks | discordgo.PermissionAttachFiles | discordgo.PermissionReadMessageHistory)
	if calls {
		bits |= discordgo.PermissionVoiceConnect | discordgo.PermissionVoiceSpeak
	}
	return bits
}
