package server

import (
	"context"
	"strings"

	"clank/bot"
	"clank/internal/assistant"
	"clank/internal/budget"
	"clank/llm"
	"clank/sessions"
	"clank/sessions/agent"
)

// ChargedReplier is a brain whose calls of models belong to the person it answers.
type ChargedReplier struct{ bot.Replier }

// Reply implements [bot.Replier].
func (b ChargedReplier) Reply(ctx context.Context, t assistant.Turn, watch func(assistant.Progress)) (assistant.Answer, error) {
	account := llm.Account{Guild: t.Origin.Guild, Channel: t.Origin.Channel, User: agent.PersonID(t.Origin), Purpose: "talk"}
	return b.Replier.Reply(llm.WithAccount(ctx, account), t, watch)
}

// BudgetsForDiscord returns a function that reads what /clank budget shows.
func BudgetsForDiscord(k *budget.Enforcer) func(context.Context, sessions.Origin, bool) (bot.Budgets, error) {
	return func(ctx context.Context, o sessions.Origin, people bool) (v bot.Budgets, err error) {
		lines, err := k.Status(ctx, llm.Account{Guild: o.Guild, User: agent.PersonID(o)})
		if err != nil {
			return v, err
		}
		for _, l := range lines {
			switch l.Key.Level {
			case budget.LevelUser:
				v.Mine = l.String()
			case budget.LevelGuild:
				v.Server = l.String()
			case budget.LevelDay:
				v.Today = l.String()
			case budget.LevelTask, budget.LevelSession:
			}
		}
		if !people {
			return v, nil
		}
		users, err := k.UserStatus(ctx, o.Guild)
		for _, l := range users {
			id, _ := strings.CutPrefix(l.Key.ID, string(sessions.FromDiscord)+":")
			v.People = append(v.People, bot.PersonBudget{User: id, Spent: l.Spent.String()})
		}
		return v, err
	}
}
