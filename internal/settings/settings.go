package settings

import (
	"strings"
	"time"

	"clank/sessions/access"
)

// Settings is an immutable snapshot of all settings. For their meaning see the table, [Fields].
type Settings struct {
	BrowserEnabled    bool
	Headed            bool
	Profile           string // name or folder; empty means a new one for each start
	BrowserPath       string // empty means to search for it
	Browser           Browser
	NetworkAccess     NetworkAccess
	AgentMode         string     // see the Mode constants
	AgentModel        string     // "provider:model"
	BrowsesPerHour    TaskLimits // within any hour, from Discord; 0 means none
	MaxSteps          int
	StepTimeout       time.Duration
	TabTimeout        time.Duration // of a tab that is not used
	AssistantModel    string        // "provider:model"; empty means no assistant
	AssistantGuidance string
	AssistantBrowser  bool // the assistant can use a browser itself, besides starting the agent
	BrowserTool       BrowserTool
	CompatibleURL     string // base URL of an OpenAI-compatible server
	Vision            Vision
	SessionTimeout    time.Duration
	MaxSessions       int
	MaxTasks          int
	MinFreeMemory     int // percent of the machine's; 0 means none
	TaskLimits        TaskLimits
	TaskTimeout       time.Duration
	DrainTimeout      time.Duration // for tasks that are running at shutdown
	ThreadAfter       time.Duration // duration of a Discord task after which its answer goes into a thread; 0 means never
	WhoMayStop        string        // see the Stop constants
	Approval          Approval
	Access            Access
	Language          string // of texts for everyone on Discord; empty means the server's preferred language
	Server            Server // of the current server; empty if there is none, see [Manager.For]
	Web               Web
	Voice             Voice
	Share             Share
	Dashboard         Dashboard
	Budget            Budget
	RetentionInDays   int    // 0 means forever
	Record            string // see the Record constants

	Preset            string // see [FindPreset]
	Runtime           string // see the Runtime constants
	HandOver          string // see the HandOver constants
	OpenAIComputer    OpenAIComputer
	AnthropicComputer AnthropicComputer
	GeminiComputer    GeminiComputer
}

// Browser configures how browsers are started and used.
type Browser struct {
	EvaluateEnabled  bool // clients may run scripts in pages
	NoSandbox        bool
	DevToolsPort     bool
	AttachOnly       bool   // attach to browsers, never start them
	ExtraArgs        string // one flag per line, see [Browser.Args]
	Color            string // #RRGGBB, of the default profile
	MaxRunning       int    // browsers running at the same time
	FirstPort        int    // first of the 100 DevTools ports for profiles
	RemoteTimeout    time.Duration
	RemoteHandshake  time.Duration
	LaunchTimeout    time.Duration
	ReadyTimeout     time.Duration
	ActionTimeout    time.Duration
	SnapshotMode     string // see the Snapshot constants
	MaxDownload      int    // in MiB
	MaxFiles         int    // in GiB, for all downloads, pictures, traces, records and transcripts
	MaxPlaceFiles    int    // in GiB, for the downloads and records of one server, or of one person in private
	MaxTaskFiles     int    // in GiB, for the downloads of one task's session
	MinFree          int    // in GiB, to be kept free on the disk
	MaxUpload        int    // in MiB, for the files of one upload together
	TabCleanup       bool
	TabIdle          time.Duration
	TabsPerSession   int
	TabSweepInterval time.Duration
	FreezeAfter      time.Duration // for pages of sessions without a running task; 0 means never
}

// Access configures who may use clank, and with which browser profiles; see [Access.Rules].
type Access struct {
	Guilds    string // ids, parsed by [access.ParseIDs]
	Channels  string
	People    string
	Direct    bool
	Profiles  string // lines, parsed by [access.ParseGrants]
	Operators string // ids
	// ServerFields names the settings that managers may change for their server, separated by spaces.
	ServerFields string
	Models       string // models that people may choose in Discord besides the default, separated by spaces or lines
}

// Rules returns the rules described by the texts. A list that cannot be parsed, which was refused when it was set,
// contains nobody.
func (a Access) Rules() access.Rules {
	return access.Rules{
		Guilds: readIDs(a.Guilds), Channels: readIDs(a.Channels), People: readIDs(a.People), Direct: a.Direct,
		Profiles: readGrants(a.Profiles), Operators: readIDs(a.Operators),
	}
}

// BrowserTool configures the tool "browser" of the assistant and of MCP clients.
type BrowserTool struct {
	AllowHost    bool
	SandboxURL   string // of another control API; its token is in the secret CLANK_SANDBOX_TOKEN
	Nodes        string // one "name url" per line, see [BrowserTool.NodeList]
	NodeMode     string // see the Node constants
	Node         string
	NodeProfiles string // profiles lent to other machines, separated by spaces; "" means the default one
}

// Values of [BrowserTool.NodeMode].
const (
	NodeAuto   = "auto"
	NodeManual = "manual"
	NodeOff    = "off"
)

// Node is another clank whose browsers can be used. Its token is the secret CLANK_NODE_TOKEN.
type Node struct{ Name, URL string }

// NodeList parses Nodes. Invalid lines, which were refused when they were set, are skipped.
func (t BrowserTool) NodeList() []Node {
	var out []Node
	for line := range strings.Lines(t.Nodes) {
		if f := strings.Fields(line); len(f) == 2 {
			out = append(out, Node{f[0], f[1]})
		}
	}
	return out
}

// Args returns the flags of ExtraArgs.
func (b Browser) Args() []string { return strings.Fields(b.ExtraArgs) }

// Values of [Browser.SnapshotMode].
const (
	SnapshotFull      = ""
	SnapshotEfficient = "efficient"
)

// TaskLimits limits the tasks, searches or calls of one guild and of one person.
type TaskLimits struct {
	Guild, User int
}

// Values of [Settings.AgentMode].
const (
	ModeDisabled  = "disabled"             // nobody can browse
	ModeInherit   = "inherit_orchestrator" // the assistant's model drives the browser
	ModeDedicated = "dedicated_model"      // AgentModel drives the browser
)

// Values of [Settings.WhoMayStop].
const (
	StopRequester = "requester_and_moderators"
	StopAnyone    = "anyone"
)

// Values of [Settings.Record].
const (
	RecordNever     = "never"
	RecordOnRequest = "on_request"
	RecordAlways    = "always"
)

// Defaults returns the default settings.
func Defaults() Settings {
	var s Settings
	for _, f := range settingsTable {
		if f.path != nil {
			f.assign(&s, f.Default)
		}
	}
	return s
}
