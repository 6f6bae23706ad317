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
	groupApproval = "Asking first"
	groupAccess   = "Who may do what"
	groupSessions = "Sessions"
	groupSecrets  = "Keys"
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
		Effect: "Whether anybody can start a browse.",
		Kind:   KindToggle, Default: true, target: func(s *Settings) any { return &s.BrowserEnabled },
	},
	{
		Key: runtimeKeys + "headed", Group: groupBrowser, Label: "Show the window",
		Effect: "Opens the browser with a window on the machine clank runs on. It takes effect when the browser next starts.",
		Kind:   KindToggle, Default: false, target: func(s *Settings) any { return &s.Headed },
	},
	{
		Key: runtimeKeys + "profile", Group: groupBrowser, Label: "Profile",
		Effect: "The profile that keeps logins and cookies between browses: a name of lower-case letters, digits and dashes. Leave it empty to start clean every time. Open pages stay in theirs.",
		Kind:   KindText, Default: "clank", MaxLen: pathMaxLen, target: func(s *Settings) any { return &s.Profile },
	},
	{
		Key: runtimeKeys + "executablePath", Group: groupBrowser, Label: "Browser program",
		Effect: "The Chrome or Chromium to run. Leave it empty and clank finds one. It takes effect when the browser next starts.",
		Kind:   KindText, Default: "", MaxLen: pathMaxLen, target: func(s *Settings) any { return &s.BrowserPath },
	},
	{
		Key: runtimeKeys + "evaluateEnabled", Group: groupBrowser, Label: "Scripts in pages",
		Effect: "Whether clients of the control API may run scripts of their own in pages (evaluate, and wait with fn).",
		Kind:   KindToggle, Default: true, target: func(s *Settings) any { return &s.Browser.EvaluateEnabled },
	},
	{
		Key: runtimeKeys + "attachOnly", Group: groupBrowser, Label: "Only join browsers",
		Effect: "Browsers are never started, only joined where they run already. A profile may say otherwise.",
		Kind:   KindToggle, Default: false, target: func(s *Settings) any { return &s.Browser.AttachOnly },
	},
	{
		Key: runtimeKeys + "noSandbox", Group: groupBrowser, Label: "Without Chromium's sandbox",
		Effect: "Starts browsers without their sandbox even where they could have it. Leave it off: where it cannot be had, it is left out anyway.",
		Kind:   KindToggle, Default: false, target: func(s *Settings) any { return &s.Browser.NoSandbox },
	},
	{
		Key: runtimeKeys + "extraArgs", Group: groupBrowser, Label: "More flags for the browser",
		Effect: "Added to the command line of browsers, separated by spaces or lines. They take effect when a browser next starts.",
		Kind:   KindLongText, Default: "", MaxLen: longTextMax, target: func(s *Settings) any { return &s.Browser.ExtraArgs },
	},
	{
		Key: runtimeKeys + "color", Group: groupBrowser, Label: "Colour",
		Effect: "The colour of the default profile's window, as #RRGGBB.",
		Kind:   KindText, Default: "#FF4500", MaxLen: len("#RRGGBB"), check: checkColor, target: func(s *Settings) any { return &s.Browser.Color },
	},
	{
		Key: runtimeKeys + "cdpPortRangeStart", Group: groupBrowser, Label: "First DevTools port",
		Effect: "New profiles get a port of the 100 from this one on, never 9222. It takes effect when clank next starts.",
		Kind:   KindNumber, Default: 18800, Min: 1024, Max: 65436, target: func(s *Settings) any { return &s.Browser.FirstPort },
	},
	{
		Key: runtimeKeys + "localLaunchTimeoutMs", Group: groupBrowser, Label: "Time to start",
		Effect: "A browser whose DevTools do not listen within this time is ended, and its start has failed.",
		Kind:   KindDuration, Default: 15 * time.Second, Min: secondMs, Max: 2 * minuteMs, target: func(s *Settings) any { return &s.Browser.LaunchTimeout },
	},
	{
		Key: runtimeKeys + "localCdpReadyTimeoutMs", Group: groupBrowser, Label: "Time to answer",
		Effect: "A browser that listens, but does not answer its first command within this time, is ended.",
		Kind:   KindDuration, Default: 8 * time.Second, Min: secondMs, Max: 2 * minuteMs, target: func(s *Settings) any { return &s.Browser.ReadyTimeout },
	},
	{
		Key: runtimeKeys + "remoteCdpTimeoutMs", Group: groupBrowser, Label: "Time to find a remote browser",
		Effect: "How long a browser on another machine may take to say where its DevTools are.",
		Kind:   KindDuration, Default: 1500 * time.Millisecond, Min: 100, Max: minuteMs, target: func(s *Settings) any { return &s.Browser.RemoteTimeout },
	},
	{
		Key: runtimeKeys + "remoteCdpHandshakeTimeoutMs", Group: groupBrowser, Label: "Time to reach a remote browser",
		Effect: "How long each try to connect to it may take. 0 allows 5, 7 and 9 s for the three tries.",
		Kind:   KindDuration, Default: time.Duration(0), Min: 0, Max: 2 * minuteMs, target: func(s *Settings) any { return &s.Browser.RemoteHandshake },
	},
	{
		Key: runtimeKeys + "actionTimeoutMs", Group: groupBrowser, Label: "Time for one action",
		Effect: "An action asked for over the control API, without a time of its own, ends after this time at the latest.",
		Kind:   KindDuration, Default: time.Minute, Min: 500, Max: 10 * minuteMs, target: func(s *Settings) any { return &s.Browser.ActionTimeout },
	},
	{
		Key: runtimeKeys + "snapshotDefaults.mode", Group: groupBrowser, Label: "Snapshots",
		Effect: "What clients of the control API get when they do not say how they want a page described.",
		Kind:   KindChoice, Default: SnapshotFull, target: func(s *Settings) any { return &s.Browser.SnapshotMode },
		Options: []Option{{SnapshotFull, "The whole page"}, {SnapshotEfficient, "Only what can be acted on"}},
	},
	{
		Key: runtimeKeys + "maxDownloadMb", Group: groupBrowser, Label: "Largest download",
		Effect: "Downloads of more megabytes are cancelled. It takes effect when a browser next starts.",
		Kind:   KindNumber, Default: 2048, Min: 1, Max: 1 << 20, target: func(s *Settings) any { return &s.Browser.MaxDownload },
	},
	{
		Key: runtimeKeys + "maxUploadMb", Group: groupBrowser, Label: "Largest upload",
		Effect: "The files of one upload may have so many megabytes together. It takes effect when a browser next starts.",
		Kind:   KindNumber, Default: 1024, Min: 1, Max: 1 << 20, target: func(s *Settings) any { return &s.Browser.MaxUpload },
	},
	{
		Key: runtimeKeys + "tabCleanup.enabled", Group: groupBrowser, Label: "Close forgotten tabs",
		Effect: "Tabs that were opened for a session are closed when they are idle or too many.",
		Kind:   KindToggle, Default: true, target: func(s *Settings) any { return &s.Browser.TabCleanup },
	},
	{
		Key: runtimeKeys + "tabCleanup.idleMs", Group: groupBrowser, Label: "Forgotten after",
		Effect: "A session's tab that nobody has used for this long is closed.",
		Kind:   KindDuration, Default: 2 * time.Hour, Min: minuteMs, Max: 24 * 60 * minuteMs, target: func(s *Settings) any { return &s.Browser.TabIdle },
	},
	{
		Key: runtimeKeys + "tabCleanup.maxTabsPerSession", Group: groupBrowser, Label: "Tabs of one session",
		Effect: "Beyond so many, those unused the longest are closed.",
		Kind:   KindNumber, Default: 8, Min: 1, Max: 100, target: func(s *Settings) any { return &s.Browser.TabsPerSession },
	},
	{
		Key: runtimeKeys + "tabCleanup.sweepMs", Group: groupBrowser, Label: "Look for forgotten tabs every",
		Effect: "How often forgotten tabs are looked for.",
		Kind:   KindDuration, Default: 5 * time.Minute, Min: 10 * secondMs, Max: 60 * minuteMs, target: func(s *Settings) any { return &s.Browser.TabSweepInterval },
	},
}

var otherFields = []Field{
	{
		Key: agentKeys + "execution.mode", Group: groupModel, Label: "Who drives the browser",
		Effect: "Whether browsing has a model of its own, shares the brain's, or is off.",
		Kind:   KindChoice, Default: ModeDedicated, target: func(s *Settings) any { return &s.AgentMode },
		Options: []Option{{ModeDedicated, "The browsing model below"}, {ModeInherit, "The brain's model"}, {ModeDisabled, "Nobody"}},
	},
	{
		Key: agentKeys + "execution.model", Group: groupModel, Label: "Browsing model",
		Effect: "The model that drives the browser, as provider:model, for example openai:gpt-5.6 or compatible:llama3. plain:steps needs no key and follows written steps.",
		Kind:   KindModel, Default: defaultModel, MaxLen: modelMaxLen, target: func(s *Settings) any { return &s.AgentModel },
	},
	{
		Key: assistantKeys + "model", Group: groupModel, Label: "Brain",
		Effect: "The model that talks with people and decides when to browse, as provider:model. Leave it empty and every message to clank is a task.",
		Kind:   KindModel, Default: "", Optional: true, MaxLen: modelMaxLen, target: func(s *Settings) any { return &s.AssistantModel },
	},
	{
		Key: assistantKeys + "browserTool", Group: groupModel, Label: "The brain works the browser itself",
		Effect: "Besides sending the agent, the brain gets the tool \"browser\": single steps in the tabs of the default profile, which everybody it talks with shares.",
		Kind:   KindToggle, Default: false, target: func(s *Settings) any { return &s.AssistantBrowser },
	},
	{
		Key: assistantKeys + "instructions", Group: groupModel, Label: "Instructions for the brain",
		Effect: "Added to what the brain is told before every conversation: tone, language, what to leave alone.",
		Kind:   KindLongText, Default: "", MaxLen: longTextMax, target: func(s *Settings) any { return &s.AssistantGuidance },
	},
	{
		Key: "agentStack.runtimeConfig.models.compatibleBaseUrl", Group: groupModel, Label: "OpenAI-compatible server",
		Effect: "Where models named compatible:… are served, for example http://127.0.0.1:11434/v1.",
		Kind:   KindURL, Default: "", MaxLen: pathMaxLen, target: func(s *Settings) any { return &s.CompatibleURL },
	},
	{
		Key: toolKeys + "allowHostControl", Group: groupTool, Label: "This machine's browsers",
		Effect: "Whether the tool \"browser\" may use the browsers of this machine. Off leaves it the sandbox and the nodes.",
		Kind:   KindToggle, Default: true, target: func(s *Settings) any { return &s.BrowserTool.AllowHost },
	},
	{
		Key: toolKeys + "sandboxUrl", Group: groupTool, Label: "Sandbox",
		Effect: "The address of a control API in a sandbox, which is then used first. Its token is the secret CLANK_SANDBOX_TOKEN.",
		Kind:   KindURL, Default: "", MaxLen: pathMaxLen, target: func(s *Settings) any { return &s.BrowserTool.SandboxURL },
	},
	{
		Key: toolKeys + "nodes", Group: groupTool, Label: "Nodes",
		Effect: "Other machines that lend their browsers (clank serve --node-addr), one \"name address\" a line. Their token is the secret CLANK_NODE_TOKEN.",
		Kind:   KindLongText, Default: "", MaxLen: longTextMax, check: checkNodes, target: func(s *Settings) any { return &s.BrowserTool.Nodes },
	},
	{
		Key: toolKeys + "node.mode", Group: groupTool, Label: "When nodes are used",
		Effect: "By itself: a single node, or the one named below, is used without being asked for.",
		Kind:   KindChoice, Default: NodeAuto, target: func(s *Settings) any { return &s.BrowserTool.NodeMode },
		Options: []Option{{NodeAuto, "By itself"}, {NodeManual, "When a model asks for it"}, {NodeOff, "Never"}},
	},
	{
		Key: toolKeys + "node.name", Group: groupTool, Label: "Node to use",
		Effect: "The node that is used by itself where there are several.",
		Kind:   KindText, Default: "", MaxLen: 64, target: func(s *Settings) any { return &s.BrowserTool.Node },
	},
	{
		Key: toolKeys + "node.allowProfiles", Group: groupTool, Label: "Profiles lent to other machines",
		Effect: "With --node-addr, the profiles that others may use, separated by spaces. Empty lends all.",
		Kind:   KindText, Default: "", MaxLen: pathMaxLen, target: func(s *Settings) any { return &s.BrowserTool.NodeProfiles },
	},
	{
		Key: toolKeys + "vision.model", Group: groupTool, Label: "Who describes pictures",
		Effect: "A model that sees describes screenshots to one that does not. Empty: nobody does.",
		Kind:   KindModel, Default: "", Optional: true, MaxLen: modelMaxLen, target: func(s *Settings) any { return &s.BrowserTool.VisionModel },
	},
	{
		Key: toolKeys + "vision.prompt", Group: groupTool, Label: "What is to be described",
		Effect: "What the describing model is asked. Empty uses a good default.",
		Kind:   KindLongText, Default: "", MaxLen: longTextMax, target: func(s *Settings) any { return &s.BrowserTool.VisionPrompt },
	},
	{
		Key: toolKeys + "vision.maxBytes", Group: groupTool, Label: "Largest picture to describe",
		Effect: "Pictures with more bytes are not described.",
		Kind:   KindNumber, Default: 5 << 20, Min: 10_000, Max: 20 << 20, target: func(s *Settings) any { return &s.BrowserTool.VisionBytes },
	},
	{
		Key: agentKeys + "maxStepsPerTask", Group: groupTasks, Label: "Steps per task",
		Effect: "After this many steps a task ends with what it has found so far.",
		Kind:   KindNumber, Default: 10, Min: 1, Max: 30, target: func(s *Settings) any { return &s.MaxSteps },
	},
	{
		Key: agentKeys + "stepTimeoutMs", Group: groupTasks, Label: "Time for one step",
		Effect: "A browser action that takes longer fails, and the model is told. A model that takes longer to answer ends the task.",
		Kind:   KindDuration, Default: 30 * time.Second, Min: 5 * secondMs, Max: 2 * minuteMs, target: func(s *Settings) any { return &s.StepTimeout },
	},
	{
		Key: taskKeys + "timeoutMs", Group: groupTasks, Label: "Time for one task",
		Effect: "A task that works longer is ended. Waiting in line does not count.",
		Kind:   KindDuration, Default: 10 * time.Minute, Min: 30 * secondMs, Max: 60 * minuteMs, target: func(s *Settings) any { return &s.TaskTimeout },
	},
	{
		Key: agentKeys + "maxBrowseCallsPerHour", Group: groupTasks, Label: "Browses per hour",
		Effect: "How many browses may start from Discord within one hour. 0 allows none.",
		Kind:   KindNumber, Default: 10, Min: 0, Max: 600, target: func(s *Settings) any { return &s.BrowsesPerHour },
	},
	{
		Key: taskKeys + "maxAtOnce", Group: groupTasks, Label: "Tasks at once",
		Effect: "How many tasks run at the same time; the others wait in line.",
		Kind:   KindNumber, Default: 4, Min: 1, Max: 32, target: func(s *Settings) any { return &s.MaxTasks },
	},
	{
		Key: taskKeys + "maxAtOncePerGuild", Group: groupTasks, Label: "Tasks at once in one Discord server",
		Effect: "How many of them may belong to the same Discord server.",
		Kind:   KindNumber, Default: 3, Min: 1, Max: 32, target: func(s *Settings) any { return &s.TaskLimits.Guild },
	},
	{
		Key: taskKeys + "maxAtOncePerUser", Group: groupTasks, Label: "Tasks at once for one person",
		Effect: "How many of them may belong to the same person.",
		Kind:   KindNumber, Default: 2, Min: 1, Max: 32, target: func(s *Settings) any { return &s.TaskLimits.User },
	},
	{
		Key: "interaction.stop.allowedTo", Group: groupTasks, Label: "Who may stop a task",
		Effect: "Whose “stop” counts in a Discord channel.",
		Kind:   KindChoice, Default: StopRequester, target: func(s *Settings) any { return &s.WhoMayStop },
		Options: []Option{{StopRequester, "Who asked for it, and moderators"}, {StopAnyone, "Anyone in the channel"}},
	},
	approvalField("buy", "Buying", "Buying, ordering, paying and donating.", AskFirst, func(s *Settings) any { return &s.Approval.Buy }),
	approvalField("submit", "Personal data", "Sending off a form in which names, addresses, numbers or passwords were filled in. Signing in to an account is not among it.", AskFirst,
		func(s *Settings) any { return &s.Approval.Submit }),
	approvalField("send", "Sending and publishing", "Sending messages, posting, publishing, sharing.", AskFirst, func(s *Settings) any { return &s.Approval.Send }),
	approvalField("delete", "Deleting", "Deleting things, closing accounts, ending subscriptions.", AskFirst, func(s *Settings) any { return &s.Approval.Delete }),
	approvalField("executable", "Programs", "Downloading files that are programs.", AskFirst, func(s *Settings) any { return &s.Approval.Executable }),
	approvalField("permission", "Permissions of pages", "Letting a page use the place, the camera, the microphone or the like. Pages that nobody grants anything get nothing.", AskFirst,
		func(s *Settings) any { return &s.Approval.Permission }),
	approvalField("login", "Kept logins", "Signing in with a login from the vault.", AskFirst, func(s *Settings) any { return &s.Approval.Login }),
	approvalField("host", "New hosts", "Reaching a host for the first time, where the rules of what pages may reach say so.", AskFirst, func(s *Settings) any { return &s.Approval.Host }),
	approvalField("leave", "Leaving the listed sites", "Going to a site that is not listed below. Without a list there is nothing to leave.", AskAllow,
		func(s *Settings) any { return &s.Approval.Leave }),
	{
		Key: approvalKeys + "sites", Group: groupApproval, Label: "Listed sites",
		Effect: "Hosts that may be gone to in any case, one a line; *.example.com stands for all below example.com. What pages may reach at all is set elsewhere.",
		Kind:   KindLongText, Default: "", MaxLen: longTextMax, check: checkSites, target: func(s *Settings) any { return &s.Approval.Sites },
	},
	approvalField("safety", "Scripts of models, and warnings of their vendors", "Running JavaScript that a model wrote in a page, which may click anything there, answering a page's dialog before it is asked, "+
		"and what the vendor of a computer-use model wants a person to look at first.", AskFirst,
		func(s *Settings) any { return &s.Approval.Safety }),
	{
		Key: approvalKeys + "waitMs", Group: groupApproval, Label: "Time to answer",
		Effect: "A question that nobody answers within this time is answered with no.",
		Kind:   KindDuration, Default: time.Minute, Min: 10 * secondMs, Max: 10 * minuteMs, target: func(s *Settings) any { return &s.Approval.Wait },
	},
	{
		Key: accessKeys + "guilds", Group: groupAccess, Label: "Discord servers",
		Effect: "The ids of the Discord servers that clank works for. Empty: all it was invited to.",
		Kind:   KindLongText, Default: "", MaxLen: longTextMax, check: checkIDs, target: func(s *Settings) any { return &s.Access.Guilds },
	},
	{
		Key: accessKeys + "channels", Group: groupAccess, Label: "Channels",
		Effect: "The ids of the channels that clank works in, with their threads. Empty: all it can see.",
		Kind:   KindLongText, Default: "", MaxLen: longTextMax, check: checkIDs, target: func(s *Settings) any { return &s.Access.Channels },
	},
	{
		Key: accessKeys + "people", Group: groupAccess, Label: "People and roles",
		Effect: "The ids of the people and roles that clank works for; a server's own id stands for all its members. Empty: everybody.",
		Kind:   KindLongText, Default: "", MaxLen: longTextMax, check: checkIDs, target: func(s *Settings) any { return &s.Access.People },
	},
	{
		Key: accessKeys + "direct", Group: groupAccess, Label: "Direct messages",
		Effect: "Whether clank works for people who write to it directly. Roles do not count there.",
		Kind:   KindToggle, Default: true, target: func(s *Settings) any { return &s.Access.Direct },
	},
	{
		Key: accessKeys + "profiles", Group: groupAccess, Label: "Profiles and whose they are",
		Effect: "Browser profiles with their logins belong to these people and roles alone: a line for each, as in \"work: 123456789012345678\"; * is everybody. Somebody works with the first that names them. A profile on no line is open to all if it is the usual one, and otherwise to the operator alone.",
		Kind:   KindLongText, Default: "", MaxLen: longTextMax, check: checkGrants, target: func(s *Settings) any { return &s.Access.Profiles },
	},
	{
		Key: sessionKeys + "sessionIdleTimeoutMs", Group: groupSessions, Label: "Idle session",
		Effect: "A session without a task for this long is parked: its page is closed, and opened again when the session goes on.",
		Kind:   KindDuration, Default: 5 * time.Minute, Min: 10 * secondMs, Max: 30 * minuteMs, target: func(s *Settings) any { return &s.SessionTimeout },
	},
	{
		Key: agentKeys + "sessionTimeoutMs", Group: groupSessions, Label: "Idle tab",
		Effect: "A page that nothing has used for this long is closed, whoever opened it. The shorter of this and the idle session counts.",
		Kind:   KindDuration, Default: 5 * time.Minute, Min: 10 * secondMs, Max: 30 * minuteMs, target: func(s *Settings) any { return &s.TabTimeout },
	},
	{
		Key: sessionKeys + "maxConcurrentSessions", Group: groupSessions, Label: "Sessions at once",
		Effect: "How many sessions keep a page open; beyond that, the longest idle one is parked.",
		Kind:   KindNumber, Default: 20, Min: 1, Max: 100, target: func(s *Settings) any { return &s.MaxSessions },
	},
	{
		Key: "interaction.history.retentionDays", Group: groupSessions, Label: "Keep history for",
		Effect: "Tasks, steps and pictures older than this many days are deleted. 0 keeps them.",
		Kind:   KindNumber, Default: 30, Min: 0, Max: 3650, target: func(s *Settings) any { return &s.RetentionInDays },
	},
	{
		Key: "DISCORD_TOKEN", Group: groupSecrets, Label: "Discord bot token",
		Effect: "With it, clank joins Discord.", Kind: KindSecret,
	},
	{
		Key: "CLANK_UPSTREAM_LOGIN", Group: groupSecrets, Label: "User and password of proxies behind ours",
		Effect: "As user:password, for the proxies under What pages may reach.", Kind: KindSecret,
	},
	{
		Key: "OPENAI_API_KEY", Group: groupSecrets, Label: "OpenAI key",
		Effect: "OpenAI's models, named openai:…, need it.", Kind: KindSecret,
	},
	{
		Key: "ANTHROPIC_API_KEY", Group: groupSecrets, Label: "Anthropic key",
		Effect: "Anthropic's models, named anthropic:…, need it.", Kind: KindSecret,
	},
	{
		Key: "GEMINI_API_KEY", Group: groupSecrets, Label: "Gemini key",
		Effect: "Google's models, named gemini:…, need it.", Kind: KindSecret,
	},
	{
		Key: "COMPATIBLE_API_KEY", Group: groupSecrets, Label: "Key of the OpenAI-compatible server",
		Effect: "Sent to the server of the models named compatible:…, if that wants one.", Kind: KindSecret,
	},
}
