package settings

import (
	"slices"
	"time"

	"clank/sessions/access"
)

// Groups of the table.
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

// settingsTable is the single source of all settings. Defaults, checks, the settings page and the command line are
// derived from it.
var settingsTable = slices.Concat(runtimeFields, browserFields, networkFields, budgetFields, otherFields, webFields,
	voiceFields, shareFields, dashboardFields)

var browserFields = inGroup(groupBrowser,
	toggle(runtimeKeys+"enabled", "Browsing", "Turn this off to refuse all new browsing tasks.", true,
		&at.BrowserEnabled),
	toggle(runtimeKeys+"headed", "Browser window", "Show the browser in a window on the machine that runs clank. "+
		"Takes effect the next time the browser starts.", false, &at.Headed),
	text(runtimeKeys+"profile", "Profile", "The browser profile that keeps logins and cookies: lower-case letters, "+
		"digits and dashes. Leave empty to start each session with a clean browser. Open pages keep their profile.",
		"clank", pathMaxLen, &at.Profile),
	text(runtimeKeys+"executablePath", "Browser executable", "Path of the Chrome or Chromium to run. Leave empty to "+
		"find one automatically. Takes effect the next time the browser starts.", "", pathMaxLen, &at.BrowserPath),
	toggle(runtimeKeys+"evaluateEnabled", "JavaScript evaluation", "Allow control API clients to run their own "+
		"JavaScript in pages (evaluate, and wait with fn).", true, &at.Browser.EvaluateEnabled),
	toggle(runtimeKeys+"attachOnly", "Attach only", "Never start a browser; only attach to running ones. A profile "+
		"can override this.", false, &at.Browser.AttachOnly),
	toggle(runtimeKeys+"noSandbox", "Disable the Chromium sandbox", "Start browsers without their sandbox, which keeps "+
		"hostile pages from this machine. For containers only, where it cannot work and the container does its work.", false,
		&at.Browser.NoSandbox),
	longText(runtimeKeys+"extraArgs", "Extra browser flags", "Added to the browser's command line, separated by "+
		"spaces or new lines. Flags that switch off protections are refused. Takes effect the next time a browser "+
		"starts.",
		&at.Browser.ExtraArgs),
	text(runtimeKeys+"color", "Colour", "Window colour of the default profile, as #RRGGBB.", "#FF4500", len("#RRGGBB"),
		&at.Browser.Color).checked(checkColor),
	number(runtimeKeys+"maxRunning", "Running browsers", "How many browsers run at once: one for each Discord server, "+
		"person in private and profile that is in use. Above this number, the one unused the longest is stopped; it starts "+
		"again with its pages when it is used.", 8, 1, 90, &at.Browser.MaxRunning),
	toggle(runtimeKeys+"devToolsPort", "DevTools port", "Let other programs on this machine, such as Playwright, control "+
		"browsers through a local port. They must send a token made with clank tokens add. Takes effect the next time a "+
		"browser starts.", false, &at.Browser.DevToolsPort),
	number(runtimeKeys+"cdpPortRangeStart", "First DevTools port", "New profiles use one of the 100 ports starting "+
		"here, never 9222. Takes effect the next time clank starts.", 18800, 1024, 65436, &at.Browser.FirstPort),
	duration(runtimeKeys+"localLaunchTimeoutMs", "Browser start timeout", "A browser that does not answer its first "+
		"command in this time and the next together is stopped and the start fails. On a busy machine it has up to three "+
		"times as long, but at most two minutes.", 15*time.Second, time.Second,
		2*time.Minute,
		&at.Browser.LaunchTimeout),
	duration(runtimeKeys+"localCdpReadyTimeoutMs", "Browser response timeout", "How long a browser may take to "+
		"answer its first command, besides the time to start.", 8*time.Second, time.Second, 2*time.Minute,
		&at.Browser.ReadyTimeout),
	duration(runtimeKeys+"remoteCdpTimeoutMs", "Remote discovery timeout", "How long a browser on another machine "+
		"may take to report its DevTools address.", 1500*time.Millisecond, 100*time.Millisecond, time.Minute,
		&at.Browser.RemoteTimeout),
	duration(runtimeKeys+"remoteCdpHandshakeTimeoutMs", "Remote connection timeout", "Time limit for each connection "+
		"attempt. 0 uses 5, 7 and 9 s for the three attempts.", 0, 0, 2*time.Minute, &at.Browser.RemoteHandshake),
	duration(runtimeKeys+"actionTimeoutMs", "Action timeout", "Longest time for one action of a control API "+
		"client that sets no limit. Shorter limits of each kind of action remain.",
		time.Minute, 500*time.Millisecond, 10*time.Minute, &at.Browser.ActionTimeout),
	choice(runtimeKeys+"snapshotDefaults.mode", "Snapshots", "The snapshot format for control API clients that do "+
		"not choose one.", SnapshotFull, &at.Browser.SnapshotMode, Option{SnapshotFull, "The whole page"},
		Option{SnapshotEfficient, "Interactive elements only"}),
	number(runtimeKeys+"maxDownloadMb", "Download size limit (MB)", "Larger downloads are cancelled. Takes effect "+
		"the next time a browser starts.", 2048, 1, 1<<20, &at.Browser.MaxDownload),
	number(runtimeKeys+"maxFilesGb", "Files in all (GiB)", "Downloads, files that came with tasks, pictures, "+
		"traces, recordings, records of tasks and transcripts together. The oldest are deleted to make room; 0 does not "+
		"limit them.", 10, 0, 1<<20,
		&at.Browser.MaxFiles),
	number(runtimeKeys+"maxPlaceFilesGb", "Files of one place (GiB)", "Downloads, files that came with tasks, recordings "+
		"and records of tasks of one Discord server, or of one person in private, together. The oldest are deleted to make "+
		"room; 0 does not limit them.",
		5, 0, 1<<20, &at.Browser.MaxPlaceFiles),
	number(runtimeKeys+"maxTaskFilesGb", "Files of one task (GiB)", "Downloads, recordings and files that came with "+
		"the tasks of one session together. 0 does not limit them.", 4, 0, 1<<20, &at.Browser.MaxTaskFiles),
	number(runtimeKeys+"minFreeGb", "Free disk space (GiB)", "Nothing is downloaded or kept while less than this is "+
		"free. 0 allows the disk to fill up.", 1, 0, 1<<20, &at.Browser.MinFree),
	number(runtimeKeys+"maxUploadMb", "Upload size limit (MB)", "Total size of the files in one upload, and size "+
		"of each file that comes with a task. Takes effect for uploads the next time a browser starts.", 1024, 1, 1<<20,
		&at.Browser.MaxUpload),
	toggle(runtimeKeys+"tabCleanup.enabled", "Close unused tabs", "Close a session's tabs when they are idle or too "+
		"many.", true, &at.Browser.TabCleanup),
	duration(runtimeKeys+"tabCleanup.idleMs", "Tab idle time", "A session's tab, other than its current one, is "+
		"closed after this long without use.", 2*time.Hour, time.Minute, 24*time.Hour, &at.Browser.TabIdle),
	number(runtimeKeys+"tabCleanup.maxTabsPerSession", "Tabs per session", "Above this number, the least recently "+
		"used tabs are closed.", 8, 1, 100, &at.Browser.TabsPerSession),
	duration(runtimeKeys+"tabCleanup.freezeMs", "Freeze pages after", "Once a session has no task, its pages stand still "+
		"when nobody has used or watched them for this long. They keep everything and go on when they are used. 0 never "+
		"freezes pages. Takes effect the next time a browser starts.", 10*time.Second, 0, time.Hour, &at.Browser.FreezeAfter),
	duration(runtimeKeys+"tabCleanup.sweepMs", "Tab check interval", "How often clank looks for unused tabs.",
		5*time.Minute, 10*time.Second, 60*time.Minute, &at.Browser.TabSweepInterval),
)

var otherFields = slices.Concat(
	inGroup(groupModel,
		choice(agentModeKey, "Browser agent", "Which model works the browser.", ModeDedicated, &at.AgentMode,
			Option{ModeDedicated, "Its own model (below)"}, Option{ModeInherit, "The assistant's model"},
			Option{ModeDisabled, "Nobody"}),
		model(agentModelKey, "Browser agent model", "As provider:model, for example openai:gpt-5.6 or "+
			"compatible:llama3. plain:steps needs no key and follows written steps.", defaultModel,
			&at.AgentModel).required(),
		model(assistantModelKey, "Assistant model", "The model that talks with people and decides when to browse, as "+
			"provider:model. Leave empty to treat every message as a task.", "", &at.AssistantModel),
		toggle(assistantKeys+"browserTool", "Assistant uses the browser", `Give the assistant the tool "browser" for `+
			`single steps in the browser of those it talks with: their server's, their own in private, or the profile that `+
			`is shared with them; in tabs of its own.`, false,
			&at.AssistantBrowser),
		longText(assistantKeys+"instructions", "Assistant instructions", "Added to every conversation: tone, "+
			"language, what to leave alone.", &at.AssistantGuidance),
		address(compatibleURLKey, "OpenAI-compatible server", "Base URL for models named compatible:…, for example "+
			"http://127.0.0.1:11434/v1.", &at.CompatibleURL),
	),
	inGroup(groupModel, visionFields...),
	inGroup(groupTool,
		toggle(toolKeys+"allowHostControl", "Local browsers", `Let the tool "browser" use this machine's browsers. `+
			`When off, it can use only the sandbox and nodes.`, true, &at.BrowserTool.AllowHost),
		address(toolKeys+"sandboxUrl", "Sandbox", "Address of a control API in a sandbox. It is used first when set. "+
			"Its token is the secret CLANK_SANDBOX_TOKEN.", &at.BrowserTool.SandboxURL),
		longText(toolKeys+"nodes", "Nodes", `Other machines that share their browsers (clank serve --node-addr), one `+
			`"name address" per line. Their token is the secret CLANK_NODE_TOKEN.`,
			&at.BrowserTool.Nodes).checked(checkNodes),
		choice(toolKeys+"node.mode", "Node selection", "Automatic uses the only node, or the one named below.",
			NodeAuto, &at.BrowserTool.NodeMode, Option{NodeAuto, "Automatic"},
			Option{NodeManual, "Only when a model asks"}, Option{NodeOff, "Never"}),
		text(toolKeys+"node.name", "Preferred node", "The node to use when there are several.", "", 64,
			&at.BrowserTool.Node),
		text(toolKeys+"node.allowProfiles", "Shared profiles", "With --node-addr, the profiles that other machines "+
			"may use, separated by spaces. Leave empty for the default one alone.", "", pathMaxLen,
			&at.BrowserTool.NodeProfiles),
	),
	inGroup(groupTasks,
		number(agentKeys+"maxStepsPerTask", "Steps per task", "A task ends after this many steps, with what it has "+
			"found. A task can ask for another number, up to 200.", 30, 1, 200, &at.MaxSteps),
		duration(agentKeys+"stepTimeoutMs", "Step timeout", "A slower browser action fails and the model is told. A "+
			"slower model answer ends the task.", 30*time.Second, 5*time.Second, 2*time.Minute, &at.StepTimeout),
		duration(taskKeys+"timeoutMs", "Task timeout", "A task that runs longer is stopped. Time in the queue does "+
			"not count.", 10*time.Minute, 30*time.Second, 60*time.Minute, &at.TaskTimeout),
		duration(taskKeys+"drainMs", "Time to finish", "When clank is ended or restarted, tasks that run may go on for so "+
			"long. What is not done then goes on after the start, on Discord by itself.", 15*time.Second, 0, 10*time.Minute,
			&at.DrainTimeout),
		number(agentKeys+"maxBrowseCallsPerHour", "Tasks per hour and person", "How many browsing tasks one person "+
			"may start from Discord in an hour. 0 allows none.", 10, 0, 600, &at.BrowsesPerHour.User),
		number(taskKeys+"maxPerHourPerGuild", "Tasks per hour and server", "How many browsing tasks the people of one "+
			"Discord server may start in an hour. 0 allows none.", 60, 0, 6000, &at.BrowsesPerHour.Guild),
		number(taskKeys+"maxAtOnce", "Concurrent tasks", "How many tasks run at the same time. Others wait in the "+
			"queue.", 4, 1, 32, &at.MaxTasks),
		number(taskKeys+"minFreeMemoryPercent", "Free memory (%)", "While less of this machine's memory is available, "+
			"no further task starts: tasks wait in the queue, and pages that no task uses are closed. One task always runs. 0 "+
			"does not look at the memory.", 10, 0, 90, &at.MinFreeMemory),
		number(taskKeys+"maxAtOncePerGuild", "Concurrent tasks per server", "How many tasks of one Discord server "+
			"run at the same time.", 3, 1, 32, &at.TaskLimits.Guild),
		number(taskKeys+"maxAtOncePerUser", "Concurrent tasks per person", "How many tasks of one person run at the "+
			"same time.", 2, 1, 32, &at.TaskLimits.User),
		duration(taskKeys+"threadAfterMs", "Threads for long tasks", "On Discord, the answer to a task that ran longer "+
			"goes into a thread below its message. The bot needs the permission Create Public Threads. 0 makes none.",
			0, 0, time.Hour, &at.ThreadAfter),
		choice("interaction.stop.allowedTo", "Who may stop a task", "Whose “stop” is obeyed in a Discord channel.",
			StopRequester, &at.WhoMayStop, Option{StopRequester, "The requester and moderators"},
			Option{StopAnyone, "Anyone in the channel"}),
	),
	inGroup(groupApproval,
		approvalField("buy", "Buying", "Buying, ordering, paying and donating.", AskFirst, &at.Approval.Buy),
		approvalField("submit", "Personal data", "Submitting a form that contains names, addresses, numbers or "+
			"passwords. Signing in is not included.", AskFirst, &at.Approval.Submit),
		approvalField("send", "Sending and publishing", "Sending messages, posting, publishing, sharing.", AskFirst,
			&at.Approval.Send),
		approvalField("delete", "Deleting", "Deleting things, closing accounts, ending subscriptions.", AskFirst,
			&at.Approval.Delete),
		approvalField("unclear", "Unclear actions", "Using a control that may change something, where its language or its "+
			"icon cannot be read, and confirming a dialog that does not say what it is about.", AskFirst,
			&at.Approval.Unclear,
			Option{AskAdvised, "Ask first, unless the model below calls it harmless"}),
		model(approvalKeys+"unclearModel", "Model for unclear actions", "Asked what an unclear action does, as "+
			"provider:model, if the rule above says so. It reads what the page calls the control. Without a clear "+
			"answer within ten seconds, you are asked.", "", &at.Approval.UnclearModel),
		approvalField("executable", "Programs", "Downloading files that are programs.", AskFirst,
			&at.Approval.Executable),
		approvalField("permission", "Page permissions", "Letting a page use location, camera, microphone and "+
			"similar. Nothing is granted without approval.", AskFirst, &at.Approval.Permission),
		approvalField("login", "Stored logins", "Filling in a login from the vault, even if the form is not sent. "+
			"Showing cookies to the model of an MCP client.", AskFirst, &at.Approval.Login),
		approvalField("host", "New hosts", "Reaching a host for the first time, if network access asks about new "+
			"hosts.", AskFirst, &at.Approval.Host),
		approvalField("leave", "Leaving listed sites", "Opening a site that is not listed below. Has no effect while "+
			"the list is empty.", AskAllow, &at.Approval.Leave),
		longText(approvalKeys+"sites", "Listed sites", "Hosts that may always be opened, one per line. *.example.com "+
			"means all hosts below example.com. Network access still applies.", &at.Approval.Sites).checked(checkSites),
		approvalField("safety", "Model scripts and vendor warnings", "Running JavaScript written by a model, "+
			"answering a page's dialog in advance, recording for an MCP client what a browser does, and actions that "+
			"the vendor of a computer-use model wants a person to check.", AskFirst, &at.Approval.Safety),
		duration(approvalKeys+"waitMs", "Answer timeout", "A question without an answer in this time counts as no.",
			time.Minute, 10*time.Second, 10*time.Minute, &at.Approval.Wait),
	),
	inGroup(groupAccess,
		longText(accessKeys+"guilds", "Discord servers", "IDs of the Discord servers that may use clank. Leave empty "+
			"for all servers it was invited to.", &at.Access.Guilds).checked(parses(access.ParseIDs)),
		longText(accessKeys+"channels", "Channels", "IDs of the channels that clank works in, including their "+
			"threads. Leave empty for all it can see.", &at.Access.Channels).checked(parses(access.ParseIDs)),
		longText(accessKeys+"people", "People and roles", "IDs of the people and roles that may use clank. A "+
			"server's own ID means all its members. Leave empty for everyone.",
			&at.Access.People).checked(parses(access.ParseIDs)),
		toggle(accessKeys+"direct", "Direct messages", "Let people use clank in direct messages: with a list of servers "+
			"or channels, members who see one of them, and people listed by ID. Roles do not count there.", true,
			&at.Access.Direct),
		longText(accessKeys+"profiles", "Shared profiles", `Who shares which browser profile with its logins, one per `+
			`line, such as "work: 123456789012345678". * means everyone. People get the first profile they are listed in. `+
			`Everyone else gets a browser state of their server's own, or of their own in private, set up like the default `+
			`profile; if that is listed, others are refused. Unlisted profiles are for the operator only.`,
			&at.Access.Profiles).checked(parses(access.ParseGrants)),
		text(accessKeys+"serverSettings", "Set by server managers", "What people who may manage a Discord server can "+
			"set for it with /clank setup, separated by spaces. Limits set here hold there, too.", everyServerField, limitMaxLen,
			&at.Access.ServerFields).checked(checkServerFields),
		longText(accessKeys+"operators", "Operators on Discord", "IDs of people and roles who may choose any model in "+
			"Discord and show the browser's window on the machine that runs clank.",
			&at.Access.Operators).checked(parses(access.ParseIDs)),
		longText(accessKeys+"models", "Models to choose from", "Models that everyone may choose in Discord, as "+
			"provider:model, separated by spaces or lines, besides the one that is set and plain:steps.", &at.Access.Models),
		choice("interaction.language", "Language on Discord", "The language of what clank writes for everyone on a server, "+
			"unless its managers choose another.", "", &at.Language,
			append([]Option{{"", "What the server prefers"}}, languages...)...),
	),
	inGroup(groupSessions,
		duration(sessionKeys+"sessionIdleTimeoutMs", "Session idle time", "After this long without a task, a "+
			"session's page is closed. It opens again when the session continues.", 5*time.Minute, 10*time.Second,
			30*time.Minute, &at.SessionTimeout),
		duration(agentKeys+"sessionTimeoutMs", "Page idle time", "A page is closed after this long without use, "+
			"whoever opened it. The shorter of this and the session idle time applies.", 5*time.Minute, 10*time.Second,
			30*time.Minute, &at.TabTimeout),
		number(sessionKeys+"maxConcurrentSessions", "Open sessions", "How many sessions keep a page open. Above this "+
			"number, the longest idle one is closed.", 20, 1, 100, &at.MaxSessions),
		number("interaction.history.retentionDays", "Keep history for", "Tasks, steps, screenshots and files are deleted "+
			"after this many days. 0 keeps them forever.", 30, 0, 3650, &at.RetentionInDays),
		choice(sessionKeys+"record", "Record sessions", "Keep a video of each task, to be played on the dashboard. "+
			"Private tasks, and times when a person works the page, are left out. A page that moves costs up to one "+
			"processor.", RecordNever, &at.Record, Option{RecordNever, "Never"},
			Option{RecordOnRequest, "On request"}, Option{RecordAlways, "Always"}),
	),
	inGroup(groupSecrets,
		secret("DISCORD_TOKEN", "Discord bot token", "Connects clank to Discord."),
		secret("CLANK_UPSTREAM_LOGIN", "Login for upstream proxies", "As user:password, for the upstream proxies under "+
			"Network access."),
		secret("OPENAI_API_KEY", "OpenAI key", "Needed for models named openai:…."),
		secret("ANTHROPIC_API_KEY", "Anthropic key", "Needed for models named anthropic:…."),
		secret("GEMINI_API_KEY", "Gemini key", "Needed for models named gemini:…."),
		secret("COMPATIBLE_API_KEY", "Key of the OpenAI-compatible server", "For the server of models named "+
			"compatible:…, if it needs a key."),
	),
)
