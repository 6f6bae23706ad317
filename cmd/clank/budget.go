package main

import (
	"context"
	"strings"

	"clank/bot"
	"clank/brain"
	"clank/budget"
	"clank/llm"
	"clank/sessions"
	"clank/sessions/working"
)

// accounted is a brain whose calls of models belong to the person it answers.
type accounted struct{ bot.Replier }

// Reply implements [bot.Replier].
func (b accounted) Reply(ctx context.Context, t brain.Turn, watch func(brain.Progress)) (brain.Answer, error) {
	account := llm.Account{Guild: t.Origin.Guild, Channel: t.Origin.Channel, User: working.Person(t.Origin), Purpose: "talk"}
	return b.Replier.Reply(llm.WithAccount(ctx, account), t, watch)
}

// discordBudgets is what /clank budget tells.
func discordBudgets(k *budget.Keeper) func(context.Context, sessions.Origin, bool) (bot.Budgets, error) {
	return func(ctx context.Context, o sessions.Origin, people bool) (v bot.Budgets, err error) {
		lines, err := k.Left(ctx, llm.Account{Guild: o.Guild, User: working.Person(o)})
		if err != nil {
			return v, err
		}
		for _, l := range lines {
			switch l.Key.Level {
			case budget.User:
				v.Mine = l.String()
			case budget.Guild:
				v.Server = l.String()
			case budget.Day:
				v.Today = l.String()
			case budget.Task, budget.Session:
			}
		}
		if !people {
			return v, nil
		}
		users, err := k.Users(ctx, o.Guild)
		for _, l := range users {
			id, _ := strings.CutPrefix(l.Key.ID, string(sessions.FromDiscord)+":")
			v.People = append(v.People, bot.PersonBudget{User: id, Spent: l.Spent.String()})
		}
		return v, err
	}
}
