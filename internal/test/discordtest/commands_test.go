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
		"empty group":       with(&option{Type: discordgo.ApplicationCommandOptionSubCommandGroup, Name: "g", Description: "d"}),
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

func TestCommandsKeepTheirIDWhenOverwritten(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	d := w.session(t)
	one, err := d.ApplicationCommandCreate(w.bot.ID, w.guild.ID, &command{Name: "clank", Description: "old"})
	if err != nil {
		t.Fatal(err)
	}
	list, err := d.ApplicationCommandBulkOverwrite(w.bot.ID, w.guild.ID, []*command{{Name: "clank", Description: "new"}, {Name: "other", Description: "d"}})
	if err != nil {
		t.Fatal(err)
	}
	if list[0].ID != one.ID || list[0].GuildID != w.guild.ID {
		t.Errorf("got %+v, want id %s", list[0], one.ID)
	}
	if err := d.ApplicationCommandDelete(w.bot.ID, w.guild.ID, list[1].ID); err != nil {
		t.Fatal(err)
	}
	refusal(t, d.ApplicationCommandDelete(w.bot.ID, w.guild.ID, list[1].ID), 404, 10063)
	if got, err := d.ApplicationCommands(w.bot.ID, w.guild.ID); err != nil || len(got) != 1 || got[0].Description != "new" {
		t.Errorf("got %v, %v, want the new one", got, err)
	}
	if got := w.GuildCommands(w.bot, w.guild); len(got) != 1 || len(w.Commands(w.bot)) != 0 {
		t.Errorf("got commands %v, want one in the guild and none for all", got)
	}
	_, err = d.ApplicationCommands("1", "")
	refusal(t, err, 404, 10002)
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

func TestThingsInArgumentsAreResolved(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	d := w.session(t)
	came := events[*discordgo.InteractionCreate](d)
	open(t, w, d)
	role := w.CreateRole(w.guild, "crew", 0)
	opt := func(kind discordgo.ApplicationCommandOptionType, name string) *option {
		return &option{Type: kind, Name: name, Description: "d"}
	}
	task := opt(discordgo.ApplicationCommandOptionString, "task")
	task.Autocomplete = true
	if _, err := d.ApplicationCommandCreate(w.bot.ID, "", &command{Name: "show", Description: "d", Options: []*option{
		opt(discordgo.ApplicationCommandOptionUser, "who"), opt(discordgo.ApplicationCommandOptionChannel, "where"),
		opt(discordgo.ApplicationCommandOptionRole, "role"), opt(discordgo.ApplicationCommandOptionAttachment, "file"),
		opt(discordgo.ApplicationCommandOptionBoolean, "loud"), opt(discordgo.ApplicationCommandOptionNumber, "size"), task,
	}}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.SlashCommand(w.room, w.ada, "show", discordtest.Args{
		"who": w.bob, "where": w.room, "role": role, "loud": true, "size": 1.5,
		"file": discordtest.File{Name: "a.txt", Data: []byte("text")},
	}); err != nil {
		t.Fatal(err)
	}
	r := next(t, came).ApplicationCommandData().Resolved
	if r.Users[w.bob.ID] == nil || r.Members[w.bob.ID] == nil || r.Channels[w.room.ID] == nil || r.Roles[role.ID] == nil || len(r.Attachments) != 1 {
		t.Errorf("got %+v, want all of them", r)
	}
	if _, err := w.SlashCommand(w.room, w.ada, "show", discordtest.Args{"who": w.room}); !errors.Is(err, discordtest.ErrBadArgument) {
		t.Errorf("got %v, want a channel refused as a user", err)
	}
	it, err := w.Complete(w.room, w.ada, "show", "task", "te")
	if err != nil {
		t.Fatal(err)
	}
	i := next(t, came)
	if o := i.ApplicationCommandData().Options[0]; !o.Focused || o.Value != "te" {
		t.Errorf("got %+v, want what is typed", o)
	}
	if err := respond(d, i.Interaction, discordgo.InteractionApplicationCommandAutocompleteResult, &discordgo.InteractionResponseData{
		Choices: []*choice{{Name: "tea", Value: "tea"}},
	}); err != nil {
		t.Fatal(err)
	}
	if done, err := w.WaitAnswer(deadline(t), it); err != nil || len(done.Choices) != 1 || done.Choices[0].Name != "tea" {
		t.Errorf("got %+v, %v, want tea", done.Choices, err)
	}
}
