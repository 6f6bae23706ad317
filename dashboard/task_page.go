package dashboard

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"clank/browsermgr/page/action/actiontable"
	"clank/cancel"
	"clank/dashboard/api"
	"clank/internal/recording"
	"clank/llm"
	"clank/sessions"
)

// TaskTools are the operations on a recorded task other than running it.
type TaskTools interface {
	// PageLog returns the console messages and requests of the task's page, if the page is still open.
	PageLog(t sessions.TaskRecord) api.PageLog
	// SaveScript saves the record of a task as a script. notes lists what the script leaves out.
	SaveScript(task, name string) (notes []string, err error)
	// Replay repeats the recorded steps on live pages and calls report with the outcome of each.
	Replay(ctx context.Context, task string, report func(recording.StepComparison)) (recording.ReplaySummary, error)
}

// taskData is the data of a task's page and of its readable export.
type taskData struct {
	activityRow

	Steps    []taskStep
	Took     string // how long it ran; empty while it runs
	Tokens   string
	Effects  []string // labels of the steps whose effects a replay would repeat
	Answer   string   // the text of the answer
	Exported time.Time
	Images   []template.URL // images of the answer, if they are embedded in the page
	Ended    bool
	Closed   bool // its session cannot be resumed
}

// taskStep is a step as the page shows it.
type taskStep struct {
	sessions.Step

	Took    string
	Tokens  string
	Cost    string
	Call    string // the tool and its input
	Picture string // URL of the screenshot
	Inline  template.URL
}

// isReadOnly reports whether the tool of an agent changes nothing but what the window shows.
func isReadOnly(tool string) bool {
	name, ofPage := strings.CutPrefix(tool, "browser_")
	return ofPage && slices.ContainsFunc(actiontable.Tools(), func(s actiontable.Spec) bool {
		return s.Tool == name && s.ReadOnly
	}) ||
		slices.Contains([]string{
			"browser_open", "browser_snapshot", "browser_extract", "browser_links", "browser_screenshot", "browser_tabs",
			"read_text", "screenshot", "scroll", "wait", "hover",
		}, tool)
}

func (s *Server) taskPage(w http.ResponseWriter, r *http.Request) error {
	t, err := s.seenTask(r, "id")
	if err != nil {
		return err
	}
	data, err := s.readTask(r, t)
	if err != nil {
		return err
	}
	return s.page(w, r, "task", pageData{Title: "Task · clank", Data: data})
}

// readTask collects the data of a task's page. If the visitor may not read the task, it contains only who asked,
// where, and the cost.
func (s *Server) readTask(r *http.Request, t sessions.TaskRecord) (taskData, error) {
	rows, err := s.activityRows(r, []sessions.TaskRecord{t}, s.serverNames())
	if err != nil {
		return taskData{}, err
	}
	data := taskData{activityRow: rows[0], Ended: t.State.Final(), Answer: rows[0].Answer, Tokens: tokensText(t.Usage)}
	data.Closed = t.Closed
	if se, err := s.Manager.Session(r.Context(), t.SessionID); err != nil || se.State == sessions.SessionClosed {
		data.Closed = true
	}
	if !t.Started.IsZero() && !t.Ended.IsZero() {
		data.Took = tookText(t.Ended.Sub(t.Started))
	}
	if data.Hidden {
		data.Answer = ""
		return data, nil
	}
	steps, err := s.Manager.Steps(r.Context(), t.ID)
	if err != nil {
		return taskData{}, failed("read the task's steps", err)
	}
	before := t.Started
	for _, st := range shownSteps(steps, true) {
		row := taskStep{Step: st, Tokens: tokensText(st.Usage)}
		if st.Phase == sessions.PhaseDone && !before.IsZero() && st.Kind != sessions.StepNotice {
			row.Took = tookText(st.At.Sub(before))
		}
		before = st.At
		if st.Usage.USD > 0 {
			row.Cost = costText(st.Usage.USD, st.Usage.Unpriced)
		}
		if st.Tool != "" {
			row.Call = strings.TrimSpace(st.Tool + " " + compactJSON(st.Input))
		}
		if st.View != nil {
			row.Picture = fmt.Sprintf("/api/steps/%s/%d/view", url.PathEscape(t.ID), st.N)
		}
		if st.Kind == sessions.StepAct && !st.Failed && !isReadOnly(st.Tool) {
			data.Effects = append(data.Effects, st.Label)
		}
		data.Steps = append(data.Steps, row)
	}
	return data, nil
}

// compactJSON returns a tool's input on one line.
func compactJSON(input json.RawMessage) string {
	var b bytes.Buffer
	if len(input) == 0 || json.Compact(&b, input) != nil || b.String() == "{}" {
		return ""
	}
	return b.String()
}

// tookText formats a duration: "0.4 s", "12 s", "2 min 5 s".
func tookText(d time.Duration) string {
	switch {
	case d < 0:
		return ""
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	}
	d = d.Round(time.Second)
	return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
}

// tokensText formats the tokens that a model read and wrote.
func tokensText(u llm.Usage) string {
	if u.InputTokens+u.OutputTokens == 0 {
		return ""
	}
	text := fmt.Sprintf("%d tokens read", u.InputTokens)
	if u.CachedTokens > 0 {
		text += fmt.Sprintf(" (%d from the cache)", u.CachedTokens)
	}
	return text + fmt.Sprintf(", %d written", u.OutputTokens)
}

// pageLog serves the console messages and requests of a task's page.
func (s *Server) pageLog(w http.ResponseWriter, r *http.Request) error {
	t, err := s.readableTask(r, "id")
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, s.Tools.PageLog(t))
}

// exportTask serves a task as one readable page without scripts, or as JSON, for download.
func (s *Server) exportTask(w http.ResponseWriter, r *http.Request) error {
	t, err := s.readableTask(r, "id")
	if err != nil {
		return err
	}
	kind, content, write := "html", "text/html", s.exportHTML
	if r.PathValue("kind") == "json" {
		kind, content, write = "json", "application/json", s.exportJSON
	} else if r.PathValue("kind") != "html" {
		return refuse(http.StatusNotFound, "a task can be had as html or as json")
	}
	data, err := write(r, t)
	if err != nil {
		return err
	}
	s.auditExport(r, t, "task as "+kind)
	setDownload(w, content+"; charset=utf-8", "task-"+t.ID+"."+kind)
	_, _ = w.Write(data) // fails only if the client has gone
	return nil
}

func (s *Server) exportHTML(r *http.Request, t sessions.TaskRecord) ([]byte, error) {
	data, err := s.readTask(r, t)
	if err != nil {
		return nil, err
	}
	data.Exported = time.Now()
	for i, st := range data.Steps {
		if st.View == nil {
			continue
		}
		if im, err := s.Manager.View(r.Context(), t.ID, st.N); err == nil { // skip a screenshot deleted in the meantime
			data.Steps[i].Inline = inlineImage(im)
		}
	}
	for _, im := range t.Images {
		data.Images = append(data.Images, inlineImage(im))
	}
	var b bytes.Buffer
	if err := s.site.pages["report"].Execute(&b, pageData{Title: t.Prompt, Version: s.Version, Data: data}); err != nil {
		return nil, failed("write the task down", err)
	}
	return b.Bytes(), nil
}

// inlineImage returns an image as a data: URL, or "" if its type is not one that pages may show.
func inlineImage(im llm.Image) template.URL {
	if !slices.Contains(pictureTypes, im.MediaType) || len(im.Data) == 0 {
		return ""
	}
	return template.URL("data:" + im.MediaType + ";base64," + //nolint:gosec // known types only
		base64.StdEncoding.EncodeToString(im.Data))
}

func (s *Server) exportJSON(r *http.Request, t sessions.TaskRecord) ([]byte, error) {
	view, err := s.view(r.Context(), visitorOf(r), t.ID)
	if err != nil {
		return nil, failed("read the task", err)
	}
	data, err := json.MarshalIndent(view, "", "  ")
	if err != nil {
		return nil, failed("write the task down", err)
	}
	return append(data, '\n'), nil
}

// retryTask runs a task's prompt again in a new session, as the operator, with the operator's browser and rights.
func (s *Server) retryTask(w http.ResponseWriter, r *http.Request) error {
	if err := readJSON(r, new(struct{})); err != nil {
		return err
	}
	t, err := s.readableTask(r, "id")
	switch {
	case err != nil:
		return err
	case !t.State.Final():
		return refuse(http.StatusConflict, "this task has not ended yet")
	case len(t.Files) > 0:
		return refuse(http.StatusConflict, "this task came with files: attach them again in the chat")
	}
	again := sessions.Task{
		Prompt: t.Prompt, Runtime: t.Runtime, Model: t.Model, MaxSteps: t.MaxSteps, Headed: t.Headed,
		Profile: t.Profile,
	}
	again.Origin, _ = originOf(sessions.FromDashboard)
	if t.Origin.Private {
		again.Origin = visitorOf(r).privately(again.Origin)
	}
	if t.Origin.Kind == sessions.FromDiscord {
		again.Profile = "" // it may be reserved for that server
	}
	started, err := s.begin(r.Context(), again, false)
	return writeStarted(w, "start the task", started, err)
}

// saveScript saves what a task did as a script.
func (s *Server) saveScript(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Name string `json:"name"`
	}
	if err := readJSON(r, &in); err != nil {
		return err
	}
	t, err := s.readableTask(r, "id")
	switch {
	case err != nil:
		return err
	case t.Origin.Private:
		return refuse(http.StatusConflict, "this task is private, and every operator can read a script")
	}
	notes, err := s.Tools.SaveScript(t.ID, in.Name)
	switch {
	case errors.Is(err, recording.ErrRunNotFound):
		return refuse(http.StatusNotFound, "this task was not recorded")
	case err != nil:
		return refuse(http.StatusConflict, "%v", err)
	}
	return writeJSON(w, http.StatusOK, api.ScriptSaved{Name: in.Name, Notes: notes})
}

// replayTask repeats the steps of a task without its model until the client disconnects. It streams "step" events and
// ends with "end" or "error".
func (s *Server) replayTask(w http.ResponseWriter, r *http.Request) error {
	if err := readJSON(r, new(struct{})); err != nil {
		return err
	}
	t, err := s.readableTask(r, "id")
	switch {
	case err != nil:
		return err
	case !s.Runs.Has(t.ID):
		return refuse(http.StatusNotFound, "this task was not recorded")
	case !t.State.Final():
		return refuse(http.StatusConflict, "this task has not ended yet")
	}
	work := cancel.Work{ID: "replay-" + sessions.RandomID(6), Label: "replay of " +
		shownRecord(t, !t.Origin.Private).Prompt}
	ctx, handle := s.Scopes.Begin(r.Context(), cancel.Scope{Channel: api.PageChannel}, work)
	defer handle.End()
	st, ok := openStream(w)
	if !ok {
		return nil
	}
	summary, err := s.Tools.Replay(ctx, t.ID, func(c recording.StepComparison) {
		if !st.sendJSON("", "step", c) {
			handle.Stop(&cancel.Cause{Reason: cancel.Gone})
		}
	})
	if err != nil {
		st.sendJSON("", "error", api.ErrorResponse{Error: err.Error()})
		return nil
	}
	st.sendJSON("", "end", api.ReplayEnd{Matches: summary.Matches(), Text: summary.String()})
	return nil
}
