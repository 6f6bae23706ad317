package bot

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"clank/bot/discord"
	"clank/internal/watches"
	"clank/sessions"

	"github.com/bwmarrin/discordgo"
)

// Choices lists what a person may choose besides their own sessions and watches. Its methods must not block.
type Choices interface {
	// Models returns the names of models.
	Models() []string
	// Profiles returns the names of the browser profiles of the person of o.
	Profiles(o sessions.Origin) []string
}

const (
	maxChoices      = 25
	maxChoiceLength = 100
	typingTimeout   = 2500 * time.Millisecond // Discord waits three seconds
)

// onTyping returns completions of what a person types; none if they may not make requests.
func (b *Bot) onTyping(base context.Context, i *discordgo.Interaction, data discordgo.ApplicationCommandInteractionData,
	who person,
) {
	b.runShort(base, func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, typingTimeout)
		defer cancel()
		var list []discord.Choice
		if len(data.Options) > 0 {
			from := b.completeOrigin(ctx, originOf(i, who))
			if b.Host.Disabled(ctx, from) == "" {
				list = b.completions(ctx, from, data.Options[0].Options)
			}
		}
		if err := b.rest.Complete(ctx, i, list); err != nil {
			b.logger().Info("nothing completed", "error", err)
		}
	})
}

// completions returns what the option that has the focus could be.
func (b *Bot) completions(ctx context.Context, from sessions.Origin,
	options []*discordgo.ApplicationCommandInteractionDataOption,
) []discord.Choice {
	at := slices.IndexFunc(options, func(o *discordgo.ApplicationCommandInteractionDataOption) bool {
		return o != nil && o.Focused
	})
	if at < 0 {
		return nil
	}
	var list []discord.Choice
	switch options[at].Name {
	case "session":
		from.Private = from.Private || readBrowse(options).private
		list = b.sessionChoices(ctx, from)
	case "end":
		list = b.watchChoices(ctx, from)
	case "model":
		if b.Choices != nil {
			list = namedChoices(b.Choices.Models())
		}
	case "profile":
		if b.Choices != nil {
			list = namedChoices(b.Choices.Profiles(from))
		}
	}
	return matchingChoices(list, optionText(options, options[at].Name))
}

// matchingChoices returns the choices that contain what was typed, those that begin with it first.
func matchingChoices(list []discord.Choice, typed string) []discord.Choice {
	typed = strings.ToLower(typed)
	list = slices.DeleteFunc(list, func(c discord.Choice) bool {
		return c.Value == "" || len([]rune(c.Value)) > maxChoiceLength || !strings.Contains(strings.ToLower(c.Name), typed)
	})
	slices.SortStableFunc(list, func(x, y discord.Choice) int {
		rank := func(c discord.Choice) int {
			if strings.HasPrefix(strings.ToLower(c.Name), typed) {
				return 0
			}
			return 1
		}
		return cmp.Compare(rank(x), rank(y))
	})
	return list[:min(len(list), maxChoices)]
}

func namedChoices(names []string) []discord.Choice {
	list := make([]discord.Choice, len(names))
	for i, n := range names {
		list[i] = newChoice(n, n)
	}
	return list
}

// newChoice returns a choice with a name shortened to the limit.
func newChoice(value string, name ...string) discord.Choice {
	text := strings.Join(slices.DeleteFunc(name, func(part string) bool { return part == "" }), " · ")
	r := []rune(strings.Join(strings.Fields(text), " "))
	if len(r) > maxChoiceLength {
		r = append(r[:maxChoiceLength-1], '…')
	}
	return discord.Choice{Name: string(r), Value: value}
}

// sessionChoices returns the person's sessions in the channel that can be continued from there.
func (b *Bot) sessionChoices(ctx context.Context, from sessions.Origin) []discord.Choice {
	list, err := b.openSessions(ctx, from, 2*maxChoices)
	if err != nil {
		b.logger().Warn("sessions not listed", "error", err)
		return nil
	}
	choices := []discord.Choice{}
	for _, s := range list {
		choices = append(choices, newChoice(s.ID, s.ID, s.Title, s.URL))
	}
	return choices
}

// openSessions returns the sessions that the person of from can go on with there, last used first. What was kept
// private is not shown in public.
func (b *Bot) openSessions(ctx context.Context, from sessions.Origin, limit int) ([]sessions.Session, error) {
	list, err := b.Tasks.Sessions(ctx, sessions.SessionQuery{
		Of: &from, States: []sessions.SessionState{sessions.SessionIdle, sessions.SessionRunning, sessions.SessionParked},
		Limit: limit,
	})
	return slices.DeleteFunc(list, func(s sessions.Session) bool { return s.Origin.Private && !from.Private }), err
}

// watchChoices returns the person's watches.
func (b *Bot) watchChoices(ctx context.Context, from sessions.Origin) []discord.Choice {
	if b.Watches == nil {
		return nil
	}
	owner := watches.OwnerOf(from)
	list, err := b.Watches.List(ctx, watches.Query{Owner: &owner, Active: true, Limit: 2 * maxChoices})
	if err != nil {
		b.logger().Warn("watches not listed", "error", err)
		return nil
	}
	choices := []discord.Choice{}
	for _, w := range list {
		if w.Origin.Guild == from.Guild { // another place's are none of its business
			choices = append(choices, newChoice(w.ID, w.ID, w.URL, w.What))
		}
	}
	return choices
}
