// Package menu is what Discord shows of the command /clank: its subcommands and their options. What they do is package bot's
// business.
package menu

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/bwmarrin/discordgo"
)

// Name is the one command; all else is below it.
const Name = "clank"

// MaxTask is the most characters of a task.
const MaxTask = 4000

// Options say what there is besides browsing.
type Options struct {
	Runtimes []string // the choices of the runtime; with fewer than two there is no such option
	Watches  bool
	Calls    []*discordgo.ApplicationCommandOption // the subcommands about calls
	Budget   bool
}

// Command is /clank as it should be registered.
func Command(o Options) *discordgo.ApplicationCommand {
	least, one := 1, 1.0
	options := []*discordgo.ApplicationCommandOption{
		{
			Type: discordgo.ApplicationCommandOptionString, Name: "task", Required: true, MinLength: &least, MaxLength: MaxTask,
			Description: "What to do, in your words",
		},
		{
			Type: discordgo.ApplicationCommandOptionString, Name: "session", MaxLength: 100,
			Description: "Go on in this session; “last” is your last one here",
		},
	}
	if len(o.Runtimes) > 1 {
		runtime := &discordgo.ApplicationCommandOption{
			Type: discordgo.ApplicationCommandOptionString, Name: "runtime", Description: "Which mind works the browser",
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
			Type: discordgo.ApplicationCommandOptionBoolean, Name: "private", Description: "Show it to you alone",
		},
		&discordgo.ApplicationCommandOption{
			Type: discordgo.ApplicationCommandOptionString, Name: "profile", MaxLength: 64,
			Description: "Which browser profile to use, if you have several",
		},
	)
	sub := discordgo.ApplicationCommandOptionSubCommand
	return &discordgo.ApplicationCommand{
		Type: discordgo.ChatApplicationCommand, Name: Name, Description: "A browser for this channel",
		Options: append([]*discordgo.ApplicationCommandOption{
			{Type: sub, Name: "browse", Description: "Do something on the web", Options: options},
			{Type: sub, Name: "stop", Description: "Stop what runs in this channel"},
			{Type: sub, Name: "sessions", Description: "Show your browser sessions in this channel"},
		}, slices.Concat(watchCommands(o.Watches), o.Calls, budgetCommand(o.Budget))...),
	}
}

// Same reports whether two lists of commands are the same, but for what Discord
// adds to them.
func Same(a, b []*discordgo.ApplicationCommand) bool { return essence(a) == essence(b) }

// essence is what matters of commands, without what Discord adds.
func essence(cmds []*discordgo.ApplicationCommand) string {
	type command struct {
		Name, Description string
		Type              discordgo.ApplicationCommandType
		Options           []option
	}
	out := make([]command, 0, len(cmds))
	for _, c := range cmds {
		if c != nil {
			out = append(out, command{c.Name, c.Description, cmp.Or(c.Type, discordgo.ChatApplicationCommand), optionsOf(c.Options)})
		}
	}
	text, err := json.Marshal(out)
	if err != nil { // a choice with a value that is no JSON: never equal
		return err.Error()
	}
	return string(text)
}

type option struct {
	Name, Description string
	Type              discordgo.ApplicationCommandOptionType
	Required          bool
	Choices           map[string]any
	MinValue          float64
	MaxValue          float64
	MinLength         int
	MaxLength         int
	Options           []option
}

func optionsOf(list []*discordgo.ApplicationCommandOption) []option {
	out := make([]option, 0, len(list))
	for _, o := range list {
		if o == nil {
			continue
		}
		x := option{
			Name: o.Name, Description: o.Description, Type: o.Type, Required: o.Required,
			MaxValue: o.MaxValue, MaxLength: o.MaxLength, Options: optionsOf(o.Options),
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
		}
		out = append(out, x)
	}
	return out
}
