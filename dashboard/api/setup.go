package api

// SetupState is the state of one part of the setup.
type SetupState string

// States of a part of the setup.
const (
	SetupReady    SetupState = "ready"
	SetupOptional SetupState = "optional" // clank works without it
	SetupMissing  SetupState = "missing"  // tasks cannot run without it
)

// Values that can be entered for a part of the setup.
const (
	AsksModel   = "model"   // a provider and its key
	AsksDiscord = "discord" // the bot's token
)

// Ways to test a part of the setup.
const (
	TestsModel = "model" // sends the model a short prompt
	TestsVoice = "voice" // synthesizes a phrase and transcribes it
)

// ServiceKey is the key of a service to store, under the name of its environment variable.
type ServiceKey struct {
	Name  string `json:"name"`
	Value string `json:"value"` // empty deletes it
}

// SetupCheck is a component that clank needs and its state, described for people.
type SetupCheck struct {
	Name     string     `json:"name"`
	State    SetupState `json:"state"`
	Detail   string     `json:"detail"`
	Fix      string     `json:"fix,omitempty"` // what to do about it
	Link     string     `json:"link,omitempty"`
	LinkText string     `json:"link_text,omitempty"`
	Test     string     `json:"test,omitempty"` // how to test it: [TestsModel] or [TestsVoice]
	Asks     string     `json:"asks,omitempty"` // what can be entered: [AsksModel] or [AsksDiscord]
}

// VoiceCheck is the result of testing a part of the speech services. If it failed, Text includes what to do.
type VoiceCheck struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	Text string `json:"text"`
}

// ModelTest is the result of a test prompt.
type ModelTest struct {
	Text string `json:"text"`
}
