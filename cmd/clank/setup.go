package main

import (
	"context"
	"fmt"

	"clank/internal/server"

	"github.com/spf13/cobra"
)

const setupDiscordHelp = `Prints what to do in Discord's developer portal, and a link that invites the bot to a
server with the permissions that the settings ask for. With DISCORD_TOKEN or
DISCORD_TOKEN_FILE set, Discord is asked which application it is for and what is missing.`

func newSetupCommand(e *commandEnv) *cobra.Command {
	c := newCommand("setup", "", "", nil)
	c.AddCommand(newCommand("discord", "print the steps in Discord's developer portal, and a link to invite the bot", setupDiscordHelp,
		func(ctx context.Context, _ []string) error {
			return withSettings(ctx, e, func(v settingsView) error {
				app, err := server.DiscordApplication(ctx, e.Getenv)
				if err != nil {
					return fmt.Errorf("ask Discord for the application: %w", err)
				}
				id, content := "YOUR_APPLICATION_ID", "switch on Message Content Intent and save"
				switch {
				case app.ID == "":
				case app.HearsEverything():
					id, content = app.ID, "Message Content Intent is on for "+app.Name
				default:
					id, content = app.ID, "Message Content Intent is off for "+app.Name+": switch it on and save"
				}
				_, err = fmt.Fprintf(e.Stdout, `1. https://discord.com/developers/applications: New Application, or open yours.
2. Bot, Privileged Gateway Intents: %s. Without it, clank hears commands,
   mentions, replies that mention it and direct messages, but not "stop" in a channel.
3. Bot, Reset Token: start clank with it as DISCORD_TOKEN, or in a file that DISCORD_TOKEN_FILE names.
4. Invite the bot:
   https://discord.com/oauth2/authorize?client_id=%s&scope=bot+applications.commands&permissions=%d
`, content, id, server.DiscordPermissions(v.Live.Current()))
				return err
			})
		}))
	return c
}
