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

// How a part of the set-up can be tried.
const (
	TestsModel = "model" // it is asked for a word
	TestsVoice = "voice" // something is said, and to be understood
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
	Test     string     `json:"test,omitempty"` // how it can be tried: [TestsModel] or [TestsVoice]
	Asks     string     `json:"asks,omitempty"` // what can be entered for it: [AsksModel] or [AsksDiscord]
}

// VoiceCheck is what came of trying a part of what calls hear and speak with. Text also says what to do where it is not OK.
type VoiceCheck struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	Text string `json:"text"`
}

// ModelTest is what came of asking the model for a word.
type ModelTest struct {
	Text string `json:"text"`
}
