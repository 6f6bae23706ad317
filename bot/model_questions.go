package bot

import (
	"context"
	"time"

	"clank/bot/discord"
	"clank/internal/assistant"
	"clank/internal/i18n"
	"clank/sessions"

	"github.com/bwmarrin/discordgo"
)

// questionRows returns the components to answer a model's question: a menu, if there are choices, and a button that
// opens a form.
func questionRows(loc i18n.Locale, person string, choices []string) (rows []discordgo.MessageComponent) {
	row := func(c discordgo.MessageComponent) {
		rows = append(rows, discordgo.ActionsRow{Components: []discordgo.MessageComponent{c}})
	}
	if menu := choiceMenu(loc, actionPrefix+actionChoose+":"+person, choices); len(menu.Options) > 0 {
		row(menu)
	}
	row(actionButton(loc.T("Answer in your own words"), actionAnswer, person))
	return rows
}

// choiceMenu returns a menu of what a question of the model can be answered with.
func choiceMenu(loc i18n.Locale, id string, choices []string) discordgo.SelectMenu {
	menu := discordgo.SelectMenu{CustomID: id, Placeholder: loc.T("Choose an answer")}
	for _, c := range choices {
		menu.Options = append(menu.Options, discordgo.SelectMenuOption{Label: c, Value: c})
	}
	return menu
}

// wordsForm returns the form for an answer in a person's own words.
func wordsForm(loc i18n.Locale, id string) discord.Form {
	return discord.Form{
		ID: id, Title: loc.T("Your answer"),
		Fields: []discord.FormField{{ID: fieldTask, Label: loc.T("Your answer"), Long: true, Max: maxTaskLength}},
	}
}

// mayAnswerModel reports whether who is the person that was asked, and tells them if not.
func (b *Bot) mayAnswerModel(ctx context.Context, i *discordgo.Interaction, asked string, who person) bool {
	if asked != who.id {
		b.replyPrivately(ctx, i, who.locale.T("Only <@%s> can answer that.", asked))
	}
	return asked == who.id
}

func (b *Bot) openAnswerForm(ctx context.Context, i *discordgo.Interaction, asked string, who person) {
	if !b.mayAnswerModel(ctx, i, asked, who) {
		return
	}
	b.openForm(ctx, i, wordsForm(who.locale, actionPrefix+actionAnswer+":"+asked))
}

// answerModel continues a conversation in which the model has asked a person something.
func (b *Bot) answerModel(ctx context.Context, i *discordgo.Interaction, asked, answer string, typed bool, who person) {
	if !b.mayAnswerModel(ctx, i, asked, who) {
		return
	}
	now := &discordgo.Message{ID: i.ID, ChannelID: i.ChannelID, Timestamp: time.Now(), ReferencedMessage: i.Message}
	b.converseOn(ctx, i, answer, typed, who, func(
		ctx context.Context, _ sessions.Origin,
	) ([]assistant.ChatLine, []sessions.File, error) {
		return b.conversation(ctx, now), nil, nil
	})
}
