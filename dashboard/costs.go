package dashboard

import (
	"cmp"
	"context"
	"encoding/csv"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"clank/dashboard/api"
	"clank/internal/budget"
	"clank/sessions"
)

const (
	defaultCostDays = 30
	maxCostDays     = 366
)

// costs serves the spending of the last ?days= days, grouped by model, server, person or runtime (?by=). Members get
// their own.
func (s *Server) costs(w http.ResponseWriter, r *http.Request) error {
	report, err := s.costReport(r)
	return writeResult(w, http.StatusOK, "read what was spent", report, err)
}

// costsCSV serves the same as CSV (RFC 4180).
func (s *Server) costsCSV(w http.ResponseWriter, r *http.Request) error {
	report, err := s.costReport(r)
	if err != nil {
		return err
	}
	setDownload(w, "text/csv; charset=utf-8", "costs.csv")
	table := csv.NewWriter(w)
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	// It fails only if the client has gone.
	_ = table.Write([]string{"day", string(report.By), "name", "usd", "calls", "tokens", "calls_without_price"})
	for _, c := range report.Costs {
		_ = table.Write([]string{
			c.Day, cellText(c.ID), cellText(c.Name), strconv.FormatFloat(c.Amount.Money.USD(), 'f', -1, 64),
			number(c.Amount.Calls), number(c.Amount.Tokens), number(c.Unpriced),
		})
	}
	table.Flush()
	return nil
}

// cellText keeps spreadsheets from evaluating a name as a formula.
func cellText(text string) string {
	if text != "" && strings.Contains("=+-@", text[:1]) {
		return "'" + text
	}
	return text
}

func (s *Server) costReport(r *http.Request) (api.CostReport, error) {
	report := api.CostReport{By: cmp.Or(budget.CostKey(r.FormValue("by")), budget.CostByModel)}
	if !slices.Contains(budget.CostKeys, report.By) {
		return report, refuse(http.StatusBadRequest, "by must be one of %v", budget.CostKeys)
	}
	days := defaultCostDays
	if text := r.FormValue("days"); text != "" {
		var err error
		if days, err = strconv.Atoi(text); err != nil || days < 1 || days > maxCostDays {
			return report, refuse(http.StatusBadRequest, "days must be from 1 to %d", maxCostDays)
		}
	}
	v := visitorOf(r)
	if v.role < RoleOperator && report.By == budget.CostByUser {
		return report, refuse(http.StatusForbidden, "only the operator sees what others spend")
	}
	costs, dates, err := s.Budgets.Costs(r.Context(), report.By, days, v.account())
	if err != nil {
		return report, failed("read what was spent", err)
	}
	nameOf, err := s.accountNames(r.Context(), v.sight())
	if err != nil {
		return report, err
	}
	report.Days, report.Costs = dates, make([]api.CostView, len(costs))
	for i, c := range costs {
		report.Costs[i] = api.CostView{Cost: c, Name: nameOf(report.By, c.ID)}
	}
	return report, nil
}

// accountNames returns a function that returns the display name of the subject of a cost.
func (s *Server) accountNames(
	ctx context.Context, seenBy *sessions.Sight,
) (func(by budget.CostKey, id string) string, error) {
	f, err := s.Manager.TaskFacets(ctx, seenBy)
	if err != nil {
		return nil, failed("read who asked for tasks", err)
	}
	people, servers := make(map[string]string), s.serverNames()
	for _, p := range f.People {
		people[p.ID] = p.Name
	}
	none := map[budget.CostKey]string{
		budget.CostByModel: "No model", budget.CostByGuild: "Not from a server", budget.CostByUser: "Operator",
		budget.CostByRuntime: "Not in tasks",
	}
	return func(by budget.CostKey, id string) string {
		switch {
		case id == "":
			return none[by]
		case by == budget.CostByGuild:
			return cmp.Or(servers[id], "Left: "+id)
		case by == budget.CostByUser:
			_, user, _ := strings.Cut(id, ":") // the part after the origin
			return cmp.Or(people[user], id)
		}
		return id
	}, nil
}
