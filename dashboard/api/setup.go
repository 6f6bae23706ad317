package api

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
