package layout_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// table lists what each package of ours may import of ours. A path stands for
// itself alone. Packages not listed fail the test: a new package is a decision.
var table = map[string][]string{
	"access":               {},
	"tokens":               {},
	"cancel":               {},
	"consent":              {},
	"llm":                  {},
	"settings":             {"access", "settings/amount"},
	"settings/amount":      {},
	"settings/routing":     {"settings"},
	"vault":                {},
	"webread":              {"browsermgr/egress"},
	"watches":              {"sessions", "cancel"},
	"watches/watchestest":  {"watches", "sessions"},
	"watches/judge":        {"watches", "llm", "untrusted"},
	"websearch":            {},
	"voice":                {},
	"voice/audio":          {"voice"},
	"voice/ear":            {"voice", "voice/audio"},
	"voice/mouth":          {"voice"},
	"voice/realtime":       {"llm", "voice", "voice/audio"},
	"voice/speech/espeak":  {"voice", "voice/audio"},
	"voice/speech/remote":  {"llm", "llm/wire", "voice", "voice/audio"},
	"voice/speech/spot":    {"voice"},
	"llm/llmtest/realtime": {"llm/llmtest"},
	"videosource":          {},

	"voice/discord": {"voice", "voice/discord/dave", "voice/discord/media"},
	"voice/discord/media": {
		"voice", "voice/discord/dave", "voice/discord/media/outbox", "voice/discord/media/rtpsize", "voice/discord/media/senders",
	},
	"voice/discord/media/senders": {"voice/discord/media/rtpsize"},
	"voice/discord/media/outbox":  {"voice"},
	"voice/discord/media/rtpsize": {},
	"voice/rtc":                   {"videosource", "voice"},
	"voice/rtc/rtctest":           {"videosource", "voice/rtc"},
	"voice/webcall":               {"voice", "voice/rtc"},
	"sharing/viewer":              {"videosource", "voice/rtc"},
	"sharing":                     {"llm", "sessions", "videosource"},
	"voice/discord/golive": {
		"sharing", "videosource", "voice", "voice/discord", "voice/discord/dave", "voice/discord/golive/rtcmode", "voice/discord/media",
	},
	"voice/discord/golive/preview": {},
	"voice/discord/golive/rtcmode": {"voice/discord/media"},

	"voice/discord/dave":            {"voice/discord/dave/mls"},
	"voice/discord/dave/mls":        {},
	"internal/discordtest/delivery": {},

	"browsermgr/chrome":    {},
	"browsermgr/fault":     {},
	"browsermgr/feed":      {},
	"browsermgr/cdp":       {},
	"browsermgr/cover":     {},
	"browsermgr/har":       {},
	"browsermgr/doctor":    {},
	"browsermgr/trash":     {},
	"browsermgr/graphics":  {"browsermgr/cdp"},
	"browsermgr/address":   {"browsermgr/fault"},
	"browsermgr/breaker":   {"browsermgr/fault"},
	"browsermgr/input":     {"browsermgr/fault"},
	"browsermgr/outline":   {"browsermgr/fault"},
	"browsermgr/tabname":   {"browsermgr/fault"},
	"browsermgr/dialog":    {"browsermgr/fault"},
	"browsermgr/endpoint":  {"browsermgr/cdp", "browsermgr/fault"},
	"browsermgr/roster":    {"browsermgr/endpoint", "browsermgr/fault"},
	"browsermgr/upkeep":    {},
	"browsermgr/tabset":    {"browsermgr/cdp", "browsermgr/frame", "browsermgr/page"},
	"browsermgr/report":    {"browsermgr/doctor", "browsermgr/graphics"},
	"browsermgr/intercept": {"browsermgr/cdp", "browsermgr/frame", "browsermgr/page"},
	"browsermgr/plan":      {"browsermgr/chrome", "browsermgr/endpoint", "browsermgr/fault", "browsermgr/roster"},
	"browsermgr/frame":     {"browsermgr/cdp", "browsermgr/fault", "browsermgr/input", "browsermgr/outline"},
	"browsermgr/aria":      {"browsermgr/cdp", "browsermgr/frame"},
	"browsermgr/capture":   {"browsermgr/cdp", "browsermgr/fault", "browsermgr/frame", "browsermgr/outline"},
	"browsermgr/frametree": {"browsermgr/frame"},
	"browsermgr/load":      {"browsermgr/cdp"},
	"browsermgr/reading":   {"browsermgr/frame", "browsermgr/outline"},
	"browsermgr/arguments": {"browsermgr/page"},
	"browsermgr/act": {
		"browsermgr/address", "browsermgr/cdp", "browsermgr/fault", "browsermgr/frame", "browsermgr/input", "browsermgr/outline",
	},
	"browsermgr/page": {
		"browsermgr/act", "browsermgr/address", "browsermgr/aria", "browsermgr/capture", "browsermgr/cdp", "browsermgr/cover", "browsermgr/dialog",
		"browsermgr/fault", "browsermgr/feed", "browsermgr/frame", "browsermgr/frametree", "browsermgr/input", "browsermgr/load", "browsermgr/outline",
		"browsermgr/reading",
	},
	"browsermgr/login":          {"browsermgr/cdp", "browsermgr/frame", "browsermgr/page"},
	"browsermgr/emulate":        {"browsermgr/cdp", "browsermgr/fault", "browsermgr/frame", "browsermgr/page"},
	"browsermgr/intent":         {"browsermgr/act", "browsermgr/arguments", "browsermgr/cdp", "browsermgr/frame", "browsermgr/input", "browsermgr/page"},
	"browsermgr/picture":        {"browsermgr/cdp", "browsermgr/fault", "browsermgr/frame", "browsermgr/page"},
	"browsermgr/record":         {"browsermgr/cdp", "browsermgr/fault", "browsermgr/frame", "browsermgr/har", "browsermgr/page"},
	"browsermgr/transfer":       {"browsermgr/cdp", "browsermgr/fault", "browsermgr/frame", "browsermgr/page", "browsermgr/transfer/place"},
	"browsermgr/transfer/place": {"browsermgr/fault"},
	"browsermgr/trace": {
		"browsermgr/cdp", "browsermgr/frame", "browsermgr/har", "browsermgr/page", "browsermgr/record",
	},
	"browsermgr/connect": {"browsermgr/cdp", "browsermgr/chrome", "browsermgr/endpoint", "browsermgr/page", "browsermgr/plan"},
	"browsermgr/survey": {
		"browsermgr/cdp", "browsermgr/chrome", "browsermgr/connect", "browsermgr/doctor", "browsermgr/endpoint", "browsermgr/page",
		"browsermgr/plan", "browsermgr/report",
	},
	"browsermgr": {
		"browsermgr/address", "browsermgr/arguments", "browsermgr/breaker", "browsermgr/cdp", "browsermgr/chrome", "browsermgr/connect",
		"browsermgr/endpoint", "browsermgr/fault", "browsermgr/graphics", "browsermgr/input", "browsermgr/intent", "browsermgr/page",
		"browsermgr/picture", "browsermgr/plan", "browsermgr/report", "browsermgr/roster", "browsermgr/survey", "browsermgr/tabset",
		"browsermgr/trash", "browsermgr/upkeep",
	},

	"browsermgr/egress": {
		"browsermgr/address",
		"browsermgr/egress/dial", "browsermgr/egress/ledger", "browsermgr/egress/policy", "browsermgr/egress/relay", "browsermgr/egress/resolve",
	},
	"browsermgr/egress/dial":    {},
	"browsermgr/egress/ledger":  {},
	"browsermgr/egress/relay":   {},
	"browsermgr/egress/resolve": {},
	"browsermgr/egress/policy":  {},

	"browsermgr/control/body":   {"browsermgr/fault"},
	"browsermgr/control/gate":   {},
	"browsermgr/control/client": {},
	"browsermgr/control/reply":  {"browsermgr", "browsermgr/page", "browsermgr/tabname", "browsermgr/transfer"},
	"browsermgr/control/ask":    {"browsermgr/control/reply", "browsermgr/intent", "browsermgr/page"},
	"browsermgr/control/route":  {"browsermgr", "browsermgr/control/ask", "browsermgr/control/body", "browsermgr/control/desk", "browsermgr/control/reply"},
	"browsermgr/control/desk":   {"browsermgr", "browsermgr/control/reply", "browsermgr/egress/policy", "browsermgr/page", "browsermgr/tabname"},
	"browsermgr/control/action": {
		"browsermgr/control/ask", "browsermgr/control/body", "browsermgr/control/desk", "browsermgr/control/reply", "browsermgr/control/route", "browsermgr/emulate",
		"browsermgr/fault", "browsermgr/page", "browsermgr/trace", "browsermgr/transfer",
	},
	"browsermgr/control/look": {
		"browsermgr/control/body", "browsermgr/control/desk", "browsermgr/control/reply", "browsermgr/control/route", "browsermgr/fault",
		"browsermgr/outline", "browsermgr/page", "browsermgr/picture",
	},
	"browsermgr/control/features": {
		"browsermgr/cdp", "browsermgr/control/desk", "browsermgr/control/reply", "browsermgr/control/route", "browsermgr/emulate", "browsermgr/fault",
		"browsermgr/frame", "browsermgr/har", "browsermgr/page", "browsermgr/picture", "browsermgr/record", "browsermgr/trace", "browsermgr/transfer",
	},
	"browsermgr/control": {
		"browsermgr", "browsermgr/control/action", "browsermgr/control/ask", "browsermgr/control/body", "browsermgr/control/desk", "browsermgr/control/features",
		"browsermgr/control/gate", "browsermgr/control/look", "browsermgr/control/reply", "browsermgr/control/route", "browsermgr/fault",
		"browsermgr/page", "browsermgr/tabname", "browsermgr/transfer",
	},

	"computeruse/keys":            {},
	"computeruse/picture":         {"llm"},
	"computeruse/secret":          {"sessions/working"},
	"computeruse/computerusetest": {"computeruse", "llm", "sessions"},

	"sessions":              {"cancel"},
	"sessions/sessionstest": {"cancel", "sessions"},
	"sessions/working":      {"llm", "sessions"},
	"llm/openai":            {"llm", "llm/wire"},
	"llm/plain":             {"llm"},
	"llm/llmtest":           {"llm"},
	"llm/llmtest/gemini":    {"llm", "llm/llmtest"},
	"browseagent":           {"llm", "sessions", "sessions/working", "untrusted"},
	"computeruse":           {"computeruse/keys", "computeruse/picture", "computeruse/secret", "llm", "sessions", "sessions/working", "untrusted"},
	"computeruse/anthropic": {"computeruse", "llm", "llm/anthropic"},
	"computeruse/gemini":    {"computeruse", "llm", "llm/gemini"},
	"computeruse/openai":    {"computeruse", "llm", "llm/openai"},
	"llm/anthropic":         {"llm", "llm/wire"},
	"llm/wire":              {"llm"},
	"llm/llmtest/anthropic": {"llm", "llm/llmtest"},
	"llm/gemini":            {"llm", "llm/wire"},
	"brain":                 {"llm", "sessions", "cancel", "untrusted", "watches", "webread", "websearch"},
	"browsertool":           {"browsertool/media", "browsertool/remote", "llm", "untrusted"},
	"browsertool/media":     {},
	"browsertool/node":      {"browsertool/media", "browsertool/remote"},
	"browsertool/remote":    {},
	"runs":                  {"browseagent", "browsermgr/outline", "computeruse", "llm", "sessions", "sessions/working"},
	"runs/replay":           {"browseagent", "browsermgr/outline", "computeruse", "llm", "runs", "sessions"},
	"runs/script":           {"browsermgr/outline", "llm/plain", "runs", "sessions"},
	"untrusted":             {},
	"mcpserver":             {"browsertool", "llm", "untrusted"},
	"budget":                {"computeruse", "llm", "sessions", "sessions/working"},
	"budget/budgettest":     {"budget", "llm"},
	"budget/speech":         {"budget", "llm", "voice"},
	"sqlite":                {"budget", "sessions", "settings", "voice/privacy", "watches"},
	"bot": {
		"bot/gateway", "bot/guilds", "bot/jobs", "bot/markup", "bot/menu", "bot/rest", "brain", "cancel", "consent", "llm", "sessions", "watches",
	},
	"bot/gateway":      {},
	"bot/guilds":       {},
	"bot/jobs":         {},
	"bot/menu":         {},
	"bot/markup":       {},
	"bot/rest":         {},
	"dashboard":        {"budget", "cancel", "consent", "dashboard/client", "dashboard/wire", "sessions", "settings", "settings/routing", "tokens", "watches"},
	"dashboard/client": {"budget", "consent", "dashboard/wire", "sessions"},
	"dashboard/wire":   {"consent", "sessions", "settings", "settings/routing", "watches"},

	"internal/aimock":              {},
	"internal/browsertest":         {"browsermgr/chrome", "browsermgr/page"},
	"internal/cmdline":             {},
	"internal/command":             {"internal/cmdline"},
	"internal/command/commandtest": {"internal/command"},
	"internal/home":                {},
	"internal/owner":               {"dashboard/client", "internal/command", "internal/home", "sqlite"},
	"internal/demoshop":            {},
	"internal/discordtest": {
		"internal/discordtest/hub", "internal/discordtest/member", "internal/discordtest/rest", "internal/discordtest/shape",
		"internal/discordtest/voiceserver",
	},
	"internal/discordtest/shape":       {},
	"internal/discordtest/hub":         {"internal/discordtest/shape", "internal/discordtest/voiceserver"},
	"internal/discordtest/rest":        {"internal/discordtest/hub", "internal/discordtest/shape"},
	"internal/discordtest/aead":        {},
	"internal/discordtest/member":      {"internal/discordtest/aead", "internal/discordtest/voiceserver"},
	"internal/discordtest/private":     {"internal/discordtest/member", "voice/discord/dave"},
	"internal/callpeers":               {},
	"internal/npm":                     {},
	"internal/davey":                   {"internal/npm"},
	"internal/discordtest/rtcpeer":     {},
	"internal/discordtest/voiceserver": {"internal/discordtest/aead", "internal/discordtest/delivery", "internal/discordtest/rtcpeer"},
	"internal/injection":               {},
	"internal/layout":                  {},
	"voice/privacy":                    {},
	"voice/talk": {
		"brain", "cancel", "llm", "sessions", "voice", "voice/audio", "voice/talk/limits", "voice/talk/memory", "voice/talk/native",
		"voice/talk/phrases", "voice/talk/queue", "voice/talk/reach", "voice/talk/words",
	},
	"voice/talk/calls":   {"brain", "cancel", "llm", "sessions"},
	"voice/talk/limits":  {"voice/talk/phrases"},
	"voice/talk/memory":  {"brain", "voice/talk/words"},
	"voice/talk/native":  {"brain", "llm", "sessions", "voice", "voice/realtime", "voice/talk/toolbox"},
	"voice/talk/phrases": {"voice/talk/words"},
	"voice/talk/queue":   {"voice"},
	"voice/talk/reach":   {"cancel"},
	"voice/talk/senses":  {"llm", "voice/ear", "voice/mouth", "voice/talk", "voice/talk/native"},
	"voice/talk/toolbox": {"brain", "llm", "sessions"},
	"voice/talk/words":   {},

	"internal/minds": {
		"browseagent", "browsermgr", "cancel", "computeruse", "computeruse/anthropic", "computeruse/gemini", "computeruse/openai",
		"internal/tasks", "llm", "llm/anthropic", "llm/gemini", "llm/llmtest", "llm/llmtest/anthropic", "llm/llmtest/gemini", "llm/openai",
		"llm/plain", "sessions", "sessions/sessionstest",
	},
	"internal/models":   {"llm", "llm/anthropic", "llm/gemini", "llm/openai", "llm/plain", "settings", "settings/routing"},
	"internal/spending": {"budget", "llm", "settings", "settings/amount"},
	"internal/asking": {
		"browsermgr/control/ask", "browsermgr/transfer", "browsertool/remote", "consent", "internal/terminal", "sessions", "settings",
	},
	"internal/toolbox":  {"brain", "browsertool", "browsertool/node", "browsertool/remote", "internal/asking", "llm", "sessions", "settings"},
	"internal/logins":   {"browseagent", "browsermgr", "browsermgr/login", "browsermgr/page", "sessions", "vault"},
	"internal/pixels":   {},
	"internal/running":  {},
	"internal/tasks":    {},
	"internal/terminal": {"consent", "dashboard/wire", "sessions"},
	"internal/tokencli": {"internal/cmdline", "tokens"},
	"internal/vaultcli": {"internal/cmdline", "vault"},
	"internal/browsecli": {
		"cancel", "consent", "dashboard/client", "dashboard/wire", "internal/cmdline", "internal/command", "internal/home", "internal/owner",
		"internal/terminal", "llm/plain", "runs/script", "sessions", "settings",
	},
	"internal/budgetcli": {
		"budget", "dashboard/client", "internal/cmdline", "internal/command", "internal/owner", "internal/spending", "settings", "sqlite",
	},
	"internal/doctorcli": {
		"budget", "internal/budgetcli", "internal/cmdline", "internal/command", "internal/settingscli", "llm", "settings", "untrusted", "websearch",
	},
	"internal/sessioncli": {
		"dashboard/client", "dashboard/wire", "internal/browsecli", "internal/cmdline", "internal/command", "internal/home", "internal/owner",
		"internal/terminal", "runs", "runs/replay", "runs/script", "sessions", "sqlite", "untrusted",
	},
	"internal/settingscli": {
		"dashboard/client", "dashboard/wire", "internal/cmdline", "internal/command", "internal/models", "internal/owner", "internal/terminal",
		"settings", "settings/routing", "sqlite", "untrusted",
	},
	"internal/watchcli": {
		"cancel", "dashboard/client", "dashboard/wire", "internal/cmdline", "internal/command", "internal/owner", "internal/terminal", "sessions",
		"sqlite", "watches",
	},
	"internal/endurance":  {},
	"internal/shareloop":  {},
	"internal/voiceloop":  {"internal/discordtest/member", "voice", "voice/audio", "voice/ear"},
	"internal/playwright": {"internal/npm"},
	"internal/peers":      {"browsermgr/chrome", "internal/playwright", "internal/running"},

	"internal/conformance": {
		"internal/conformance/acts", "internal/conformance/check", "internal/conformance/commands", "internal/conformance/files", "internal/conformance/looks",
		"internal/conformance/observed", "internal/conformance/pictures", "internal/conformance/profiles", "internal/conformance/routes",
		"internal/conformance/themes",
	},
	"internal/conformance/acts":     {"internal/conformance/check"},
	"internal/conformance/check":    {"internal/conformance/site", "internal/running"},
	"internal/conformance/commands": {"internal/conformance/check"},
	"internal/conformance/files":    {"internal/conformance/check"},
	"internal/conformance/looks":    {"internal/conformance/check"},
	"internal/conformance/observed": {"internal/conformance/check"},
	"internal/conformance/pictures": {"internal/conformance/check"},
	"internal/conformance/profiles": {"internal/conformance/check"},
	"internal/conformance/routes":   {"internal/conformance/check", "internal/running"},
	"internal/conformance/site":     {},
	"internal/conformance/themes":   {"internal/conformance/check", "internal/playwright"},

	"internal/browsercli":       {"browsermgr/control/client", "internal/cmdline", "internal/browsercli/shell", "internal/browsercli/show"},
	"internal/browsercli/show":  {"browsermgr/control/client"},
	"internal/browsercli/shell": {},

	"internal/hostile":        {"internal/hostile/field", "internal/hostile/ground"},
	"internal/hostile/canary": {},
	"internal/hostile/corpus": {"internal/hostile/names"},
	"internal/hostile/ground": {},
	"internal/hostile/names":  {},
	"internal/hostile/field": {
		"browsermgr", "browsermgr/cdp", "browsermgr/chrome", "browsermgr/egress", "browsermgr/egress/policy", "browsermgr/intercept",
		"browsermgr/page", "internal/hostile/canary", "internal/hostile/corpus", "internal/hostile/ground", "internal/hostile/names",
		"internal/running",
	},
}

// everything may be imported only by the command, which wires, and by tests of
// the whole.
var wiring = []string{"cmd/clank", "internal/phone", "internal/smoke"}

// walls say in which of our packages, and those below them, an outside library
// may be imported.
var walls = map[string][]string{
	"github.com/bwmarrin/discordgo":     {"bot", "voice/discord", "cmd/clank", "internal/discordtest"},
	"github.com/go-rod/rod":             {"browsermgr"},
	"github.com/pion":                   {"videosource", "voice", "internal"},
	"github.com/sashabaranov/go-openai": {"llm", "computeruse"},
	"github.com/anthropics":             {}, // tests with the tag peers have it
	"google.golang.org/genai":           {}, // likewise
	"github.com/modelcontextprotocol":   {"mcpserver", "cmd/clank"},
	"database/sql":                      {"sqlite"},
	"modernc.org/sqlite":                {"sqlite"},
}

type pkg struct {
	ImportPath   string
	Imports      []string
	TestImports  []string
	XTestImports []string
}

func TestPackagesImportOnlyWhatTheTableAllows(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, "clank/")
		if slices.Contains(wiring, name) {
			continue
		}
		allowed, known := table[name]
		if !known {
			t.Errorf("package %s is not in the import table", name)
			continue
		}
		for _, imp := range p.Imports {
			if ours, ok := strings.CutPrefix(imp, "clank/"); ok && !slices.Contains(allowed, ours) {
				t.Errorf("package %s imports %s, which the table does not allow", name, ours)
			}
		}
	}
}

func TestOutsideLibrariesStayBehindTheirWalls(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, "clank/")
		for _, imp := range p.Imports {
			for lib, rooms := range walls {
				if within(imp, lib) && !slices.ContainsFunc(rooms, func(room string) bool { return within(name, room) }) {
					t.Errorf("package %s imports %s, which belongs in %s", name, imp, strings.Join(rooms, ", "))
				}
			}
		}
	}
}

func TestTheProgramLinksNoTestServers(t *testing.T) {
	imports := map[string][]string{}
	for _, p := range packages(t) {
		imports[p.ImportPath] = p.Imports
	}
	linked := map[string]bool{}
	for queue := []string{"clank/cmd/clank"}; len(queue) > 0; queue = queue[1:] {
		path := queue[0]
		if linked[path] {
			continue
		}
		linked[path] = true
		if within(path, "clank/llm/llmtest") || path == "testing" {
			t.Errorf("the program links %s", path)
		}
		queue = append(queue, imports[path]...)
	}
}

// Libraries that no package of ours may import are judges in tests with the tag
// peers. All others are compiled without them.
func TestLibrariesOfVendorsAreCompiledOnlyWithTheTag(t *testing.T) {
	for _, p := range packages(t) {
		for _, imp := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			for lib, rooms := range walls {
				if len(rooms) == 0 && within(imp, lib) {
					t.Errorf("%s imports %s without the tag peers", p.ImportPath, imp)
				}
			}
		}
	}
}

func TestNobodyImportsTheCommand(t *testing.T) {
	for _, p := range packages(t) {
		for _, imp := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			if within(imp, "clank/cmd") {
				t.Errorf("%s imports %s", p.ImportPath, imp)
			}
		}
	}
}

// within reports whether path is root or below it.
func within(path, root string) bool {
	return path == root || strings.HasPrefix(path, root+"/")
}

func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports,TestImports,XTestImports", "clank/...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var ps []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("decode go list: %v", err)
		}
		ps = append(ps, p)
	}
	if len(ps) < 3 {
		t.Fatalf("go list found %d packages", len(ps))
	}
	return ps
}
