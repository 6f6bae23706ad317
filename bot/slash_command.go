package bot

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"clank/bot/discord"

	"github.com/bwmarrin/discordgo"
)

// commandName is the one command; all else is below it.
const commandName = "clank"

// maxTaskLength is the most characters of a task.
const maxTaskLength = 4000

// CommandOptions select the subcommands and options besides browsing.
type CommandOptions struct {
	Runtimes []string // the choices of the runtime option, which needs at least two
	Models   bool     // a model can be chosen
	Window   bool     // the browser's window can be shown
	Files    bool     // browsing accepts files
	Watches  bool
	Calls    []*discordgo.ApplicationCommandOption // the subcommands about calls
	Budget   bool
	Clip     bool
	Setup    bool // servers have settings
}

// SlashCommand returns the definition of /clank.
func SlashCommand(o CommandOptions) *discordgo.ApplicationCommand {
	sub := discordgo.ApplicationCommandOptionSubCommand
	return everywhere(&discordgo.ApplicationCommand{
		Type: discordgo.ChatApplicationCommand, Name: commandName, Description: "A browser for this channel",
		Options: append([]*discordgo.ApplicationCommandOption{
			{Type: sub, Name: "browse", Description: "Do something on the web", Options: browseOptionList(o)},
			{Type: sub, Name: "stop", Description: "Stop what runs in this channel"},
			{Type: sub, Name: "sessions", Description: "Show your browser sessions in this channel"},
		}, slices.Concat(watchCommands(o.Watches), o.Calls, budgetCommand(o.Budget), clipSubcommand(o.Clip),
			setupSubcommand(o.Setup))...),
	})
}

// everywhere offers a command on servers, in direct messages, and wherever people who have installed the app for
// themselves are.
func everywhere(c *discordgo.ApplicationCommand) *discordgo.ApplicationCommand {
	c.IntegrationTypes = &[]discordgo.ApplicationIntegrationType{
		discordgo.ApplicationIntegrationGuildInstall, discordgo.ApplicationIntegrationUserInstall,
	}
	c.Contexts = &[]discordgo.InteractionContextType{
		discordgo.InteractionContextGuild, discordgo.InteractionContextBotDM, discordgo.InteractionContextPrivateChannel,
	}
	return c
}

// browseOptionList returns the options of /clank browse.
func browseOptionList(o CommandOptions) []*discordgo.ApplicationCommandOption {
	const (
		text  = discordgo.ApplicationCommandOptionString
		yesNo = discordgo.ApplicationCommandOptionBoolean
	)
	least, one, cent := 1, 1.0, 0.01
	options := []*discordgo.ApplicationCommandOption{
		{
			Type: text, Name: "task", Required: true, MinLength: &least, MaxLength: maxTaskLength,
			Description: "What to do, in your words",
		},
		sessionOption("Go on in this session; “last” is your last one here"),
		{Type: text, Name: "url", MaxLength: 2000, Description: "Address of the page to begin with"},
	}
	if o.Models {
		options = append(options, &discordgo.ApplicationCommandOption{
			Type: text, Name: "model", MaxLength: 100, Autocomplete: true, Description: "Which model works the browser",
		})
	}
	if len(o.Runtimes) > 1 {
		runtime := &discordgo.ApplicationCommandOption{
			Type: text, Name: "runtime",
			Description: "Which mind works the browser",
		}
		for _, r := range o.Runtimes[:min(len(o.Runtimes), 25)] {
			runtime.Choices = append(runtime.Choices, &discordgo.ApplicationCommandOptionChoice{Name: r, Value: r})
		}
		options = append(options, runtime)
	}
	options = append(
		options,
		&discordgo.ApplicationCommandOption{
			Type: discordgo.ApplicationCommandOptionInteger, Name: "steps", MinValue: &one, MaxValue: 200,
			Description: "How many steps it may take",
		},
		&discordgo.ApplicationCommandOption{
			Type: discordgo.ApplicationCommandOptionNumber, Name: "budget", MinValue: &cent, MaxValue: 1000,
			Description: "How many US dollars its model may cost",
		},
		&discordgo.ApplicationCommandOption{Type: yesNo, Name: "private", Description: "Show it to you alone"},
		&discordgo.ApplicationCommandOption{
			Type: text, Name: "profile", MaxLength: 64, Autocomplete: true,
			Description: "Which browser profile to use, if you have several",
		},
	)
	if o.Window {
		options = append(options, &discordgo.ApplicationCommandOption{
			Type: yesNo, Name: "headed", Description: "Show the browser's window where clank runs; for operators",
		})
	}
	return append(options, fileOptions(o.Files)...)
}

// sessionOption returns the option that names a session of the person's.
func sessionOption(description string) *discordgo.ApplicationCommandOption {
	return &discordgo.ApplicationCommandOption{
		Type: discordgo.ApplicationCommandOptionString, Name: "session", MaxLength: 100, Autocomplete: true,
		Description: description,
	}
}

// SameCommands reports whether two lists of commands are the same, but for what Discord
// adds to them.
func SameCommands(a, b []*discordgo.ApplicationCommand) bool {
	return comparableForm(a) == comparableForm(b)
}

// comparableForm returns the relevant parts of commands as text, without what Discord adds.
func comparableForm(cmds []*discordgo.ApplicationCommand) string {
	type command struct {
		Name, Description   string
		Names, Descriptions *map[discordgo.Locale]string
		Type                discordgo.ApplicationCommandType
		Options             []comparableOption
		Integrations        []discordgo.ApplicationIntegrationType
		Contexts            []discordgo.InteractionContextType
		MemberNeeds         *int64
	}
	out := make([]command, 0, len(cmds)) // sorted by name: Discord has an order of its own
	for _, c := range cmds {
		if c != nil {
			x := command{
				Name: c.Name, Description: c.Description, Names: c.NameLocalizations, Descriptions: c.DescriptionLocalizations,
				Type: cmp.Or(c.Type, discordgo.ChatApplicationCommand), Options: comparableOptions(c.Options),
				MemberNeeds: c.DefaultMemberPermissions,
			}
			if c.IntegrationTypes != nil {
				x.Integrations = slices.Sorted(slices.Values(*c.IntegrationTypes))
			}
			if c.Contexts != nil {
				x.Contexts = slices.Sorted(slices.Values(*c.Contexts))
			}
			out = append(out, x)
		}
	}
	slices.SortFunc(out, func(a, b command) int { return cmp.Compare(a.Name, b.Name) })
	text, err := json.Marshal(out)
	if err != nil { // a choice with a value that is no JSON: never equal
		return err.Error()
	}
	return string(text)
}

type comparableOption struct {
	Name, Description string
	Texts             []map[discordgo.Locale]string // names, descriptions, and names of the choices
	Type              discordgo.ApplicationCommandOptionType
	Required          bool
	Autocomplete      bool
	Choices           map[string]any
	MinValue          float64
	MaxValue          float64
	MinLength         int
	MaxLength         int
	Options           []comparableOption
}

func comparableOptions(list []*discordgo.ApplicationCommandOption) []comparableOption {
	out := make([]comparableOption, 0, len(list))
	for _, o := range list {
		if o == nil {
			continue
		}
		x := comparableOption{
			Name: o.Name, Description: o.Description, Type: o.Type, Required: o.Required,
			MaxValue: o.MaxValue, MaxLength: o.MaxLength, Options: comparableOptions(o.Options), Autocomplete: o.Autocomplete,
			Texts: []map[discordgo.Locale]string{o.NameLocalizations, o.DescriptionLocalizations},
		}
		if o.MinValue != nil {
			x.MinValue = *o.MinValue
		}
		if o.MinLength != nil {
			x.MinLength = *o.MinLength
		}
		for _, c := range o.Choices {
			if x.Choices == nil {
				x.Choices = make(map[string]any)
			}
			x.Choices[c.Name] = c.Value
			x.Texts = append(x.Texts, c.NameLocalizations)
		}
		out = append(out, x)
	}
	return out
}

// watchCommands returns /clank watch and /clank watches, or nil if watches are not offered.
func watchCommands(offered bool) []*discordgo.ApplicationCommandOption {
	if !offered {
		return nil
	}
	const (
		text   = discordgo.ApplicationCommandOptionString
		number = discordgo.ApplicationCommandOptionNumber
		whole  = discordgo.ApplicationCommandOptionInteger
	)
	one := 1.0
	return []*discordgo.ApplicationCommandOption{
		{
			Type: discordgo.ApplicationCommandOptionSubCommand, Name: "watch", Description: "Tell you when a page changes",
			Options: []*discordgo.ApplicationCommandOption{
				{Type: text, Name: "url", Required: true, MaxLength: 2000, Description: "Address of the page"},
				{Type: number, Name: "below", Description: "Tell when the price, or a number, drops below this"},
				{Type: number, Name: "above", Description: "Tell when the price, or a number, rises above this"},
				{Type: text, Name: "says", MaxLength: 200, Description: "Tell when the page says this"},
				{Type: text, Name: "when", MaxLength: 300, Description: "Tell when this is so, in your words; a model judges"},
				{Type: text, Name: "near", MaxLength: 200, Description: "Words on the page beside what matters"},
				{Type: whole, Name: "every", MinValue: &one, MaxValue: 10080, Description: "Minutes between two looks"},
				{Type: whole, Name: "days", MinValue: &one, MaxValue: 180, Description: "For how long"},
				{Type: discordgo.ApplicationCommandOptionBoolean, Name: "private", Description: "Tell you alone"},
			},
		},
		{
			Type: discordgo.ApplicationCommandOptionSubCommand, Name: "watches", Description: "Show the pages that are " +
				"watched for you",
			Options: []*discordgo.ApplicationCommandOption{
				{Type: text, Name: "end", MaxLength: 20, Autocomplete: true, Description: "End the watch with this name"},
			},
		},
	}
}

// budgetCommand returns the subcommand, if there is a budget.
func budgetCommand(offered bool) []*discordgo.ApplicationCommandOption {
	if !offered {
		return nil
	}
	return []*discordgo.ApplicationCommandOption{{
		Type: discordgo.ApplicationCommandOptionSubCommand, Name: "budget", Description: "Show what may still be spent today",
	}}
}

// setupSubcommand returns /clank setup. That it is for managers alone is checked when it is used: Discord can restrict
// only whole commands.
func setupSubcommand(offered bool) []*discordgo.ApplicationCommandOption {
	if !offered {
		return nil
	}
	return []*discordgo.ApplicationCommandOption{{
		Type: discordgo.ApplicationCommandOptionSubCommand, Name: "setup", Description: "Set channels, roles, budget and " +
			"more of this server",
	}}
}

// registerCommands replaces the application's commands if they are not as they
// should be.
func (b *Bot) registerCommands(ctx context.Context) error {
	want := []*discordgo.ApplicationCommand{SlashCommand(CommandOptions{
		Runtimes: b.Runtimes, Watches: b.Watches != nil, Calls: b.callCommands(), Budget: b.Budgets != nil,
		Clip: b.Pages != nil, Files: b.Files != nil, Models: b.Choices != nil, Window: b.Window, Setup: b.Settings != nil,
	})}
	want = append(want, messageCommands()...)
	for _, c := range want {
		localize(c)
	}
	app := b.identity().app
	have, err := b.rest.Commands(ctx, app)
	if err != nil {
		return fmt.Errorf("read the commands: %w", err)
	}
	for _, c := range have {
		if c != nil && c.Type == discord.EntryPoint {
			want = append(want, c)
		}
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
