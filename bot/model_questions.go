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

// questionRows returns what a person answers a question of the model with: a menu, if there are choices, and a button
// that opens a form.
func questionRows(loc i18n.Locale, person string, choices []string) (rows []discordgo.MessageComponent) {
	row := func(c discordgo.MessageComponent) {
		rows = append(rows, discordgo.ActionsRow{Components: []discordgo.MessageComponent{c}})
	}
	if len(choices) > 0 {
		menu := discordgo.SelectMenu{CustomID: actionPrefix + actionChoose + ":" + person, Placeholder: loc.T("Choose an answer")}
		for _, c := range choices {
			menu.Options = append(menu.Options, discordgo.SelectMenuOption{Label: c, Value: c})
		}
		row(menu)
	}
	row(actionButton(loc.T("Answer in your own words"), actionAnswer, person))
	return rows
}

// mayAnswerModel reports whether who was asked, and tells them if not.
func (b *Bot) mayAnswerModel(ctx context.Context, i *discordgo.Interaction, asked string, who person) bool {
	if asked != who.id {
		b.tell(ctx, i, who.locale.T("Only <@%s> can answer that.", asked))
	}
	return asked == who.id
}

func (b *Bot) openAnswerForm(ctx context.Context, i *discordgo.Interaction, asked string, who person) {
	if !b.mayAnswerModel(ctx, i, asked, who) {
		return
	}
	b.openForm(ctx, i, discord.Form{
		ID: actionPrefix + actionAnswer + ":" + asked, Title: who.locale.T("Your answer"),
		Fields: []discord.FormField{{ID: fieldTask, Label: who.locale.T("Your answer"), Long: true, Max: maxTaskLength}},
	})
}

// answerModel goes on with a conversation in which the model has asked a person something.
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
