package bot

import "github.com/bwmarrin/discordgo"

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
			Type: discordgo.ApplicationCommandOptionSubCommand, Name: "watches", Description: "Show the pages that are watched for you",
			Options: []*discordgo.ApplicationCommandOption{
				{Type: text, Name: "end", MaxLength: 20, Description: "End the watch with this name"},
			},
		},
	}
}

// budgetCommand returns the subcommand, if there is a budget to ask about.
func budgetCommand(offered bool) []*discordgo.ApplicationCommandOption {
	if !offered {
		return nil
	}
	return []*discordgo.ApplicationCommandOption{{
		Type: discordgo.ApplicationCommandOptionSubCommand, Name: "budget", Description: "Show what may still be spent today",
	}}
}
