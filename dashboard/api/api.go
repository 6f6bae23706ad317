package api

import (
	"encoding/json"
	"time"

	"clank/browsermgr/profile"
	"clank/internal/budget"
	"clank/internal/settings"
	"clank/internal/watches"
	"clank/sessions"
	"clank/sessions/approval"
)

// Health says that a server is there.
type Health struct {
	OK      bool   `json:"ok"`
	Version string `json:"version"`
}

// Weakness is a way in which an installation protects less than it could, in words for people.
type Weakness struct {
	Name    string `json:"name"`
	Serious bool   `json:"serious"`
	What    string `json:"what"` // what was found
	Why     string `json:"why"`  // it matters
	Fix     string `json:"fix"`
}

// SignIn is a browser that is signed in. User and Name are those of its Discord account; without, it is the operator's.
type SignIn struct {
	ID      string    `json:"id"`
	User    string    `json:"user,omitempty"`
	Name    string    `json:"name"`
	From    string    `json:"from"`    // the address that it signed in from
	Browser string    `json:"browser"` // as it names itself
	Since   time.Time `json:"since"`
	Until   time.Time `json:"until"`
	Mine    bool      `json:"mine,omitempty"` // it is the one that asks
}

// SignInsEnd signs browsers out: one, or all that whoever asks sees.
type SignInsEnd struct {
	ID  string `json:"id,omitempty"`
	All bool   `json:"all,omitempty"`
}

// SetupState says how one part of the set-up stands.
type SetupState string

// The states of a part of the set-up.
const (
	SetupReady    SetupState = "ready"
	SetupOptional SetupState = "optional" // clank works without it
	SetupMissing  SetupState = "missing"  // tasks cannot be done without it
)

// What can be entered for a part of the set-up.
const (
	AsksModel   = "model"   // which one, and its key
	AsksDiscord = "discord" // the bot's token
)

// ServiceKey is a key to keep for a service, under the name that it has in the environment.
type ServiceKey struct {
	Name  string `json:"name"`
	Value string `json:"value"` // empty: forget it
}

// SetupCheck is one thing that clank works with, in words for people.
type SetupCheck struct {
	Name     string     `json:"name"`
	State    SetupState `json:"state"`
	Detail   string     `json:"detail"`
	Fix      string     `json:"fix,omitempty"` // what to do about it
	Link     string     `json:"link,omitempty"`
	LinkText string     `json:"link_text,omitempty"`
	Testable bool       `json:"testable,omitempty"` // it is the model, which can be asked for a word
	Asks     string     `json:"asks,omitempty"`     // what can be entered for it: [AsksModel] or [AsksDiscord]
}

// ModelTest is what came of asking the model for a word.
type ModelTest struct {
	Text string `json:"text"`
}

// TaskRequest asks for a task.
type TaskRequest struct {
	Prompt    string              `json:"prompt"`
	SessionID string              `json:"session_id,omitempty"` // to go on with; empty = a new one
	Runtime   string              `json:"runtime,omitempty"`
	Profile   string              `json:"profile,omitempty"`
	Model     string              `json:"model,omitempty"`
	MaxSteps  int                 `json:"max_steps,omitempty"`
	MaxUSD    float64             `json:"max_usd,omitempty"` // what its models may cost; 0 = what the settings say
	Headed    bool                `json:"headed,omitempty"`
	Origin    sessions.OriginKind `json:"origin,omitempty"` // dashboard (the default) or terminal
	Typed     bool                `json:"typed,omitempty"`  // a person typed the prompt, see [sessions.Task]
	Allow     []string            `json:"allow,omitempty"`  // classes of actions that need no question, see [sessions.Task]
	Files     []string            `json:"files,omitempty"`  // ids of files that were sent, see [Client.SendFile]
	Asks      bool                `json:"asks,omitempty"`   // whoever follows the task answers its questions
}

// TaskStarted says that a task is in line or running.
type TaskStarted struct {
	TaskID    string             `json:"task_id"`
	SessionID string             `json:"session_id"`
	State     sessions.TaskState `json:"state"`
	Position  int                `json:"position,omitempty"`
}

// TasksStopped says which tasks a stop reached.
type TasksStopped struct {
	Stopped []string `json:"stopped"`
}

// TaskView is a task with its steps. Pictures are named by their media type and
// have no data; they have routes of their own.
type TaskView struct {
	Task  sessions.TaskRecord `json:"task"`
	Steps []sessions.Step     `json:"steps"`

	// Questions of the task wait for an answer. Only the stream of a task has them.
	Questions []approval.Question `json:"questions,omitempty"`
}

// PageLog is what the page of a task said and asked for while the task ran. The names of secrets have no values.
type PageLog struct {
	Open     bool          `json:"open"` // the page is still open; of one that is closed nothing is known
	Console  []ConsoleLine `json:"console"`
	Requests []PageRequest `json:"requests"`
}

// ConsoleLine is a message of a page's console, or an error that the page did not catch.
type ConsoleLine struct {
	At   string `json:"at"`
	Type string `json:"type"`
	Text string `json:"text"`
	From string `json:"from,omitempty"` // the script and line
}

// PageRequest is one exchange of a page with a server.
type PageRequest struct {
	At      string `json:"at"`
	Method  string `json:"method"`
	URL     string `json:"url"`
	Type    string `json:"type"`
	Status  int    `json:"status,omitempty"`
	Failure string `json:"failure,omitempty"`
}

// ScriptSaved says that a task was saved as a script. Notes say what of it is not in there.
type ScriptSaved struct {
	Name  string   `json:"name"`
	Notes []string `json:"notes,omitempty"`
}

// ReplayEnd says how a replay came out.
type ReplayEnd struct {
	Matches bool   `json:"matches"` // all went as recorded
	Text    string `json:"text"`
}

// SessionView is a session, without what its Backend remembers, and the first
// thing that was asked in it, as far as that is recent.
type SessionView struct {
	sessions.Session

	Prompt string `json:"prompt,omitempty"`
}

// Film says whether a task was filmed, and when its steps begin there.
type Film struct {
	Filmed   bool      `json:"filmed"`
	Chapters []Chapter `json:"chapters"`
}

// Chapter is a part of a film. Step is the number of a step, or larger than any for what was left out.
type Chapter struct {
	Step  uint64  `json:"step"`
	At    float64 `json:"at"` // in seconds
	Title string  `json:"title"`
}

// FilmRequest says whether the tasks of a session are filmed. Possible says that people may choose.
type FilmRequest struct {
	On       bool `json:"on"`
	Possible bool `json:"possible,omitempty"`
}

// SettingView is a setting as the page shows it. Value and Default have the
// form they are stored in; both are absent for a secret.
type SettingView struct {
	Key         string          `json:"key"`
	Group       string          `json:"group"`
	Label       string          `json:"label"`
	Effect      string          `json:"effect"`
	Kind        string          `json:"kind"`
	Value       json.RawMessage `json:"value,omitempty"`
	Default     json.RawMessage `json:"default,omitempty"`
	DefaultText string          `json:"default_text,omitempty"` // as people read it
	Limits      string          `json:"limits,omitempty"`       // as people read them
	Changed     bool            `json:"changed,omitempty"`      // it differs from the default
	Problem     string          `json:"problem,omitempty"`      // why the stored value is not used
	Present     bool            `json:"present,omitempty"`      // of a secret: it is there
}

// SettingsView is all settings, and the version a change must be based on.
type SettingsView struct {
	Settings  []SettingView              `json:"settings"`
	Version   string                     `json:"version"`
	Intent    map[string]json.RawMessage `json:"intent"`    // what was set by hand, by key
	Effective map[string]json.RawMessage `json:"effective"` // what is in force: intent over preset over defaults
	Bindings  []settings.RuntimeBinding  `json:"bindings"`  // what that comes to for each runtime
	Meta      SettingsMeta               `json:"_meta"`

	// After a change: it is saved and in force.
	Applied *bool `json:"saveAppliedToRuntime,omitempty"`
}

// SettingsMeta is about versions. UpdatedAt is the same as [SettingsView.Version];
// whoever sends settings says with ExpectedUpdatedAt which ones they have seen.
type SettingsMeta struct {
	UpdatedAt         string   `json:"updatedAt"`
	ExpectedUpdatedAt *string  `json:"expectedUpdatedAt,omitempty"`
	PresetByHand      []string `json:"presetByHand,omitempty"` // what was set by hand although the preset says something about it
}

// SettingsChange changes settings: by key the new value in its stored form, or
// null for the default; or else Intent is everything that is to be set by hand.
// Version is that of the [SettingsView] it is based on; it may stand in Meta too.
type SettingsChange struct {
	Changes map[string]json.RawMessage `json:"changes,omitempty"`
	Intent  map[string]json.RawMessage `json:"intent,omitempty"`
	Version *string                    `json:"version,omitempty"`
	Meta    *SettingsMeta              `json:"_meta,omitempty"`
	// Check refuses what is possible but will not work as things are, with the code settings_doubtful.
	Check bool `json:"check,omitempty"`
}

// SettingsReset sets settings back to what the preset says, or to their defaults: those in Keys, or, without any,
// those that the preset says something about.
type SettingsReset struct {
	Keys []string      `json:"keys,omitempty"`
	Meta *SettingsMeta `json:"_meta"`
}

// SettingsImport makes the JSON with comments in Text all that is set by hand.
type SettingsImport struct {
	Text    string  `json:"text"`
	Version *string `json:"version"`
}

// LoginLink is an address that opens the page signed in, once.
type LoginLink struct {
	URL string `json:"url"`
}

// PresetPreview is what choosing a preset would do.
type PresetPreview struct {
	Preset  settings.Preset         `json:"preset"`
	Effects []settings.PresetEffect `json:"effects"`
	Meta    SettingsMeta            `json:"_meta"`
}

// NoteRequest is what is said to a task that runs or waits.
type NoteRequest struct {
	Text   string              `json:"text"`
	Origin sessions.OriginKind `json:"origin,omitempty"` // dashboard or terminal
}

// NoteAccepted tells which task will hear it.
type NoteAccepted struct {
	TaskID string `json:"task_id"`
}

// Channels of the tasks that come in here, see [sessions.Origin].
const (
	PageChannel     = "dashboard"
	TerminalChannel = "terminal"
)

// PrivateText stands for what was asked and answered privately. The operator of the machine sees that it runs, for
// whom, and what it costs; what it is about stays between clank and the person.
const PrivateText = "(private)"

// ErrorResponse is the JSON form of an error. Its text is for people.
type ErrorResponse struct {
	Error string `json:"error"`
}

// StepEvent is a step of a task, as the event "step" tells it.
type StepEvent struct {
	TaskID string        `json:"task_id"`
	Step   sessions.Step `json:"step"`
}

// PageSnapshot is where the page stands: its sessions, and the tasks that wait or run.
type PageSnapshot struct {
	Sessions []SessionView `json:"sessions"`
	Tasks    []TaskView    `json:"tasks"`

	// Questions wait for an answer, whatever door their tasks came through.
	Questions []approval.Question `json:"questions"`
}

// AnswerRequest answers a question.
type AnswerRequest struct {
	Allow      bool `json:"allow"`
	ForSession bool `json:"for_session,omitempty"`
	// Reason is why it is a no without anybody's answer: who follows the question cannot wait any longer.
	Reason string `json:"reason,omitempty"`
}

// LinkRequest asks for a link to the page of a session.
type LinkRequest struct {
	Session string `json:"session"`           // empty: the one that was used last
	Control bool   `json:"control,omitempty"` // to work the page, too
	Seconds int    `json:"seconds,omitempty"` // how long it works; 0: as long as links do
	User    string `json:"user,omitempty"`    // the id of the Discord account that it is for; empty: who opens it first
}

// LinkView is a link to the page of a session.
type LinkView struct {
	ID      string       `json:"id"`
	Session string       `json:"session"`
	Title   string       `json:"title,omitempty"`
	Control bool         `json:"control"`
	By      string       `json:"by"` // who made it
	Until   time.Time    `json:"until"`
	User    string       `json:"user,omitempty"`  // the Discord account that it is for
	Name    string       `json:"name,omitempty"`  // of that person, once they have signed in
	Opened  time.Time    `json:"opened,omitzero"` // by whoever has it
	URL     string       `json:"url,omitempty"`   // told once, to who makes it
	Viewers []LinkViewer `json:"viewers"`
}

// LinkViewer is somebody who watches with a link.
type LinkViewer struct {
	From  string    `json:"from"` // their address, or the network it is in
	Since time.Time `json:"since"`
}

// LinksRevoked tells how many links are void now.
type LinksRevoked struct {
	Count int `json:"count"`
}

// SharingCheck is one thing that links need, and whether it is there.
type SharingCheck struct {
	Name   string `json:"name"`
	Ready  bool   `json:"ready"`
	Detail string `json:"detail"`
}

// WatchRequest asks for a watch; see [watches.Condition].
type WatchRequest struct {
	URL      string              `json:"url"`
	What     string              `json:"what,omitempty"`
	Kind     watches.Kind        `json:"kind,omitempty"`
	Number   float64             `json:"number,omitempty"`
	Currency string              `json:"currency,omitempty"`
	Text     string              `json:"text,omitempty"`
	Near     string              `json:"near,omitempty"`
	Every    int                 `json:"every_minutes,omitempty"`
	Days     int                 `json:"days,omitempty"`
	Origin   sessions.OriginKind `json:"origin,omitempty"` // dashboard (the default) or terminal
}

// WatchView is a watch as people see it. Of one that was asked for privately there is only that it is there.
type WatchView struct {
	ID      string          `json:"id"`
	For     string          `json:"for"` // who is told
	URL     string          `json:"url"`
	What    string          `json:"what"`
	Kind    watches.Kind    `json:"kind"`
	Every   int             `json:"every_minutes"`
	Until   time.Time       `json:"until"`
	State   watches.State   `json:"state"`
	Reason  string          `json:"reason,omitempty"`
	Next    time.Time       `json:"next"`
	Checked time.Time       `json:"checked"`
	Problem string          `json:"problem,omitempty"`
	Value   string          `json:"value,omitempty"` // the number that is watched, as the page writes it
	Met     bool            `json:"met,omitempty"`
	Last    *watches.Notice `json:"last,omitempty"` // what was told last
}

// NewWatchView returns w as shown to people.
func NewWatchView(w watches.Watch) WatchView {
	v := WatchView{
		ID: w.ID, For: w.Origin.UserName, URL: w.URL, What: w.What, Kind: w.Kind, Every: int(w.Every / time.Minute), Until: w.Until,
		State: w.State, Reason: w.Reason, Next: w.NextCheck, Checked: w.CheckedAt, Problem: w.Problem, Value: w.Seen.Value, Met: w.Seen.Met, Last: w.LastNotice,
	}
	if v.For == "" && w.Origin.Kind != sessions.FromDiscord {
		v.For = "you"
	}
	if w.Origin.Private {
		v.URL, v.What, v.Problem, v.Reason, v.Value, v.Last = "", PrivateText, "", "", "", nil
	}
	return v
}

// CostReport is what was spent on the last days.
type CostReport struct {
	By    budget.CostKey `json:"by"`
	Days  []string       `json:"days"`
	Costs []CostView     `json:"costs"`
}

// CostView is what was spent on a day for something that people call Name.
type CostView struct {
	budget.Cost

	Name string `json:"name"`
}

// Discord is how clank stands with Discord.
type Discord struct {
	Status  string          `json:"status"`            // in words
	Limited bool            `json:"limited,omitempty"` // Discord hides what is said without mentioning the bot
	Shards  []DiscordShard  `json:"shards,omitempty"`
	Servers []DiscordServer `json:"servers,omitempty"`
}

// DiscordShard is one of the connections to Discord.
type DiscordShard struct {
	Number    int       `json:"number"`
	Connected bool      `json:"connected"`
	Since     time.Time `json:"since,omitzero"`
	Problem   string    `json:"problem,omitempty"` // why it is not connected
	Servers   int       `json:"servers"`
}

// DiscordServer is a server that the bot is on.
type DiscordServer struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// States of a profile's browser.
const (
	BrowserRunning   = "running"
	BrowserSuspended = "suspended" // it does not run; its sessions open their pages again when they go on
	BrowserOff       = "off"
)

// BrowserView is a profile, with what runs of it.
type BrowserView struct {
	profile.Info

	State    string       `json:"state"`
	Owner    string       `json:"owner"`    // whose place it is: "You", a Discord server, a person
	Sessions int          `json:"sessions"` // that can be gone on with
	Ours     bool         `json:"ours"`     // we start and end the browser
	Lasting  bool         `json:"lasting"`  // it can be neither renamed nor deleted
	Tabs     []BrowserTab `json:"tabs"`
}

// BrowserTab is a tab of a browser that runs.
type BrowserTab struct {
	ID      string `json:"id"`
	Title   string `json:"title"`
	URL     string `json:"url,omitempty"`
	Session string `json:"session,omitempty"` // that works it
}

// BrowserStart says how a browser is to start.
type BrowserStart struct {
	Headed bool `json:"headed"`
}

// BrowserOpen is a page to be opened.
type BrowserOpen struct {
	URL string `json:"url"`
}

// RefusalView is a host that pages were refused.
type RefusalView struct {
	At        time.Time `json:"at"` // of the last time
	Count     int       `json:"count"`
	Rule      string    `json:"rule"`
	Host      string    `json:"host"`
	Address   string    `json:"address,omitempty"` // that the host led to
	URL       string    `json:"url,omitempty"`
	Text      string    `json:"text"` // what was refused, why, and the way out
	Owner     string    `json:"owner"`
	Session   string    `json:"session,omitempty"` // whose page asked
	Title     string    `json:"title,omitempty"`
	Private   bool      `json:"private,omitempty"` // what was asked is not told
	Named     bool      `json:"named,omitempty"`   // the host is allowed, but not that address
	Allowable bool      `json:"allowable"`         // by one entry in the settings
	Allowed   bool      `json:"allowed"`           // that entry is there now
}

// Allowance names a refusal that is to be lifted, or with Undo, to hold again.
type Allowance struct {
	Rule    string `json:"rule"`
	Host    string `json:"host"`
	Address string `json:"address"`
	Undo    bool   `json:"undo"`
}

// TokenName names a token.
type TokenName struct {
	Name string `json:"name"`
}

// NewName names something: a new one, one that is there, or one anew.
type NewName struct {
	Name string `json:"name"`
}

// Transcript is what was said in a call.
type Transcript struct {
	Name    string           `json:"name"`
	At      time.Time        `json:"at"` // it began
	Guild   string           `json:"guild,omitempty"`
	Channel string           `json:"channel"`
	Place   string           `json:"place"` // where it was, for people
	People  []string         `json:"people"`
	Count   int              `json:"count"` // of its lines
	Lines   []TranscriptLine `json:"lines"` // all of them, or those that a search found
}

// TranscriptLine is something that was said; By is empty where clank said it.
type TranscriptLine struct {
	At   time.Time `json:"at"`
	By   string    `json:"by,omitempty"`
	Text string    `json:"text"`
}
