package server

import (
	"fmt"
	"time"

	"clank/browsermgr/profile"
	"clank/computeruse"
	"clank/internal/recording/video"
	"clank/internal/settings"
	"clank/internal/watches"
	"clank/sessions"
	"clank/sessions/approval"
	"clank/voice/speech/playout"
	"clank/voice/webrtc"
)

// settingEffect describes how the effect of a setting is observed.
type settingEffect struct {
	key, to string                // JSON, or the value of a secret
	see     func(*effects) string // something that it changes
	with    map[string]string     // what else is set, as without that it does nothing
}

const (
	keyPreset     = "agentStack.preset"
	keyRuntime    = "agentStack.overrides.browserRuntime"
	keyBrowser    = "agentStack.runtimeConfig.browser."
	keyAgent      = keyBrowser + "localBrowserAgent."
	keyAgentModel = keyAgent + "execution.model"
	keyNetwork    = keyBrowser + "ssrfPolicy."
	keyBudget     = "agentStack.runtimeConfig.budget."
	keyCompatible = "agentStack.runtimeConfig.models.compatibleBaseUrl"
	keyAssistant  = "interaction.brain."
	keyTool       = "interaction.tool.browser."
	keyVision     = keyTool + "vision."
	keyTasks      = "interaction.tasks."
	keyConsent    = "interaction.consent."
	keyAccess     = "interaction.access."
	keySessions   = "interaction.sessions."
	keySearch     = "interaction.web.search."
	keyWatches    = "interaction.web.watches."
	keyVoice      = "interaction.voice."
	keyShare      = "interaction.share."
	keyBoard      = "interaction.dashboard."
	otherID       = `"900000000000000001"`
)

// Shared parts of rows.
var (
	withBrowser   = map[string]string{keyBrowser + "executablePath": `"BROWSER"`}
	withOpenAI    = map[string]string{"OPENAI_API_KEY": "sk-1"}
	withVendors   = map[string]string{"OPENAI_API_KEY": "sk-1", "ANTHROPIC_API_KEY": "sk-2", "GEMINI_API_KEY": "sk-3"}
	withAgent     = map[string]string{"OPENAI_API_KEY": "sk-1", keyAgentModel: `"openai:gpt-6-sol"`}
	withOwn       = map[string]string{keyCompatible: `"VENDOR/one"`, keyAgentModel: `"compatible:mine"`}
	withAssistant = map[string]string{"OPENAI_API_KEY": "sk-1", keyAssistant + "model": `"openai:gpt-6-sol"`}
	withPage      = map[string]string{keyNetwork + "allowedHostnames": `"127.0.0.1"`}
	withEyes      = map[string]string{"OPENAI_API_KEY": "sk-1", keyVision + "model": `"openai:gpt-6-sol"`}
	withProxy     = map[string]string{keyNetwork + "upstreamProxies": `"work socks5://10.0.0.1:1080"`}
	withTURN      = map[string]string{keyShare + "turnServers": `"turn:turn.example.org:3478"`}
	withClient    = map[string]string{settings.SecretDiscordClient: "s", keyBoard + "signIn": `"members"`}
	withSpeech    = map[string]string{"OPENAI_API_KEY": "sk-1", keyVoice + "speech.baseUrl": `"VENDOR/one"`}
	withHearing   = map[string]string{keyVoice + "transcription.baseUrl": `"VENDOR/one"`}
	withRealtime  = map[string]string{"OPENAI_API_KEY": "sk-1", keyVoice + "brain": `"realtime"`}
	withSearch    = map[string]string{keySearch + "searxngUrl": `"VENDOR"`}
	withNode      = map[string]string{keyTool + "nodes": `"attic VENDOR/attic"`, keyTool + "allowHostControl": "false"}
	withNodes     = map[string]string{
		keyTool + "nodes": `"attic VENDOR/attic\ncellar VENDOR/cellar"`, keyTool + "allowHostControl": "false",
	}
)

func anthropicScreen(e *effects) (computeruse.Model, error) {
	return e.anthropicComputerModel("anthropic:claude-opus-5-5")
}

func geminiScreen(e *effects) (computeruse.Model, error) {
	return e.geminiComputerModel("gemini:gemini-3.5-flash")
}

func iceServers(x *CallService) []webrtc.ICEServer { return x.webrtcEngine.ICEServers }

func directly() sessions.Origin {
	o := someone
	o.Guild = ""
	return o
}

// refusedTo returns why a person may not ask for anything.
func refusedTo(o sessions.Origin) func(*effects) string {
	return handed(func(e *effects) string { return errorText(e.CheckAccess(o)) })
}

// profileOf returns the browser profile of a person.
func profileOf(o sessions.Origin) func(*effects) string {
	return handed(func(e *effects) string {
		name, err := e.SelectProfile(o, o.Place(false), "")
		return name + errorText(err)
	})
}

var settingEffects = []settingEffect{
	{keyPreset, `"claude_api"`, routed(""), withVendors},
	{keyRuntime, `"gemini_computer_use"`, routed(""), withVendors},
	{
		keyBrowser + "handOff", `"allow"`,
		handed(func(e *effects) []string { return e.agentSettings().HandOver }), withVendors,
	},
	{keyBrowser + "openaiComputerUse.model", `"openai:gpt-6-luna"`, routed(settings.RuntimeOpenAI), withVendors},
	{keyBrowser + "openaiComputerUse.client", `"compatible"`, routed(settings.RuntimeOpenAI), withVendors},
	{
		keyBrowser + "openaiComputerUse.stateful", "true",
		seesScreen(openaiScreen, `"store":true`, `"store":false`), withOpenAI,
	},
	{
		keyBrowser + "openaiComputerUse.previewTool", "true",
		seesScreen(openaiScreen, "computer_use_preview"), withOpenAI,
	},
	{
		keyBrowser + "anthropicComputerUse.model", `"anthropic:claude-sonnet-5-5"`,
		routed(settings.RuntimeAnthropic), withVendors,
	},
	{
		keyBrowser + "anthropicComputerUse.toolset", `"browser"`,
		seesScreen(anthropicScreen, "computer_toolset", "browser_toolset"), withVendors,
	},
	{keyBrowser + "geminiComputerUse.model", `"gemini:gemini-3.5-pro"`, routed(settings.RuntimeGemini), withVendors},

	{keyBrowser + "enabled", "false", asked(operator, sessions.Task{}), withAgent},
	{keyBrowser + "headed", "true", started("--headless"), withBrowser},
	{keyBrowser + "profile", `"work"`, profileOf(operator), nil},
	{keyBrowser + "executablePath", `"BROWSER/../other-browser"`, started(), withBrowser},
	{
		keyBrowser + "evaluateEnabled", "false",
		controlCall("POST", "/act", `{"kind":"evaluate","fn":"() => 1"}`), withBrowser,
	},
	{keyBrowser + "attachOnly", "true", started(), withBrowser},
	{keyBrowser + "noSandbox", "true", withoutSandboxEnv, withBrowser},
	{keyBrowser + "extraArgs", `"--lang=de"`, started("--lang"), withBrowser},
	{keyBrowser + "color", `"#00FF00"`, controlCall("GET", "/profiles", ""), nil},
	{keyBrowser + "maxRunning", "1", launching(func(c profile.Config) int { return c.MaxRunning }), nil},
	{keyBrowser + "devToolsPort", "true", launching(func(c profile.Config) bool { return c.DevToolsPort }), nil},
	{keyBrowser + "cdpPortRangeStart", "20000", restarted(func(a *Server) int { return a.Browsers.FirstPort }), nil},
	{
		keyBrowser + "localLaunchTimeoutMs", "1000",
		launching(func(c profile.Config) time.Duration { return c.LaunchTimeout }), nil,
	},
	{
		keyBrowser + "localCdpReadyTimeoutMs", "1000",
		launching(func(c profile.Config) time.Duration { return c.ReadyTimeout }), nil,
	},
	{
		keyBrowser + "remoteCdpTimeoutMs", "100",
		launching(func(c profile.Config) time.Duration { return c.RemoteTimeout }), nil,
	},
	{
		keyBrowser + "remoteCdpHandshakeTimeoutMs", "1000",
		launching(func(c profile.Config) time.Duration { return c.RemoteHandshake }), nil,
	},
	{
		keyBrowser + "actionTimeoutMs", "500",
		handed(func(e *effects) time.Duration { return e.api.Settings.ActionTimeout() }), nil,
	},
	{
		keyBrowser + "snapshotDefaults.mode", `"efficient"`,
		handed(func(e *effects) string { return e.api.Settings.SnapshotMode() }), nil,
	},
	{keyBrowser + "maxDownloadMb", "1", handed(func(e *effects) int64 { return downloadLimit(e) }), nil},
	{keyBrowser + "maxFilesGb", "1", handed(func(e *effects) DiskLimits { return e.disk.Limits() }), nil},
	{keyBrowser + "maxPlaceFilesGb", "1", handed(func(e *effects) DiskLimits { return e.disk.Limits() }), nil},
	{keyBrowser + "maxTaskFilesGb", "1", handed(func(e *effects) DiskLimits { return e.disk.Limits() }), nil},
	{keyBrowser + "minFreeGb", "1048576", handed(func(e *effects) bool { return e.disk.Room("", "", 1) == nil }), nil},
	{keyBrowser + "maxUploadMb", "1", handed(func(e *effects) int64 { return e.Inbox.MaxBytes() }), nil},
	{
		keyBrowser + "tabCleanup.enabled", "false",
		launching(func(c profile.Config) profile.TabCleanup { return c.Cleanup }), nil,
	},
	{
		keyBrowser + "tabCleanup.idleMs", "60000",
		launching(func(c profile.Config) profile.TabCleanup { return c.Cleanup }), nil,
	},
	{
		keyBrowser + "tabCleanup.maxTabsPerSession", "1",
		launching(func(c profile.Config) profile.TabCleanup { return c.Cleanup }), nil,
	},
	{
		keyBrowser + "tabCleanup.freezeMs", "0",
		launching(func(c profile.Config) profile.TabCleanup { return c.Cleanup }), nil,
	},
	{
		keyBrowser + "tabCleanup.sweepMs", "10000",
		launching(func(c profile.Config) profile.TabCleanup { return c.Cleanup }), nil,
	},

	{keyNetwork + "dangerouslyAllowPrivateNetwork", `"true"`, read, nil},
	{keyNetwork + "allowedHostnames", `"127.0.0.1"`, read, nil},
	{keyNetwork + "hostnameAllowlist", `"b.example"`, read, withPage},
	{keyNetwork + "blockedHostnames", `"127.0.0.1"`, read, withPage},
	{keyNetwork + "allowRfc2544BenchmarkRange", "true", reaches("198.18.0.1"), nil},
	{keyNetwork + "allowIpv6UniqueLocalRange", "true", reaches("fd12::1"), nil},
	{keyNetwork + "askNewHosts", "true", handed(func(e *effects) bool { return e.gate.Config.AskUnlisted() }), nil},
	{
		keyNetwork + "upstreamProxies", `"work socks5://10.0.0.1:1080"`,
		handed(func(e *effects) any { return upstreamOf(e.Server) }), nil,
	},
	{"CLANK_UPSTREAM_LOGIN", "ada:secret", restarted(func(a *Server) any { return upstreamOf(a) }), withProxy},

	{keyBudget + "task", `"2 USD"`, spendable, nil},
	{keyBudget + "session", `"2 USD"`, spendable, nil},
	{keyBudget + "user", `"2 USD"`, spendable, nil},
	{keyBudget + "guild", `"2 USD"`, spendable, nil},
	{keyBudget + "day", `"2 USD"`, spendable, nil},
	{keyBudget + "timeZone", `"Asia/Tokyo"`, spendable, nil},
	{"agentStack.runtimeConfig.models.prices", `"openai:mine 1 2 3"`, spendable, nil},

	{keyAgent + "execution.mode", `"disabled"`, asked(operator, sessions.Task{}), withAgent},
	{keyAgentModel, `"openai:gpt-6-luna"`, browseAs(operator, "gpt-6-luna"), withAgent},
	{keyAssistant + "model", `"openai:gpt-6-luna"`, talk("gpt-6-luna"), withAssistant},
	{keyAssistant + "browserTool", "true", talk(`"name":"browser"`), withAssistant},
	{keyAssistant + "instructions", `"Be very brief."`, talk("Be very brief."), withAssistant},
	{keyCompatible, `"VENDOR/two"`, browseAs(operator), withOwn},
	{keyVision + "model", `"openai:gpt-6-luna"`, describe("gpt-6-luna"), withEyes},
	{keyVision + "prompt", `"Say what is red."`, describe("Say what is red."), withEyes},
	{keyVision + "maxBytes", "10000", describe(), withEyes},
	{keyVision + "models", `"openai:gpt-6-sol no"`, describe(), withEyes},

	{keyTool + "allowHostControl", "false", browserTool(`{"action":"profiles"}`), nil},
	{keyTool + "sandboxUrl", `"VENDOR/sandbox"`, browserTool(`{"action":"profiles"}`), nil},
	{keyTool + "nodes", `"attic VENDOR/attic"`, browserTool(`{"action":"profiles"}`), nil},
	{keyTool + "node.mode", `"off"`, browserTool(`{"action":"profiles"}`), withNode},
	{keyTool + "node.name", `"cellar"`, browserTool(`{"action":"profiles"}`), withNodes},
	{
		keyTool + "node.allowProfiles", `"work"`,
		handed(func(e *effects) []string { return e.nodeProxy(e.Tools.ControlAPI, "t").AllowProfiles }), nil,
	},

	{keyAgent + "maxStepsPerTask", "1", handed(func(e *effects) int { return e.agentSettings().MaxSteps }), nil},
	{
		keyAgent + "stepTimeoutMs", "5000",
		handed(func(e *effects) time.Duration { return e.agentSettings().StepTimeout }), nil,
	},
	{keyTasks + "timeoutMs", "30000", limits, nil},
	{
		keyTasks + "drainMs", "60000",
		handed(func(e *effects) time.Duration { return e.Settings.Current().DrainTimeout }), nil,
	},
	{keyAgent + "maxBrowseCallsPerHour", "0", asked(someone, sessions.Task{}), withAgent},
	{keyTasks + "maxPerHourPerGuild", "0", asked(someone, sessions.Task{}), withAgent},
	{keyTasks + "maxAtOnce", "1", limits, nil},
	{keyTasks + "minFreeMemoryPercent", "0", handed(func(e *effects) int { return machineMemory{e.Server}.least() }), nil},
	{keyTasks + "maxAtOncePerGuild", "1", limits, nil},
	{keyTasks + "maxAtOncePerUser", "1", limits, nil},
	{
		keyTasks + "threadAfterMs", "60000",
		handed(func(e *effects) time.Duration { return botHost{e.Server}.ThreadAfter() }), nil,
	},
	{
		"interaction.stop.allowedTo", `"anyone"`,
		handed(func(e *effects) bool { return botHost{e.Server}.AnyoneMayStop() }), nil,
	},

	{keyConsent + "buy", `"allow"`, ask(approval.ClassBuy, ""), nil},
	{keyConsent + "submit", `"refuse"`, ask(approval.ClassSubmit, ""), nil},
	{keyConsent + "send", `"refuse"`, ask(approval.ClassSend, ""), nil},
	{keyConsent + "delete", `"allow"`, ask(approval.ClassDelete, ""), nil},
	{keyConsent + "unclear", `"refuse"`, ask(approval.ClassUnclear, ""), nil},
	{keyConsent + "unclearModel", `"openai:gpt-6-luna"`, advised, map[string]string{
		"OPENAI_API_KEY": "sk-1", keyConsent + "unclear": `"advise"`,
	}},
	{keyConsent + "executable", `"allow"`, ask(approval.ClassExecutable, ""), nil},
	{keyConsent + "permission", `"refuse"`, ask(approval.ClassPermission, ""), nil},
	{keyConsent + "login", `"allow"`, ask(approval.ClassLogin, ""), nil},
	{keyConsent + "host", `"refuse"`, ask(approval.ClassHost, ""), nil},
	{
		keyConsent + "leave", `"refuse"`,
		ask(approval.ClassLeave, "c.example"),
		map[string]string{keyConsent + "sites": `"b.example"`},
	},
	{
		keyConsent + "sites", `"b.example"`,
		ask(approval.ClassLeave, "c.example"),
		map[string]string{keyConsent + "leave": `"refuse"`},
	},
	{keyConsent + "safety", `"allow"`, ask(approval.ClassSafety, ""), nil},
	{
		keyConsent + "waitMs", "10000",
		handed(func(e *effects) time.Duration { return e.Approver.Approvals.Wait() }), nil,
	},

	{keyAccess + "guilds", otherID, refusedTo(someone), nil},
	{keyAccess + "channels", otherID, refusedTo(someone), nil},
	{keyAccess + "people", otherID, refusedTo(someone), nil},
	{keyAccess + "direct", "false", refusedTo(directly()), nil},
	{keyAccess + "profiles", `"work: 400000000000000001"`, profileOf(someone), nil},
	{
		keyAccess + "serverSettings", `"channels"`,
		handed(func(e *effects) int { return len(e.Settings.Guild(guildOne).ManagerFields()) }), nil,
	},
	{keyAccess + "operators", `"400000000000000001"`, asked(someone, sessions.Task{Model: "openai:gpt-6-luna"}), nil},
	{keyAccess + "models", `"openai:gpt-6-luna"`, asked(someone, sessions.Task{Model: "openai:gpt-6-luna"}), nil},
	{"interaction.language", `"de"`, languageOf, nil},

	{keySessions + "sessionIdleTimeoutMs", "10000", limits, nil},
	{keyAgent + "sessionTimeoutMs", "10000", limits, nil},
	{keySessions + "maxConcurrentSessions", "1", limits, nil},
	{"interaction.history.retentionDays", "1", limits, nil},
	{keySessions + "record", `"always"`, handed(func(e *effects) video.Mode { return e.films.Mode() }), nil},

	{"DISCORD_TOKEN", "secret", discordAnswer, nil},
	{"OPENAI_API_KEY", "sk-9", browseAs(operator), withAgent},
	{"ANTHROPIC_API_KEY", "sk-9", seesScreen(anthropicScreen), withVendors},
	{"GEMINI_API_KEY", "sk-9", seesScreen(geminiScreen), withVendors},
	{"COMPATIBLE_API_KEY", "sk-9", browseAs(operator), withOwn},

	{
		keySearch + "engine", `"searxng"`,
		searchesWith,
		map[string]string{"BRAVE_API_KEY": "b", keySearch + "searxngUrl": `"VENDOR"`},
	},
	{keySearch + "searxngUrl", `"VENDOR"`, searchesWith, nil},
	{keySearch + "maxPerHour", "0", searches, withSearch},
	{keySearch + "maxPerHourPerGuild", "0", searches, withSearch},
	{
		keyWatches + "maxPerUser", "0",
		handed(func(e *effects) watches.Limits { return e.Web.Watches.Host.Limits() }), nil,
	},
	{
		keyWatches + "minIntervalMs", "60000",
		handed(func(e *effects) watches.Limits { return e.Web.Watches.Host.Limits() }), nil,
	},
	{keyWatches + "browser", "false", watchesWithBrowser, withBrowser},
	{"BRAVE_API_KEY", "b", searchesWith, nil},
	{"SERPAPI_API_KEY", "b", searchesWith, nil},

	{keyVoice + "enabled", "false", invited, nil},
	{keyVoice + "autoJoin", "true", invited, nil},
	{keyVoice + "brain", `"realtime"`, native, withOpenAI},
	{
		keyVoice + "names", `"Robo"`,
		handed(func(e *effects) bool { return botHost{e.Server}.IsStop("Robo, stop") }), nil,
	},
	{keyVoice + "transcription.baseUrl", `"VENDOR/two"`, heard(), withHearing},
	{keyVoice + "transcription.model", `"whisper-9"`, heard("whisper-9"), withHearing},
	{keyVoice + "transcription.language", `"de"`, heard("\r\nde\r\n"), withHearing},
	{keyVoice + "transcription.wav", "true", heard("RIFF"), withHearing},
	{keyVoice + "transcription.all", "true", callOptions, nil},
	{keyVoice + "speech.engine", `"local"`, speaks, withOpenAI},
	{keyVoice + "speech.baseUrl", `"VENDOR/two"`, said(), withSpeech},
	{keyVoice + "speech.model", `"tts-9"`, said("tts-9"), withSpeech},
	{keyVoice + "speech.voice", `"nova"`, said("nova"), withSpeech},
	{keyVoice + "speech.format", `"wav"`, said(`"response_format":"wav"`), withSpeech},
	{keyVoice + "speech.localVoice", `"de"`, speaks, map[string]string{keyVoice + "speech.engine": `"local"`}},
	{keyVoice + "realtime.baseUrl", `"VENDOR/two"`, native, withRealtime},
	{keyVoice + "realtime.model", `"realtime-9"`, native, withRealtime},
	{keyVoice + "realtime.voice", `"nova"`, native, withRealtime},
	{keyVoice + "bargeIn", `"none"`, callOptions, nil},
	{keyVoice + "aloneMs", "10000", callOptions, nil},
	{keyVoice + "maxSessionMs", "1000", callOptions, nil},
	{keyVoice + "maxConcurrent", "1", invited, nil},
	{keyVoice + "maxPerDay", "1", invited, nil},
	{keyVoice + "maxPerDayPerUser", "1", invited, nil},
	{keyVoice + "allowedChannels", otherID, invited, nil},
	{keyVoice + "blockedChannels", otherID, invited, nil},
	{keyVoice + "requireEncryption", "true", callOptions, nil},
	{
		keyVoice + "keepTranscripts", "true",
		handed(func(e *effects) bool { return e.CallService.keepsTranscripts(guildOne) }), nil,
	},
	{"TRANSCRIPTION_API_KEY", "sk-9", heard(), withHearing},
	{"REALTIME_API_KEY", "sk-9", native, withRealtime},
	{"SPEECH_API_KEY", "sk-9", said(), withSpeech},

	{
		keyShare + "publicUrl", `"https://clank.example.org/watch"`,
		handed(func(e *effects) string { return e.CallService.viewerLink("t") }), nil,
	},
	{
		keyShare + "linkLifetimeMs", "60000",
		handed(func(e *effects) time.Duration { return e.CallService.shareLinks.Lifetime() }), nil,
	},
	{keyShare + "goLive", "true", atStart(func(x *CallService) bool { return x.goLive.wanted }), nil},
	{keyShare + "activity", "true", signingIn, withClient},
	{keyShare + "sound", "false", handed(func(e *effects) bool {
		e.CallService.players.Store(pageCallRef.ID, &playout.Player{})
		return e.CallService.soundPlayer(pageCallRef) != nil
	}), nil},
	{keyShare + "udpPort", "47811", atStart(func(x *CallService) string { return x.webrtcEngine.UDP }), nil},
	{
		keyShare + "publicAddress", `"203.0.113.7"`,
		atStart(func(x *CallService) []string { return x.webrtcEngine.PublicAddrs }), nil,
	},
	{keyShare + "stunServers", `"stun:stun.example.org:3478"`, atStart(iceServers), nil},
	{
		keyShare + "turnServers", `"turn:turn.example.org:3478"`,
		atStart(iceServers),
		map[string]string{settings.SecretTURN: "s"},
	},
	{keyShare + "turnUsername", `"ada"`, atStart(iceServers), map[string]string{
		settings.CredentialTURN: "s", keyShare + "turnServers": `"turn:turn.example.org"`,
	}},
	{"DISCORD_GOLIVE_TOKEN", "secret", handed(func(e *effects) string {
		token, err := e.CallService.goLiveToken()
		return fmt.Sprint(token, err)
	}), nil},
	{settings.SecretDiscordClient, "s", signingIn, map[string]string{keyBoard + "signIn": `"members"`}},
	{settings.SecretTURN, "s", atStart(iceServers), withTURN},
	{settings.CredentialTURN, "s", atStart(iceServers), map[string]string{
		keyShare + "turnUsername": `"ada"`, keyShare + "turnServers": `"turn:turn.example.org"`,
	}},

	{keyBoard + "signIn", `"members"`, signingIn, map[string]string{settings.SecretDiscordClient: "s"}},
	{keyBoard + "operators", `"400000000000000001"`, signingIn, withClient},
	{keyBoard + "hosts", `"clank.example.org"`, asProxy, map[string]string{keyBoard + "proxies": `"127.0.0.1"`}},
	{keyBoard + "proxies", `"127.0.0.1"`, asProxy, map[string]string{keyBoard + "hosts": `"clank.example.org"`}},

	{settings.ServerChannels, otherID, refusedTo(someone), nil},
	{settings.ServerRoles, otherID, refusedTo(someone), nil},
	{settings.ServerModel, `"openai:gpt-6-luna"`, browseAs(someone, "gpt-6-luna"), map[string]string{
		"OPENAI_API_KEY": "sk-1", keyAgentModel: `"openai:gpt-6-sol"`, keyAccess + "models": `"openai:gpt-6-luna"`,
	}},
	{settings.ServerBudget, `"2 USD"`, spendable, nil},
	{settings.ServerLanguage, `"de"`, languageOf, nil},
	{settings.ServerIsolation, `"person"`, profileOf(someone), nil},
	{settings.ServerPrivate, "true", handed(func(e *effects) bool { return e.CallService.isPrivate(guildOne) }), nil},
}
