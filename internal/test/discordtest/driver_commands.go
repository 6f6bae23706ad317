package discordtest

// Commands lists what a bot has registered for everyone.
func (s *Server) Commands(bot Bot) []Command { return s.rest.CommandsIn(bot, "") }

// GuildCommands lists what a bot has registered in one guild.
func (s *Server) GuildCommands(bot Bot, g Guild) []Command {
	return s.rest.CommandsIn(bot, g.ID)
}
