package dashboard_test

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"clank/dashboard/api"
	"clank/internal/budget"
	"clank/internal/test/check"
	"clank/llm"
)

func TestCostsAreGroupedAndNamed(t *testing.T) {
	r := startActivity(t)
	r.spend(llm.Account{Task: "t1", Guild: "g1", User: "discord:u1"}, 1.25, budget.StateSettled)
	r.spend(llm.Account{Task: "t1", Guild: "g1", User: "discord:u1"}, 0.5, budget.StateEstimated)
	r.spend(llm.Account{Guild: "g9", User: "discord:=1+1"}, 0, budget.StateSettled)
	r.spend(llm.Account{}, 0.25, budget.StateHeld)
	today := time.Now().Format(time.DateOnly)
	for by, want := range map[string]string{
		"model":   "test:<b> 2.00 4 1",
		"server":  "Not from a server 0.25 1 0, Lumen & Co 1.75 2 0, Left: g9 0.00 1 1",
		"person":  "Operator 0.25 1 0, discord:=1+1 0.00 1 1, Ada 1.75 2 0",
		"runtime": "Not in tasks 0.25 2 1, local 1.75 2 0",
	} {
		_, body := r.ask("GET", "/api/costs?days=2&by="+by, "")
		report := decode[api.CostReport](t, body)
		var got []string
		for _, c := range report.Costs {
			check.Equal(t, by+": of day", c.Day, today)
			got = append(got, fmt.Sprintf("%s %.2f %d %d", c.Name, c.Amount.Money.USD(), c.Amount.Calls, c.Unpriced))
		}
		if strings.Join(got, ", ") != want || len(report.Days) != 2 || report.Days[1] != today {
			t.Errorf("by %s: %q on %v, want %q", by, got, report.Days, want)
		}
	}
	res := r.do("GET", "/api/costs.csv?by=person", "")
	defer res.Body.Close()
	rows, err := csv.NewReader(res.Body).ReadAll()
	check.Must(t, err)
	if len(rows) != 4 || strings.Join(rows[3], "|") != today+"|discord:u1|Ada|1.75|2|0|0" || rows[0][1] != "person" {
		t.Errorf("as a table: %q", rows)
	}
	for _, query := range []string{"by=colour", "days=0", "days=367", "days=x"} {
		for _, path := range []string{"/api/costs?", "/api/costs.csv?"} {
			if status, body := r.ask("GET", path+query, ""); status != http.StatusBadRequest {
				t.Errorf("%s%s: %d %s", path, query, status, body)
			}
		}
	}
}

func TestThePageOfCostsDrawsThem(t *testing.T) {
	r, c, tb := arrive(t, 1280, 860, "dark")
	tb.goTo(r.server.URL() + "/budget")
	tb.waitFor(`!document.getElementById("costs-none").hidden && !document.querySelector("#chart canvas")`)
	r.spend(llm.Account{User: "discord:42"}, 1.25, budget.StateSettled)
	tb.Eval(`(() => { const by = document.querySelector("#costs [name=by]"); by.value = "person"; by.dispatchEvent(new Event("change", { bubbles: true })); })()`)
	tb.waitFor(`document.querySelector("#chart canvas")?.width > 300`)
	if got := tb.Eval(`document.querySelector("#costs-table tbody").innerText.replace(/\s+/g, " ").trim()`); got != "discord:42 1.25 1 0" {
		t.Errorf("the table says %q", got)
	}
	c.clean()
}
