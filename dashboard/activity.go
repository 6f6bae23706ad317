package dashboard

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"clank/internal/budget"
	"clank/sessions"
)

// activityPerPage is the number of tasks on one page of the activity list.
const activityPerPage = 40

// stateFilter is a group of task states to filter by.
type stateFilter struct {
	value, name string
	states      []sessions.TaskState
}

var stateFilters = []stateFilter{
	{"working", "Working or waiting", []sessions.TaskState{sessions.TaskQueued, sessions.TaskRunning}},
	{"done", "Done", []sessions.TaskState{sessions.TaskDone}},
	{"limited", "Ended at a limit", []sessions.TaskState{sessions.TaskLimited}},
	{"stopped", "Stopped", []sessions.TaskState{sessions.TaskStopped}},
	{"failed", "Failed", []sessions.TaskState{sessions.TaskFailed, sessions.TaskInterrupted}},
}

// sourceNames are the display names of task origins.
var sourceNames = map[sessions.OriginKind]string{
	sessions.FromDiscord: "Discord", sessions.FromDashboard: "Dashboard", sessions.FromTerminal: "Terminal",
}

// taskQuery reads the filter from a query string: session, origin, server, person, state, runtime, model, usd
// (minimum), q (words), before (a time) and limit.
func taskQuery(q url.Values, limit int) (sessions.TaskQuery, error) {
	query := sessions.TaskQuery{
		Session: q.Get("session"), Kind: sessions.OriginKind(q.Get("origin")), Guild: q.Get("server"), User: q.Get("person"),
		Runtime: q.Get("runtime"), Model: q.Get("model"), Words: q.Get("q"), Limit: limit,
	}
	if text := q.Get("state"); text != "" {
		i := slices.IndexFunc(stateFilters, func(f stateFilter) bool { return f.value == text })
		if i < 0 {
			return query, refuse(http.StatusBadRequest, "state must be working, done, limited, stopped or failed")
		}
		query.States = stateFilters[i].states
	}
	if text := q.Get("usd"); text != "" {
		usd, err := strconv.ParseFloat(text, 64)
		if err != nil || usd < 0 || math.IsInf(usd, 0) || math.IsNaN(usd) {
			return query, refuse(http.StatusBadRequest, "usd must be an amount, such as 0.05")
		}
		query.MinUSD = usd
	}
	if text := q.Get("before"); text != "" {
		before, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			return query, refuse(http.StatusBadRequest, "before must be a time as in RFC 3339")
		}
		query.Before = before
	}
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 200 {
			return query, refuse(http.StatusBadRequest, "limit must be from 1 to 200")
		}
		query.Limit = n
	}
	return query, nil
}

// activityData is the data of the activity page.
type activityData struct {
	Words, USD string
	Selects    []activitySelect
	Filtered   bool // a filter other than the words is set
	Tasks      []activityRow
	Older      string // URL of the older tasks; empty if there are none
	Later      bool   // these are not the newest
}

// activitySelect is a filter with its choices.
type activitySelect struct {
	Name, Label, Chosen string
	Options             []namedValue
}

type namedValue struct{ Value, Name string }

// activityRow is a task in the list.
type activityRow struct {
	sessions.TaskRecord

	Hidden     bool // someone else asked for it privately
	Who, Where string
	StateName  string
	Sign       string // CSS class of the state: "working", "done" or "bad"
	Step       string // the last step
	Picture    string // URL of the last screenshot
	Cost       string
	MayAct     bool // the visitor may steer it
	MayStop    bool
}

func (s *Server) activityPage(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	query, err := taskQuery(q, activityPerPage)
	if err != nil {
		return err
	}
	query.SeenBy = visitorOf(r).sight()
	tasks, err := s.Manager.Tasks(r.Context(), query)
	if err != nil {
		return failed("list the tasks", err)
	}
	data := activityData{Words: query.Words, USD: q.Get("usd"), Later: !query.Before.IsZero()}
	servers := s.serverNames()
	if data.Tasks, err = s.activityRows(r, tasks, servers); err != nil {
		return err
	}
	if data.Selects, err = s.activitySelects(r.Context(), query.SeenBy, q, servers); err != nil {
		return err
	}
	data.Filtered = data.USD != "" ||
		slices.ContainsFunc(data.Selects, func(f activitySelect) bool { return f.Chosen != "" })
	if len(tasks) == query.Limit {
		q.Set("before", tasks[len(tasks)-1].Asked.Format(time.RFC3339Nano))
		data.Older = "/activity?" + q.Encode()
	}
	return s.page(w, r, "activity", pageData{Title: "Activity · clank", Data: data})
}

// serverNames returns the names of the Discord servers by id.
func (s *Server) serverNames() map[string]string {
	names := make(map[string]string)
	for _, g := range s.Discord.State().Servers {
		names[g.ID] = g.Name
	}
	return names
}

func (s *Server) activityRows(
	r *http.Request, tasks []sessions.TaskRecord, servers map[string]string,
) ([]activityRow, error) {
	v := visitorOf(r)
	ids := make([]string, len(tasks))
	for i, t := range tasks {
		ids[i] = t.ID
	}
	steps, err := s.Manager.LastSteps(r.Context(), ids)
	if err != nil {
		return nil, failed("read the last steps", err)
	}
	rows := make([]activityRow, len(tasks))
	for i, t := range tasks {
		o := t.Origin
		mayRead := v.mayRead(o)
		row := activityRow{TaskRecord: shownRecord(t, mayRead), Hidden: !mayRead, Where: s.placeName(o, servers)}
		row.Who = cmp.Or(o.UserName, o.User, "You")
		row.StateName, row.Sign = stateName(t)
		row.MayAct = v.mayAct(o)
		row.MayStop = !t.State.Final() && (row.MayAct || o.User == v.id || s.anyoneMayStop())
		if !row.Hidden {
			last := steps[t.ID]
			row.Step = last.Label
			if last.View > 0 {
				row.Picture = fmt.Sprintf("/api/steps/%s/%d/view", url.PathEscape(t.ID), last.View)
			}
		}
		if t.Usage.USD > 0 || t.Usage.Unpriced {
			row.Cost = costText(t.Usage.USD, t.Usage.Unpriced)
		}
		rows[i] = row
	}
	return rows, nil
}

// placeName returns where a task was asked for: the server and channel, or the kind of origin.
func (s *Server) placeName(o sessions.Origin, servers map[string]string) string {
	if o.Kind != sessions.FromDiscord || o.Guild == "" {
		if o.Kind == sessions.FromDiscord {
			return "Direct message"
		}
		return cmp.Or(sourceNames[o.Kind], string(o.Kind))
	}
	place := cmp.Or(servers[o.Guild], "A server that clank has left")
	if name := s.Discord.ChannelName(o.Guild, o.Channel); name != "" {
		place += " · #" + name
	}
	return place
}

// stateName returns the display name of a task's state and its CSS class.
func stateName(t sessions.TaskRecord) (name, sign string) {
	switch t.State {
	case sessions.TaskQueued:
		if t.Position > 0 && t.Shortage == sessions.ShortMemory {
			return fmt.Sprintf("Number %d in line, until there is more memory", t.Position), "waiting"
		}
		if t.Position > 0 {
			return fmt.Sprintf("Number %d in line", t.Position), "waiting"
		}
		return "Waiting", "waiting"
	case sessions.TaskRunning:
		return "Working", "working"
	case sessions.TaskDone:
		return "Done", "done"
	case sessions.TaskLimited:
		return "Ended at a limit", "limited"
	case sessions.TaskStopped:
		return "Stopped", "limited"
	case sessions.TaskInterrupted:
		return "Interrupted", "bad"
	case sessions.TaskFailed:
	}
	return "Failed", "bad"
}

// activitySelects returns the filters of the page.
func (s *Server) activitySelects(
	ctx context.Context, by *sessions.Sight, q url.Values, servers map[string]string,
) ([]activitySelect, error) {
	f, err := s.Manager.TaskFacets(ctx, by)
	if err != nil {
		return nil, failed("read what tasks differ in", err)
	}
	var states, sources, guilds, people []namedValue
	for _, st := range stateFilters {
		states = append(states, namedValue{st.value, st.name})
	}
	for _, kind := range listedOrigins {
		if by != nil {
			break // they only see tasks from Discord
		}
		sources = append(sources, namedValue{string(kind), sourceNames[kind]})
	}
	for _, id := range f.Guilds {
		guilds = append(guilds, namedValue{id, cmp.Or(servers[id], "Left: "+id)})
	}
	for _, p := range f.People {
		people = append(people, namedValue{p.ID, cmp.Or(p.Name, p.ID)})
	}
	selects := []activitySelect{
		{Name: "state", Label: "State", Options: states},
		{Name: "origin", Label: "Source", Options: sources},
		{Name: "server", Label: "Server", Options: guilds},
		{Name: "person", Label: "Person", Options: people},
		{Name: "runtime", Label: "Runtime", Options: namesOf(f.Runtimes)},
		{Name: "model", Label: "Model", Options: namesOf(f.Models)},
	}
	var shown []activitySelect
	for _, sel := range selects {
		sel.Chosen = q.Get(sel.Name)
		if len(sel.Options) > 0 || sel.Chosen != "" {
			shown = append(shown, sel)
		}
	}
	return shown, nil
}

// namesOf returns values that are their own display names.
func namesOf(values []string) (named []namedValue) {
	for _, v := range values {
		named = append(named, namedValue{v, v})
	}
	return named
}

// costText formats a cost: "0.0123 USD", or "at least" that if the price of some calls is unknown.
func costText(usd float64, unpriced bool) string {
	text := budget.Dollars(usd).String() + " USD"
	if unpriced {
		return "at least " + text
	}
	return text
}
