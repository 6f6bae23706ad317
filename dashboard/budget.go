package dashboard

import (
	"net/http"
	"time"

	"clank/internal/budget"
	"clank/internal/i18n"
	"clank/llm"
)

// budget serves the state of spending.
func (s *Server) budget(w http.ResponseWriter, r *http.Request) error {
	o, err := s.Budgets.Overview(r.Context())
	return writeResult(w, http.StatusOK, "read the budgets", o, err)
}

// amountText returns a text about amounts with plural forms and grouped digits: 1 of 2,000 calls.
func amountText(text string) string { return i18n.Locale("").Text(text) }

// budgetData is the data of the budget page.
type budgetData struct {
	Day   string
	Today []budgetRow
	Lists []budgetList
	Days  []budgetRow
	Calls []callRow
	Peak  float64 // the highest cost of a day
}

type budgetList struct {
	Name string
	Rows []budgetRow
}

// budgetRow is an amount spent and its limit.
type budgetRow struct {
	Name, Text  string
	Spent, Most float64 // Most is 0 if there is no limit
	Unpriced    int64
}

type callRow struct {
	At                       time.Time
	Model, Purpose, For, USD string
	Tokens                   int64
}

func (s *Server) budgetPage(w http.ResponseWriter, r *http.Request) error {
	if v := visitorOf(r); v.role < RoleOperator {
		return s.ownBudgetPage(w, r, v)
	}
	o, err := s.Budgets.Overview(r.Context())
	if err != nil {
		return failed("read the budgets", err)
	}
	nameOf, err := s.accountNames(r.Context(), nil)
	if err != nil {
		return err
	}
	data := budgetData{
		Day: o.Day, Today: todayRows(o.Today), Lists: []budgetList{
			{"Servers today", budgetRows(o.Guilds, func(id string) string { return nameOf(budget.CostByGuild, id) })},
			{"People today", budgetRows(o.Users, func(id string) string { return nameOf(budget.CostByUser, id) })},
		},
	}
	for _, d := range o.Days {
		data.Days = append(data.Days, budgetRow{
			Name: d.Key.Day, Text: amountText(d.Spent.String()), Spent: d.Spent.Money.USD(),
			Unpriced: d.Unpriced,
		})
		data.Peak = max(data.Peak, d.Spent.Money.USD())
	}
	for _, c := range o.Calls {
		data.Calls = append(data.Calls, callRowOf(c, nameOf))
	}
	return s.page(w, r, "budget", pageData{Title: "Costs · clank", Data: data})
}

// ownBudgetPage shows members their own spending and limits.
func (s *Server) ownBudgetPage(w http.ResponseWriter, r *http.Request, v visitor) error {
	lines, err := s.Budgets.Status(r.Context(), llm.Account{User: v.account()})
	if err != nil {
		return failed("read the budgets", err)
	}
	var data budgetData
	for _, l := range lines {
		if l.Key.Level == budget.LevelUser {
			data = budgetData{Day: l.Key.Day, Today: todayRows(l)}
		}
	}
	return s.page(w, r, "budget", pageData{Title: "Costs · clank", Data: data})
}

// todayRows returns a row for each kind of amount: money, calls, steps and so on.
func todayRows(l budget.LevelStatus) []budgetRow {
	row := func(name string, spent, most float64, of, limit budget.Amount) budgetRow {
		return budgetRow{Name: name, Text: amountText(of.Against(limit)), Spent: spent, Most: most}
	}
	s, m := l.Spent, l.Limit
	return []budgetRow{
		row("Money", s.Money.USD(), m.Money.USD(), budget.Amount{Money: s.Money}, budget.Amount{Money: m.Money}),
		row("Model calls", float64(s.Calls), float64(m.Calls), budget.Amount{Calls: s.Calls},
			budget.Amount{Calls: m.Calls}),
		row("Steps", float64(s.Steps), float64(m.Steps), budget.Amount{Steps: s.Steps}, budget.Amount{Steps: m.Steps}),
		row("Tokens", float64(s.Tokens), float64(m.Tokens), budget.Amount{Tokens: s.Tokens}, budget.Amount{Tokens: m.Tokens}),
		row("Time in tasks and calls", s.Time.Minutes(), m.Time.Minutes(), budget.Amount{Time: s.Time},
			budget.Amount{Time: m.Time}),
		row("Talk in calls", s.Talk.Minutes(), m.Talk.Minutes(), budget.Amount{Talk: s.Talk}, budget.Amount{Talk: m.Talk}),
	}
}

// budgetRows returns a row for each level with spending.
func budgetRows(lines []budget.LevelStatus, nameOf func(id string) string) []budgetRow {
	var rows []budgetRow
	for _, l := range lines {
		if l.Spent != (budget.Amount{}) {
			rows = append(rows, budgetRow{
				Name: nameOf(l.Key.ID), Text: amountText(l.String()),
				Spent: l.Spent.Money.USD(), Most: l.Limit.Money.USD(), Unpriced: l.Unpriced,
			})
		}
	}
	return rows
}

// callRowOf returns a call as the page shows it. Reserved and estimated costs are marked, and so are unknown prices.
func callRowOf(e budget.Entry, nameOf func(budget.CostKey, string) string) callRow {
	c := callRow{
		At: e.At, Model: e.Model, Purpose: e.Account.Purpose, For: nameOf(budget.CostByUser, e.Account.User),
		Tokens: e.Amount.Tokens, USD: e.Amount.Money.String(),
	}
	switch {
	case e.Unpriced:
		c.USD = "price not known"
	case e.State == budget.StateHeld:
		c.USD = "at most " + c.USD
	case e.State == budget.StateEstimated:
		c.USD += " (estimated)"
	}
	return c
}
