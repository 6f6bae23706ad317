package bot

import (
	"context"
	"fmt"
	"strings"

	"clank/bot/discord"
	"clank/sessions"
)

// BudgetReader returns limits and what is left of them, including the people of the server if people is set.
type BudgetReader interface {
	Budgets(ctx context.Context, o sessions.Origin, people bool) (Budgets, error)
}

// Budgets are spending and limits, as English text: "0.80 of 1.00 USD". Empty fields do not concern the person who
// asks.
type Budgets struct {
	Mine, Server, Today string
	People              []PersonBudget // of the server, the most first
}

// PersonBudget holds the spending of one person; User is the id.
type PersonBudget struct{ User, Spent string }

// budgetText returns the answer of /clank budget. Moderators see what the people of
// the server have spent.
func (b *Bot) budgetText(ctx context.Context, from sessions.Origin, who person) string {
	if b.Budgets == nil {
		return who.locale.T("There is no budget here.")
	}
	if why := b.Host.Disabled(ctx, b.completeOrigin(ctx, from)); why != "" {
		return who.locale.Sentence(why)
	}
	ctx, cancel := context.WithTimeout(ctx, shortTimeout)
	defer cancel()
	v, err := b.Budgets.Budgets(ctx, from, from.Guild != "" && who.actor(who.bits).Moderator)
	if err != nil {
		b.logger().Error("budget not read", "error", err)
		return who.locale.T("The budget cannot be read just now. Please try again.")
	}
	var lines []string
	if v.Mine != "" {
		lines = append(lines, who.locale.T("You today: %s", who.locale.Text(v.Mine)))
	}
	if v.Server != "" {
		lines = append(lines, who.locale.T("This server today: %s", who.locale.Text(v.Server)))
	}
	if v.Today != "" {
		lines = append(lines, who.locale.T("Everybody today: %s", who.locale.Text(v.Today)))
	}
	if len(v.People) > 0 {
		lines = append(lines, who.locale.T("In this server today:"))
	}
	for _, p := range v.People {
		name := who.locale.T("somebody")
		if p.User != "" {
			name = "<@" + p.User + ">"
		}
		line := fmt.Sprintf("- %s: %s", name, who.locale.Text(p.Spent))
		if discord.MessageLength(strings.Join(lines, "\n")+"\n"+line) > discord.MaxMessageLength {
			break
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
