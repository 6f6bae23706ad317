package settings

import (
	"strings"
	"time"

	"clank/sessions/access"
)

// Settings is a snapshot of every setting. It is a value: it never changes
// under its reader. What each one does stands in the table, see [Fields].
type Settings struct {
	BrowserEnabled    bool
	Headed            bool
	Profile           string // name or folder; empty = a fresh one for each start
	BrowserPath       string // empty = found by itself
	Browser           Browser
	NetworkAccess     NetworkAccess
	AgentMode         string     // see the Mode constants
	AgentModel        string     // "provider:model"
	BrowsesPerHour    TaskLimits // within any hour, from Discord; 0 = none
	MaxSteps          int
	StepTimeout       time.Duration
	TabTimeout        time.Duration // of a tab nobody uses
	AssistantModel    string        // "provider:model"; empty = no brain
	AssistantGuidance string
	AssistantBrowser  bool // the brain works a browser itself, besides sending the agent
	BrowserTool       BrowserTool
	CompatibleURL     string // base URL of an OpenAI-compatible server
	Vision            Vision
	SessionTimeout    time.Duration
	MaxSessions       int
	MaxTasks          int
	MinFreeMemory     int // percent of the machine's; 0 = none
	TaskLimits        TaskLimits
	TaskTimeout       time.Duration
	DrainTimeout      time.Duration // for tasks that run when the program is ended
	ThreadAfter       time.Duration // of a task in Discord whose answer goes into a thread; 0 is never
	WhoMayStop        string        // see the Stop constants
	Approval          Approval
	Access            Access
	Language          string // of what everybody reads on Discord; empty = what the server at hand prefers
	Server            Server // of the server at hand; empty where there is none, see [Manager.For]
	Web               Web
	Voice             Voice
	Share             Share
	Dashboard         Dashboard
	Budget            Budget
	RetentionInDays   int    // 0 = for ever
	Record            string // see the Record constants

	Preset            string // see [FindPreset]
	Runtime           string // see the Runtime constants
	HandOver          string // see the HandOver constants
	OpenAIComputer    OpenAIComputer
	AnthropicComputer AnthropicComputer
	GeminiComputer    GeminiComputer
}

// Browser configures how browsers are started and worked.
type Browser struct {
	EvaluateEnabled  bool // scripts of clients may run in pages
	NoSandbox        bool
	DevToolsPort     bool
	AttachOnly       bool   // browsers are joined, never started
	ExtraArgs        string // one flag a line, see [Browser.Args]
	Color            string // #RRGGBB, of the default profile
	MaxRunning       int    // browsers that run at once
	FirstPort        int    // of the DevTools ports that profiles get, 100 in all
	RemoteTimeout    time.Duration
	RemoteHandshake  time.Duration
	LaunchTimeout    time.Duration
	ReadyTimeout     time.Duration
	ActionTimeout    time.Duration
	SnapshotMode     string // see the Snapshot constants
	MaxDownload      int    // in MiB
	MaxFiles         int    // in GiB, of all downloads, pictures, traces, records and transcripts
	MaxPlaceFiles    int    // in GiB, of the downloads and records of one server, or of one person in private
	MaxTaskFiles     int    // in GiB, of the downloads of one task's session
	MinFree          int    // in GiB, that stay free on the disk
	MaxUpload        int    // in MiB, of the files of one upload together
	TabCleanup       bool
	TabIdle          time.Duration
	TabsPerSession   int
	TabSweepInterval time.Duration
	FreezeAfter      time.Duration // of pages of sessions without a task; 0 = never
}

// Access configures who may use clank, and with which browser profile; see [Access.Rules].
type Access struct {
	Guilds    string // ids, as [access.ParseIDs] reads them
	Channels  string
	People    string
	Direct    bool
	Profiles  string // lines, as [access.ParseGrants] reads them
	Operators string // ids
	// ServerFields names what the managers of a server may set for it, separated by spaces.
	ServerFields string
	Models       string // names, separated by spaces or lines, that people may choose in Discord besides the one that is set
}

// Rules returns the rules that the texts describe. A list that cannot be read, which was refused when it was
// set, names nobody.
func (a Access) Rules() access.Rules {
	return access.Rules{
		Guilds: readIDs(a.Guilds), Channels: readIDs(a.Channels), People: readIDs(a.People), Direct: a.Direct,
		Profiles: readGrants(a.Profiles), Operators: readIDs(a.Operators),
	}
}

// BrowserTool configures where and how the tool "browser" works, which brains and MCP clients have.
type BrowserTool struct {
	AllowHost    bool
	SandboxURL   string // of another control API; its token is the secret CLANK_SANDBOX_TOKEN
	Nodes        string // one "name url" a line, see [BrowserTool.NodeList]
	NodeMode     string // see the Node constants
	Node         string
	NodeProfiles string // that other machines may use here, separated by spaces; "" = the default one
}

// Values of [BrowserTool.NodeMode].
const (
	NodeAuto   = "auto"
	NodeManual = "manual"
	NodeOff    = "off"
)

// Node is another clank whose browsers may be used. Its token is the secret CLANK_NODE_TOKEN.
type Node struct{ Name, URL string }

// NodeList reads Nodes. Lines that are no node are left out: they were refused when they were set.
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
	ModeDisabled  = "disabled"             // nobody browses
	ModeInherit   = "inherit_orchestrator" // the brain's model drives the browser too
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

// Defaults returns the settings of somebody who changed nothing.
func Defaults() Settings {
	var s Settings
	for _, f := range settingsTable {
		if f.path != nil {
			f.assign(&s, f.Default)
		}
	}
	return s
}
