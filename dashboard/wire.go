package dashboard

import (
	"encoding/json"

	"clank/consent"
	"clank/sessions"
	"clank/settings"
)

// Health says that a server is there.
type Health struct {
	OK      bool   `json:"ok"`
	Version string `json:"version"`
}

// TaskRequest asks for a task.
type TaskRequest struct {
	Prompt    string              `json:"prompt"`
	SessionID string              `json:"session_id,omitempty"` // to go on with; empty = a new one
	Runtime   string              `json:"runtime,omitempty"`
	Profile   string              `json:"profile,omitempty"`
	Model     string              `json:"model,omitempty"`
	MaxSteps  int                 `json:"max_steps,omitempty"`
	Headed    bool                `json:"headed,omitempty"`
	Origin    sessions.OriginKind `json:"origin,omitempty"` // dashboard (the default) or terminal
	Allow     []string            `json:"allow,omitempty"`  // classes of actions that need no question, see [sessions.Task]
	Asks      bool                `json:"asks,omitempty"`   // whoever follows the task answers its questions
}

// Started says that a task is in line or running.
type Started struct {
	TaskID    string             `json:"task_id"`
	SessionID string             `json:"session_id"`
	State     sessions.TaskState `json:"state"`
	Position  int                `json:"position,omitempty"`
}

// Stopped says which tasks a stop reached.
type Stopped struct {
	Stopped []string `json:"stopped"`
}

// TaskView is a task with its steps. Pictures are named by their media type and
// have no data; they have routes of their own.
type TaskView struct {
	Task  sessions.Record `json:"task"`
	Steps []sessions.Step `json:"steps"`

	// Questions of the task wait for an answer. Only the stream of a task has them.
	Questions []consent.Question `json:"questions,omitempty"`
}

// SessionView is a session, without what its Backend remembers, and the first
// thing that was asked in it, as far as that is recent.
type SessionView struct {
	sessions.Session

	Prompt string `json:"prompt,omitempty"`
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
	Bindings  []settings.Binding         `json:"bindings"`  // what that comes to for each runtime
	Meta      SettingsMeta               `json:"_meta"`

	// After a change: it is saved; whether everything took it up, and if not, why.
	Applied    *bool  `json:"saveAppliedToRuntime,omitempty"`
	ApplyError string `json:"saveApplyError,omitempty"`
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
}

// SettingsReset sets settings back to what the preset says, or to their
// defaults: those in Keys, or, without any, those that the preset says
// something about.
type SettingsReset struct {
	Keys []string      `json:"keys,omitempty"`
	Meta *SettingsMeta `json:"_meta"`
}

// PresetPreview is what choosing a preset would do.
type PresetPreview struct {
	Preset  settings.Preset         `json:"preset"`
	Effects []settings.PresetEffect `json:"effects"`
	Meta    SettingsMeta            `json:"_meta"`
}

// Saying is what is said to a task that runs or waits.
type Saying struct {
	Text   string              `json:"text"`
	Origin sessions.OriginKind `json:"origin,omitempty"` // dashboard or terminal
}

// Said tells which task will hear it.
type Said struct {
	TaskID string `json:"task_id"`
}

// hidden stands for what was asked and answered privately. The operator of the machine sees that it runs, for whom, and what
// it costs; what it is about stays between clank and the person.
const hidden = "(private)"

// light returns r without the data of its pictures, and without what is nobody else's business if it is private.
func light(r sessions.Record) sessions.Record {
	if r.Origin.Private {
		r.Prompt, r.Images, r.Reason = hidden, nil, ""
		if r.Answer != "" {
			r.Answer = hidden
		}
		return r
	}
	r.Images = named(r.Images)
	return r
}

// lightStep returns a step of a task without the data of its pictures; of a private one, that there was one.
func lightStep(of sessions.Record, st sessions.Step) sessions.Step {
	if of.Origin.Private {
		return privately(st)
	}
	st.Images = named(st.Images)
	if st.View != nil {
		st.View = &sessions.Image{MediaType: st.View.MediaType}
	}
	return st
}

// privately returns st without what it did and what the page showed.
func privately(st sessions.Step) sessions.Step {
	return sessions.Step{N: st.N, Kind: st.Kind, Phase: st.Phase, Label: hidden, Failed: st.Failed, Usage: st.Usage, At: st.At}
}

// lightQuestion returns q without what it is about if its task is private.
func lightQuestion(q consent.Question) consent.Question {
	if q.Private {
		q.Text, q.Detail, q.Origin, q.Session = "Do something that was asked for privately", "", "", ""
	}
	return q
}

func lightSteps(of sessions.Record, steps []sessions.Step) []sessions.Step {
	out := make([]sessions.Step, len(steps))
	for i, st := range steps {
		out[i] = lightStep(of, st)
	}
	return out
}

func named(images []sessions.Image) []sessions.Image {
	var out []sessions.Image
	for _, im := range images {
		out = append(out, sessions.Image{MediaType: im.MediaType})
	}
	return out
}
