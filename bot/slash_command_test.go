package bot_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"clank/bot"

	"github.com/bwmarrin/discordgo"
)

func TestWhatThereIsNotIsNotOffered(t *testing.T) {
	calls := []*discordgo.ApplicationCommandOption{{Name: "join"}}
	for want, o := range map[string]bot.CommandOptions{
		"browse stop sessions":                           {},
		"browse stop sessions watch watches":             {Watches: true},
		"browse stop sessions watch watches join budget": {Watches: true, Calls: calls, Budget: true},
		"browse stop sessions budget":                    {Budget: true, Runtimes: []string{"one"}},
	} {
		var got []string
		for _, s := range bot.SlashCommand(o).Options {
			got = append(got, s.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	has := func(o bot.CommandOptions) bool {
		return slices.ContainsFunc(bot.SlashCommand(o).Options[0].Options, func(x *discordgo.ApplicationCommandOption) bool { return x.Name == "runtime" })
	}
	if has(bot.CommandOptions{Runtimes: []string{"one"}}) || !has(bot.CommandOptions{Runtimes: []string{"one", "two"}}) {
		t.Error("the runtime is a choice where there is one only, or none where there are two")
	}
}

func TestWhatDiscordAddsMakesNoOtherCommand(t *testing.T) {
	ours := bot.SlashCommand(bot.CommandOptions{Watches: true, Runtimes: []string{"one", "two"}})
	text, err := json.Marshal(ours)
	if err != nil {
		t.Fatal(err)
	}
	var theirs *discordgo.ApplicationCommand
	if err := json.Unmarshal(text, &theirs); err != nil {
		t.Fatal(err)
	}
	theirs.ID, theirs.Version = "1", "2"
	list := func(c *discordgo.ApplicationCommand) []*discordgo.ApplicationCommand {
		return []*discordgo.ApplicationCommand{c, nil}
	}
	if !bot.SameCommands(list(ours), list(theirs)) {
		t.Error("the same command is another one")
	}
	theirs.Options[0].Options[0].Required = false
	if bot.SameCommands(list(ours), list(theirs)) || bot.SameCommands(list(ours), nil) {
		t.Error("another command is the same")
	}
}
