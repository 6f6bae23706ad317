package bot

import (
	"context"
	"fmt"

	"github.com/bwmarrin/discordgo"
)

// registerCommands replaces the application's commands if they are not as they
// should be.
func (b *Bot) registerCommands(ctx context.Context) error {
	want := []*discordgo.ApplicationCommand{SlashCommand(CommandOptions{
		Runtimes: b.Runtimes, Watches: b.Watches != nil, Calls: b.callCommands(), Budget: b.Budgets != nil,
	})}
	app := b.identity().app
	have, err := b.rest.Commands(ctx, app)
	if err != nil {
		return fmt.Errorf("read the commands: %w", err)
	}
	if SameCommands(have, want) {
		return nil
	}
	if err := b.rest.PutCommands(ctx, app, want); err != nil {
		return fmt.Errorf("register the commands: %w", err)
	}
	b.logger().Info("commands registered")
	return nil
}
