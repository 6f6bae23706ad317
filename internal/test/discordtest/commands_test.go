package discordtest_test

import (
	"errors"
	"strings"
	"testing"

	"clank/internal/test/discordtest"

	"github.com/bwmarrin/discordgo"
)

type (
	command = discordgo.ApplicationCommand
	option  = discordgo.ApplicationCommandOption
	choice  = discordgo.ApplicationCommandOptionChoice
)

func TestCommandsAreHeldAgainstTheLimits(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	d := w.session(t)
	text := func(name string) *option {
		return &option{Type: discordgo.ApplicationCommandOptionString, Name: name, Description: "d"}
	}
	with := func(options ...*option) []*command {
		return []*command{{Name: "c", Description: "d", Options: options}}
	}
	required := text("b")
	required.Required = true
	lettered := text("a")
	lettered.Choices = []*choice{{Name: "one", Value: 1}}
	completed := text("a")
	completed.Autocomplete, completed.Choices = true, []*choice{{Name: "one", Value: "1"}}
	large := []*option{}
	for _, name := range []string{"a", "b", "c", "d"} {
		o := text(name)
		for _, n := range slicesOf(25, "#") {
			o.Choices = append(o.Choices, &choice{Name: n + strings.Repeat("x", 90), Value: n})
		}
		large = append(large, o)
	}
	for name, list := range map[string][]*command{
		"capital letters":   {{Name: "Clank", Description: "d"}},
		"spaces":            {{Name: "clank browse", Description: "d"}},
		"long name":         {{Name: strings.Repeat("x", 33), Description: "d"}},
		"no description":    {{Name: "c"}},
		"long description":  {{Name: "c", Description: strings.Repeat("x", 101)}},
		"same name twice":   {{Name: "c", Description: "d"}, {Name: "c", Description: "d"}},
		"option twice":      with(text("a"), text("a")),
		"required last":     with(text("a"), required),
		"option name":       with(text("A")),
		"option type":       with(&option{Name: "a", Description: "d"}),
		"choice type":       with(lettered),
		"choice completed":  with(completed),
		"mixed subcommands": with(text("a"), &option{Type: discordgo.ApplicationCommandOptionSubCommand, Name: "s", Description: "d"}),
		"too large":         with(append(large, &option{Type: discordgo.ApplicationCommandOptionString, Name: "e", Description: "d"})...),
	} {
		if _, err := d.ApplicationCommandBulkOverwrite(w.bot.ID, "", list); err == nil {
			t.Errorf("%s: was accepted", name)
		} else {
			refusal(t, err, 400, 50035)
		}
	}
	if got := w.Commands(w.bot); len(got) != 0 {
		t.Errorf("got commands %v, want none", got)
	}
}

func TestPeopleCanOnlySendWhatTheCommandTakes(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	d := w.session(t)
	came := events[*discordgo.InteractionCreate](d)
	open(t, w, d)
	if _, err := w.SlashCommand(w.room, w.ada, "clank browse", nil); !errors.Is(err, discordtest.ErrNoCommand) {
		t.Errorf("got %v before the command was registered", err)
	}
	registerClank(t, d)
	for name, c := range map[string]struct {
		path string
		args discordtest.Args
		want error
	}{
		"no subcommand":      {"clank", nil, discordtest.ErrNoCommand},
		"unknown subcommand": {"clank dance", nil, discordtest.ErrNoCommand},
		"missing":            {"clank browse", nil, discordtest.ErrBadArgument},
		"wrong type":         {"clank browse", discordtest.Args{"task": 5}, discordtest.ErrBadArgument},
		"no integer":         {"clank browse", discordtest.Args{"task": "x", "steps": 1.5}, discordtest.ErrBadArgument},
		"unknown argument":   {"clank browse", discordtest.Args{"task": "x", "speed": 1}, discordtest.ErrBadArgument},
	} {
		if _, err := w.SlashCommand(w.room, w.ada, c.path, c.args); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
	select {
	case i := <-came:
		t.Errorf("got interaction %+v, want none", i.Interaction)
	default:
	}
}
