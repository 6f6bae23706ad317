package settings

import (
	"slices"
	"time"
)

// The groups of the table.
const (
	groupBrowser  = "Browser"
	groupTool     = "Browser tool"
	groupModel    = "Models"
	groupTasks    = "Tasks and limits"
	groupApproval = "Approval"
	groupAccess   = "Access"
	groupSessions = "Sessions"
	groupSecrets  = "Secrets"
)

const (
	runtimeKeys   = "agentStack.runtimeConfig.browser."
	agentKeys     = runtimeKeys + "localBrowserAgent."
	sessionKeys   = "interaction.sessions."
	taskKeys      = "interaction.tasks."
	assistantKeys = "interaction.brain."
	approvalKeys  = "interaction.consent."
	accessKeys    = "interaction.access."
	toolKeys      = "interaction.tool.browser."
	secondMs      = int(time.Second / time.Millisecond)
	minuteMs      = 60 * secondMs
	modelMaxLen   = 120
	longTextMax   = 4000
	pathMaxLen    = 500
	defaultModel  = "plain:steps"
)

// settingsTable is the one source of what can be set. Everything else (defaults,
// checks, the settings page, the command line) is derived from it.
var settingsTable = slices.Concat(runtimeFields, browserFields, networkFields, budgetFields, otherFields, webFields, voiceFields, shareFields)

var browserFields = []Field{
	{
		Key: runtimeKeys + "enabled", Group: groupBrowser, Label: "Browsing",
		Effect: "Turn this off to refuse all new browsing tasks.",
		Kind:   KindToggle, Default: true, target: func(s *Settings) any { return &s.BrowserEnabled },
	},
	{
		Key: runtimeKeys + "headed", Group: groupBrowser, Label: "Browser window",
		Effect: "Show the browser in a window on the machine that runs clank. Takes effect the next time the browser starts.",
		Kind:   KindToggle, Default: false, target: func(s *Settings) any { return &s.Headed },
	},
	{
		Key: runtimeKeys + "profile", Group: groupBrowser, Label: "Profile",
		Effect: "The browser profile that keeps logins and cookies: lower-case letters, digits and dashes. Leave empty to start each session with a clean browser. Open pages keep their profile.",
		Kind:   KindText, Default: "clank", MaxLen: pathMaxLen, target: func(s *Settings) any { return &s.Profile },
	},
	{
		Key: runtimeKeys + "executablePath", Group: groupBrowser, Label: "Browser executable",
		Effect: "Path of the Chrome or Chromium to run. Leave empty to find one automatically. Takes effect the next time the browser starts.",
		Kind:   KindText, Default: "", MaxLen: pathMaxLen, target: func(s *Settings) any { return &s.BrowserPath },
	},
	{
		Key: runtimeKeys + "evaluateEnabled", Group: groupBrowser, Label: "JavaScript evaluation",
		Effect: "Allow control API clients to run their own JavaScript in pages (evaluate, and wait with fn).",
		Kind:   KindToggle, Default: true, target: func(s *Settings) any { return &s.Browser.EvaluateEnabled },
	},
	{
		Key: runtimeKeys + "attachOnly", Group: groupBrowser, Label: "Attach only",
		Effect: "Never start a browser; only attach to running ones. A profile can override this.",
		Kind:   KindToggle, Default: false, target: func(s *Settings) any { return &s.Browser.AttachOnly },
	},
	{
		Key: runtimeKeys + "noSandbox", Group: groupBrowser, Label: "Disable the Chromium sandbox",
		Effect: "Start browsers without their sandbox even where it works. Leave this off: where the sandbox cannot work, clank disables it by itself.",
		Kind:   KindToggle, Default: false, target: func(s *Settings) any { return &s.Browser.NoSandbox },
	},
	{
		Key: runtimeKeys + "extraArgs", Group: groupBrowser, Label: "Extra browser flags",
		Effect: "Added to the browser's command line, separated by spaces or new lines. Takes effect the next time a browser starts.",
		Kind:   KindLongText, Default: "", MaxLen: longTextMax, target: func(s *Settings) any { return &s.Browser.ExtraArgs },
	},
	{
		Key: runtimeKeys + "color", Group: groupBrowser, Label: "Colour",
		Effect: "Window colour of the default profile, as #RRGGBB.",
		Kind:   KindText, Default: "#FF4500", MaxLen: len("#RRGGBB"), check: checkColor, target: func(s *Settings) any { return &s.Browser.Color },
	},
	{
		Key: runtimeKeys + "cdpPortRangeStart", Group: groupBrowser, Label: "First DevTools port",
		Effect: "New profiles use one of the 100 ports starting here, never 9222. Takes effect the next time clank starts.",
		Kind:   KindNumber, Default: 18800, Min: 1024, Max: 65436, target: func(s *Settings) any { return &s.Browser.FirstPort },
	},
	{
		Key: runtimeKeys + "localLaunchTimeoutMs", Group: groupBrowser, Label: "Browser start timeout",
		Effect: "A browser that does not open its DevTools port in this time is stopped and the start fails.",
		Kind:   KindDuration, Default: 15 * time.Second, Min: secondMs, Max: 2 * minuteMs, target: func(s *Settings) any { return &s.Browser.LaunchTimeout },
	},
	{
		Key: runtimeKeys + "localCdpReadyTimeoutMs", Group: groupBrowser, Label: "Browser response timeout",
		Effect: "A browser that does not answer its first command in this time is stopped.",
		Kind:   KindDuration, Default: 8 * time.Second, Min: secondMs, Max: 2 * minuteMs, target: func(s *Settings) any { return &s.Browser.ReadyTimeout },
	},
	{
		Key: runtimeKeys + "remoteCdpTimeoutMs", Group: groupBrowser, Label: "Remote discovery timeout",
		Effect: "How long a browser on another machine may take to report its DevTools address.",
		Kind:   KindDuration, Default: 1500 * time.Millisecond, Min: 100, Max: minuteMs, target: func(s *Settings) any { return &s.Browser.RemoteTimeout },
	},
	{
		Key: runtimeKeys + "remoteCdpHandshakeTimeoutMs", Group: groupBrowser, Label: "Remote connection timeout",
		Effect: "Time limit for each connection attempt. 0 uses 5, 7 and 9 s for the three attempts.",
		Kind:   KindDuration, Default: time.Duration(0), Min: 0, Max: 2 * minuteMs, target: func(s *Settings) any { return &s.Browser.RemoteHandshake },
	},
	{
		Key: runtimeKeys + "actionTimeoutMs", Group: groupBrowser, Label: "Action timeout",
		Effect: "Time limit of a control API action that sets none.",
		Kind:   KindDuration, Default: time.Minute, Min: 500, Max: 10 * minuteMs, target: func(s *Settings) any { return &s.Browser.ActionTimeout },
	},
	{
		Key: runtimeKeys + "snapshotDefaults.mode", Group: groupBrowser, Label: "Snapshots",
		Effect: "The snapshot format for control API clients that do not choose one.",
		Kind:   KindChoice, Default: SnapshotFull, target: func(s *Settings) any { return &s.Browser.SnapshotMode },
		Options: []Option{{SnapshotFull, "The whole page"}, {SnapshotEfficient, "Interactive elements only"}},
	},
	{
		Key: runtimeKeys + "maxDownloadMb", Group: groupBrowser, Label: "Download size limit (MB)",
		Effect: "Larger downloads are cancelled. Takes effect the next time a browser starts.",
		Kind:   KindNumber, Default: 2048, Min: 1, Max: 1 << 20, target: func(s *Settings) any { return &s.Browser.MaxDownload },
	},
	{
		Key: runtimeKeys + "maxUploadMb", Group: groupBrowser, Label: "Upload size limit (MB)",
		Effect: "Total size of the files in one upload. Takes effect the next time a browser starts.",
		Kind:   KindNumber, Default: 1024, Min: 1, Max: 1 << 20, target: func(s *Settings) any { return &s.Browser.MaxUpload },
	},
	{
		Key: runtimeKeys + "tabCleanup.enabled", Group: groupBrowser, Label: "Close unused tabs",
		Effect: "Close a session's tabs when they are idle or too many.",
		Kind:   KindToggle, Default: true, target: func(s *Settings) any { return &s.Browser.TabCleanup },
	},
	{
		Key: runtimeKeys + "tabCleanup.idleMs", Group: groupBrowser, Label: "Tab idle time",
		Effect: "A session's tab is closed after this long without use.",
		Kind:   KindDuration, Default: 2 * time.Hour, Min: minuteMs, Max: 24 * 60 * minuteMs, target: func(s *Settings) any { return &s.Browser.TabIdle },
	},
	{
		Key: runtimeKeys + "tabCleanup.maxTabsPerSession", Group: groupBrowser, Label: "Tabs per session",
		Effect: "Above this number, the least recently used tabs are closed.",
		Kind:   KindNumber, Default: 8, Min: 1, Max: 100, target: func(s *Settings) any { return &s.Browser.TabsPerSession },
	},
	{
		Key: runtimeKeys + "tabCleanup.sweepMs", Group: groupBrowser, Label: "Tab check interval",
		Effect: "How often clank looks for unused tabs.",
		Kind:   KindDuration, Default: 5 * time.Minute, Min: 10 * secondMs, Max: 60 * minuteMs, target: func(s *Settings) any { return &s.Browser.TabSweepInterval },
	},
}

var otherFields = []Field{
	{
		Key: agentKeys + "execution.mode", Group: groupModel, Label: "Browser agent",
		Effect: "Which model works the browser.",
		Kind:   KindChoice, Default: ModeDedicated, target: func(s *Settings) any { return &s.AgentMode },
		Options: []Option{{ModeDedicated, "Its own model (below)"}, {ModeInherit, "The assistant's model"}, {ModeDisabled, "Nobody"}},
	},
	{
		Key: agentKeys + "execution.model", Group: groupModel, Label: "Browser agent model",
		Effect: "As provider:model, for example openai:gpt-5.6 or compatible:llama3. plain:steps needs no key and follows written steps.",
		Kind:   KindModel, Default: defaultModel, MaxLen: modelMaxLen, target: func(s *Settings) any { return &s.AgentModel },
	},
	{
		Key: assistantKeys + "model", Group: groupModel, Label: "Assistant model",
		Effect: "The model that talks with people and decides when to browse, as provider:model. Leave empty to treat every message as a task.",
		Kind:   KindModel, Default: "", Optional: true, MaxLen: modelMaxLen, target: func(s *Settings) any { return &s.AssistantModel },
	},
	{
		Key: assistantKeys + "browserTool", Group: groupModel, Label: "Assistant uses the browser",
		Effect: "Give the assistant the tool \"browser\" for single steps in the default profile's tabs. Everyone it talks with shares these tabs.",
		Kind:   KindToggle, Default: false, target: func(s *Settings) any { return &s.AssistantBrowser },
	},
	{
		Key: assistantKeys + "instructions", Group: groupModel, Label: "Assistant instructions",
		Effect: "Added to every conversation: tone, language, what to leave alone.",
		Kind:   KindLongText, Default: "", MaxLen: longTextMax, target: func(s *Settings) any { return &s.AssistantGuidance },
	},
	{
		Key: "agentStack.runtimeConfig.models.compatibleBaseUrl", Group: groupModel, Label: "OpenAI-compatible server",
		Effect: "Base URL for models named compatible:…, for example http://127.0.0.1:11434/v1.",
		Kind:   KindURL, Default: "", MaxLen: pathMaxLen, target: func(s *Settings) any { return &s.CompatibleURL },
	},
	{
		Key: toolKeys + "allowHostControl", Group: groupTool, Label: "Local browsers",
		Effect: "Let the tool \"browser\" use this machine's browsers. When off, it can use only the sandbox and nodes.",
		Kind:   KindToggle, Default: true, target: func(s *Settings) any { return &s.BrowserTool.AllowHost },
	},
	{
		Key: toolKeys + "sandboxUrl", Group: groupTool, Label: "Sandbox",
		Effect: "Address of a control API in a sandbox. It is used first when set. Its token is the secret CLANK_SANDBOX_TOKEN.",
		Kind:   KindURL, Default: "", MaxLen: pathMaxLen, target: func(s *Settings) any { return &s.BrowserTool.SandboxURL },
	},
	{
		Key: toolKeys + "nodes", Group: groupTool, Label: "Nodes",
		Effect: "Other machines that share their browsers (clank serve --node-addr), one \"name address\" per line. Their token is the secret CLANK_NODE_TOKEN.",
		Kind:   KindLongText, Default: "", MaxLen: longTextMax, check: checkNodes, target: func(s *Settings) any { return &s.BrowserTool.Nodes },
	},
	{
		Key: toolKeys + "node.mode", Group: groupTool, Label: "Node selection",
		Effect: "Automatic uses the only node, or the one named below.",
		Kind:   KindChoice, Default: NodeAuto, target: func(s *Settings) any { return &s.BrowserTool.NodeMode },
		Options: []Option{{NodeAuto, "Automatic"}, {NodeManual, "Only when a model asks"}, {NodeOff, "Never"}},
	},
	{
		Key: toolKeys + "node.name", Group: groupTool, Label: "Preferred node",
		Effect: "The node to use when there are several.",
		Kind:   KindText, Default: "", MaxLen: 64, target: func(s *Settings) any { return &s.BrowserTool.Node },
	},
	{
		Key: toolKeys + "node.allowProfiles", Group: groupTool, Label: "Shared profiles",
		Effect: "With --node-addr, the profiles that other machines may use, separated by spaces. Leave empty to share all.",
		Kind:   KindText, Default: "", MaxLen: pathMaxLen, target: func(s *Settings) any { return &s.BrowserTool.NodeProfiles },
	},
	{
		Key: toolKeys + "vision.model", Group: groupTool, Label: "Vision model",
		Effect: "Describes screenshots to a model that cannot see them. Leave empty for none.",
		Kind:   KindModel, Default: "", Optional: true, MaxLen: modelMaxLen, target: func(s *Settings) any { return &s.BrowserTool.VisionModel },
	},
	{
		Key: toolKeys + "vision.prompt", Group: groupTool, Label: "Vision prompt",
		Effect: "What the vision model is asked. Leave empty for the default.",
		Kind:   KindLongText, Default: "", MaxLen: longTextMax, target: func(s *Settings) any { return &s.BrowserTool.VisionPrompt },
	},
	{
		Key: toolKeys + "vision.maxBytes", Group: groupTool, Label: "Vision image limit (bytes)",
		Effect: "Larger images are not described.",
		Kind:   KindNumber, Default: 5 << 20, Min: 10_000, Max: 20 << 20, target: func(s *Settings) any { return &s.BrowserTool.VisionBytes },
	},
	{
		Key: agentKeys + "maxStepsPerTask", Group: groupTasks, Label: "Steps per task",
		Effect: "A task ends after this many steps, with what it has found.",
		Kind:   KindNumber, Default: 10, Min: 1, Max: 30, target: func(s *Settings) any { return &s.MaxSteps },
	},
	{
		Key: agentKeys + "stepTimeoutMs", Group: groupTasks, Label: "Step timeout",
		Effect: "A slower browser action fails and the model is told. A slower model answer ends the task.",
		Kind:   KindDuration, Default: 30 * time.Second, Min: 5 * secondMs, Max: 2 * minuteMs, target: func(s *Settings) any { return &s.StepTimeout },
	},
	{
		Key: taskKeys + "timeoutMs", Group: groupTasks, Label: "Task timeout",
		Effect: "A task that runs longer is stopped. Time in the queue does not count.",
		Kind:   KindDuration, Default: 10 * time.Minute, Min: 30 * secondMs, Max: 60 * minuteMs, target: func(s *Settings) any { return &s.TaskTimeout },
	},
	{
		Key: agentKeys + "maxBrowseCallsPerHour", Group: groupTasks, Label: "Tasks per hour",
		Effect: "How many browsing tasks may start from Discord in an hour, for everyone together. 0 allows none.",
		Kind:   KindNumber, Default: 10, Min: 0, Max: 600, target: func(s *Settings) any { return &s.BrowsesPerHour },
	},
	{
		Key: taskKeys + "maxAtOnce", Group: groupTasks, Label: "Concurrent tasks",
		Effect: "How many tasks run at the same time. Others wait in the queue.",
		Kind:   KindNumber, Default: 4, Min: 1, Max: 32, target: func(s *Settings) any { return &s.MaxTasks },
	},
	{
		Key: taskKeys + "maxAtOncePerGuild", Group: groupTasks, Label: "Concurrent tasks per server",
		Effect: "How many tasks of one Discord server run at the same time.",
		Kind:   KindNumber, Default: 3, Min: 1, Max: 32, target: func(s *Settings) any { return &s.TaskLimits.Guild },
	},
	{
		Key: taskKeys + "maxAtOncePerUser", Group: groupTasks, Label: "Concurrent tasks per person",
		Effect: "How many tasks of one person run at the same time.",
		Kind:   KindNumber, Default: 2, Min: 1, Max: 32, target: func(s *Settings) any { return &s.TaskLimits.User },
	},
	{
		Key: "interaction.stop.allowedTo", Group: groupTasks, Label: "Who may stop a task",
		Effect: "Whose “stop” is obeyed in a Discord channel.",
		Kind:   KindChoice, Default: StopRequester, target: func(s *Settings) any { return &s.WhoMayStop },
		Options: []Option{{StopRequester, "The requester and moderators"}, {StopAnyone, "Anyone in the channel"}},
	},
	approvalField("buy", "Buying", "Buying, ordering, paying and donating.", AskFirst, func(s *Settings) any { return &s.Approval.Buy }),
	approvalField("submit", "Personal data", "Submitting a form that contains names, addresses, numbers or passwords. Signing in is not included.", AskFirst,
		func(s *Settings) any { return &s.Approval.Submit }),
	approvalField("send", "Sending and publishing", "Sending messages, posting, publishing, sharing.", AskFirst, func(s *Settings) any { return &s.Approval.Send }),
	approvalField("delete", "Deleting", "Deleting things, closing accounts, ending subscriptions.", AskFirst, func(s *Settings) any { return &s.Approval.Delete }),
	approvalField("executable", "Programs", "Downloading files that are programs.", AskFirst, func(s *Settings) any { return &s.Approval.Executable }),
	approvalField("permission", "Page permissions", "Letting a page use location, camera, microphone and similar. Nothing is granted without approval.", AskFirst,
		func(s *Settings) any { return &s.Approval.Permission }),
	approvalField("login", "Stored logins", "Filling in a login from the vault, even if the form is not sent.", AskFirst, func(s *Settings) any { return &s.Approval.Login }),
	approvalField("host", "New hosts", "Reaching a host for the first time, if network access asks about new hosts.", AskFirst, func(s *Settings) any { return &s.Approval.Host }),
	approvalField("leave", "Leaving listed sites", "Opening a site that is not listed below. Has no effect while the list is empty.", AskAllow,
		func(s *Settings) any { return &s.Approval.Leave }),
	{
		Key: approvalKeys + "sites", Group: groupApproval, Label: "Listed sites",
		Effect: "Hosts that may always be opened, one per line. *.example.com means all hosts below example.com. Network access still applies.",
		Kind:   KindLongText, Default: "", MaxLen: longTextMax, check: checkSites, target: func(s *Settings) any { return &s.Approval.Sites },
	},
	approvalField("safety", "Model scripts and vendor warnings", "Running JavaScript written by a model, answering a page's dialog in advance, and actions that the vendor "+
		"of a computer-use model wants a person to check.", AskFirst,
		func(s *Settings) any { return &s.Approval.Safety }),
	{
		Key: approvalKeys + "waitMs", Group: groupApproval, Label: "Browser response timeout",
		Effect: "A question without an answer in this time counts as no.",
		Kind:   KindDuration, Default: time.Minute, Min: 10 * secondMs, Max: 10 * minuteMs, target: func(s *Settings) any { return &s.Approval.Wait },
	},
	{
		Key: accessKeys + "guilds", Group: groupAccess, Label: "Discord servers",
		Effect: "IDs of the Discord servers that may use clank. Leave empty for all servers it was invited to.",
		Kind:   KindLongText, Default: "", MaxLen: longTextMax, check: checkIDs, target: func(s *Settings) any { return &s.Access.Guilds },
	},
	{
		Key: accessKeys + "channels", Group: groupAccess, Label: "Channels",
		Effect: "IDs of the channels that clank works in, including their threads. Leave empty for all it can see.",
		Kind:   KindLongText, Default: "", MaxLen: longTextMax, check: checkIDs, target: func(s *Settings) any { return &s.Access.Channels },
	},
	{
		Key: accessKeys + "people", Group: groupAccess, Label: "People and roles",
		Effect: "IDs of the people and roles that may use clank. A server's own ID means all its members. Leave empty for everyone.",
		Kind:   KindLongText, Default: "", MaxLen: longTextMax, check: checkIDs, target: func(s *Settings) any { return &s.Access.People },
	},
	{
		Key: accessKeys + "direct", Group: groupAccess, Label: "Direct messages",
		Effect: "Let people use clank in direct messages. Roles do not count there.",
		Kind:   KindToggle, Default: true, target: func(s *Settings) any { return &s.Access.Direct },
	},
	{
		Key: accessKeys + "profiles", Group: groupAccess, Label: "Profile owners",
		Effect: "Who may use which browser profile, one per line, such as \"work: 123456789012345678\". * means everyone. People get the first profile they are listed in. The default profile is open to all unless listed; other unlisted profiles are for the operator only.",
		Kind:   KindLongText, Default: "", MaxLen: longTextMax, check: checkGrants, target: func(s *Settings) any { return &s.Access.Profiles },
	},
	{
		Key: sessionKeys + "sessionIdleTimeoutMs", Group: groupSessions, Label: "Session idle time",
		Effect: "After this long without a task, a session's page is closed. It opens again when the session continues.",
		Kind:   KindDuration, Default: 5 * time.Minute, Min: 10 * secondMs, Max: 30 * minuteMs, target: func(s *Settings) any { return &s.SessionTimeout },
	},
	{
		Key: agentKeys + "sessionTimeoutMs", Group: groupSessions, Label: "Page idle time",
		Effect: "A page is closed after this long without use, whoever opened it. The shorter of this and the session idle time applies.",
		Kind:   KindDuration, Default: 5 * time.Minute, Min: 10 * secondMs, Max: 30 * minuteMs, target: func(s *Settings) any { return &s.TabTimeout },
	},
	{
		Key: sessionKeys + "maxConcurrentSessions", Group: groupSessions, Label: "Open sessions",
		Effect: "How many sessions keep a page open. Above this number, the longest idle one is closed.",
		Kind:   KindNumber, Default: 20, Min: 1, Max: 100, target: func(s *Settings) any { return &s.MaxSessions },
	},
	{
		Key: "interaction.history.retentionDays", Group: groupSessions, Label: "Keep history for",
		Effect: "Tasks, steps and screenshots are deleted after this many days. 0 keeps them forever.",
		Kind:   KindNumber, Default: 30, Min: 0, Max: 3650, target: func(s *Settings) any { return &s.RetentionInDays },
	},
	{
		Key: "DISCORD_TOKEN", Group: groupSecrets, Label: "Discord bot token",
		Effect: "Connects clank to Discord.", Kind: KindSecret,
	},
	{
		Key: "CLANK_UPSTREAM_LOGIN", Group: groupSecrets, Label: "Login for upstream proxies",
		Effect: "As user:password, for the upstream proxies under Network access.", Kind: KindSecret,
	},
	{
		Key: "OPENAI_API_KEY", Group: groupSecrets, Label: "OpenAI key",
		Effect: "Needed for models named openai:….", Kind: KindSecret,
	},
	{
		Key: "ANTHROPIC_API_KEY", Group: groupSecrets, Label: "Anthropic key",
		Effect: "Needed for models named anthropic:….", Kind: KindSecret,
	},
	{
		Key: "GEMINI_API_KEY", Group: groupSecrets, Label: "Gemini key",
		Effect: "Needed for models named gemini:….", Kind: KindSecret,
	},
	{
		Key: "COMPATIBLE_API_KEY", Group: groupSecrets, Label: "Key of the OpenAI-compatible server",
		Effect: "For the server of models named compatible:…, if it needs a key.", Kind: KindSecret,
	},
}
