// Package discordtest is Discord as far as a bot can see it: the REST API and
// the main gateway, on a loopback port, in memory. A real client library talks
// to it over real sockets, and a test plays the people: it writes messages,
// uses slash commands, presses buttons, cuts the line, and looks at what the
// bot did.
//
// It follows Discord's public documentation: API versions 9 and 10, gateway
// opcodes and close codes, error codes, documented limits, permissions, the
// message content rule, and the life of an interaction (three seconds for the
// first answer, fifteen minutes for the rest).
//
//	discord, err := Start(Config{})
//	defer discord.Close()
//	bot := discord.CreateBot("clank", "secret")
//	ada := discord.CreateUser("ada")
//	guild := discord.CreateGuild("home", ada)
//	discord.AddMember(guild, bot.User)
//	room := discord.CreateChannel(guild, "general")
//	discord.Configure(session) // a *discordgo.Session with token "Bot secret"
//	discord.SendMessage(room, ada, "hello "+bot.Mention())
//	reply, err := discord.WaitMessage(ctx, room, func(m Message) bool { return m.Author.ID == bot.ID })
//
// A program that takes a base URL is given Server.URL; the API is below /api.
//
// With Config.Voice it has calls as well: package voiceserver is their server,
// and EnterCall makes a person who speaks and hears (package member).
//
// It is not for OAuth2, and not for load.
package discordtest
