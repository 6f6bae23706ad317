package settings_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"clank/internal/settings"
	"clank/internal/test/check"

	"github.com/google/go-cmp/cmp"
)

func TestDefaultsAreThoseOfTheTable(t *testing.T) {
	want := settings.Settings{
		BrowserEnabled: true, Profile: "clank", AgentMode: settings.ModeDedicated, AgentModel: "plain:steps",
		BrowsesPerHour: settings.TaskLimits{Guild: 60, User: 10}, MaxSteps: 30, StepTimeout: 30 * time.Second,
		TabTimeout:     5 * time.Minute,
		SessionTimeout: 5 * time.Minute, MaxSessions: 20, MaxTasks: 4, MinFreeMemory: 10,
		TaskLimits:  settings.TaskLimits{Guild: 3, User: 2},
		TaskTimeout: 10 * time.Minute, DrainTimeout: 15 * time.Second, WhoMayStop: settings.StopRequester,
		RetentionInDays: 30, Record: settings.RecordNever,
		Approval: settings.Approval{
			Submit: "ask", Buy: "ask", Send: "ask", Delete: "ask", Permission: "ask", Executable: "ask", Leave: "allow",
			Host: "ask", Login: "ask", Safety: "ask", Unclear: "ask",
			Wait: time.Minute,
		},
		Browser: settings.Browser{
			EvaluateEnabled: true, MaxRunning: 8, Color: "#FF4500", FirstPort: 18800, RemoteTimeout: 1500 * time.Millisecond,
			LaunchTimeout: 15 * time.Second,
			ReadyTimeout:  8 * time.Second, ActionTimeout: time.Minute, TabCleanup: true, TabIdle: 2 * time.Hour,
			TabsPerSession:   8,
			TabSweepInterval: 5 * time.Minute, FreezeAfter: 10 * time.Second, MaxDownload: 2048, MaxFiles: 10,
			MaxPlaceFiles: 5, MaxTaskFiles: 4, MinFree: 1, MaxUpload: 1024,
		},
		Access: settings.Access{Direct: true, ServerFields: "channels roles model budget language isolation privacy"},
		Web: settings.Web{
			SearchEngine: settings.SearchAny, SearchesPerHour: settings.TaskLimits{User: 20, Guild: 60},
			WatchesPerPerson: 5, MinWatchInterval: 15 * time.Minute, WatchBrowser: true,
		},
		Budget: settings.Budget{
			Task: "1 USD, 100 calls, 1000000 tokens", User: "5 USD, 5000000 tokens, 120 talk-minutes",
			Guild: "10 USD, 10000000 tokens, 600 talk-minutes", Day: "20 USD, 20000000 tokens",
		},
		BrowserTool: settings.BrowserTool{AllowHost: true, NodeMode: settings.NodeAuto},
		Vision:      settings.Vision{MaxBytes: 5 << 20},
	}
	want.Voice = settings.Voice{
		Enabled: true, Engine: settings.VoiceEngineText, BargeIn: settings.BargeInAnyone, AloneTimeout: 5 * time.Minute,
		MaxDuration: 2 * time.Hour,
		MaxCalls:    3, CallsPerDay: settings.TaskLimits{User: 40, Guild: 120},
		Transcription: settings.Transcription{Model: "gpt-transcribe"},
		Speech: settings.Speech{
			Engine: settings.SpeechAuto, Model: "gpt-4o-mini-tts", Voice: "alloy",
			Format: settings.SpeechOpus,
		},
		Realtime: settings.RealtimeModel{Model: "gpt-realtime-2.1", Voice: "marin"},
	}
	want.Share = settings.Share{LinkLifetime: 2 * time.Hour, Sound: true}
	want.HandOver = settings.HandOverNever
	want.OpenAIComputer = settings.OpenAIComputer{Client: "auto", Model: "openai:gpt-5.6"}
	want.AnthropicComputer = settings.AnthropicComputer{Model: "anthropic:claude-opus-5-5", Toolset: "computer"}
	want.GeminiComputer = settings.GeminiComputer{Model: "gemini:gemini-3.5-flash"}
	check.Diff(t, "defaults", settings.Defaults(), want)
}

func TestEveryFieldIsFitToBeShown(t *testing.T) {
	seen := map[string]bool{}
	group := ""
	for _, f := range settings.Fields() {
		if seen[f.Key] {
			t.Errorf("%s is in the table twice", f.Key)
		}
		seen[f.Key] = true
		if f.Label == "" || !strings.HasSuffix(f.Effect, ".") || f.Kind == "" {
			t.Errorf("%s lacks a label, a sentence about its effect, or a kind", f.Key)
		}
		if f.Group != group {
			if group = f.Group; seen["group "+group] {
				t.Errorf("group %q is split", group)
			}
			seen["group "+group] = true
		}
		if f.Kind == settings.KindSecret {
			continue
		}
		if shown := f.FormatValue(settings.Defaults()); shown == "" || f.Kind != settings.KindToggle && f.Limits() == "" {
			t.Errorf("%s: default %q, limits %q: one is missing", f.Key, shown, f.Limits())
		}
	}
}

func TestEveryDefaultIsAValidValue(t *testing.T) {
	l := open(t, &memory{})
	for _, f := range settings.Fields() {
		if f.Kind == settings.KindSecret {
			continue
		}
		changes := map[string]json.RawMessage{f.Key: f.JSON(settings.Defaults())}
		if _, _, err := l.Update(t.Context(), changes, l.State().Version); err != nil {
			t.Errorf("default of %s: %v", f.Key, err)
		}
	}
	if got := l.State().Stored; len(got) != 0 {
		t.Errorf("defaults were stored: %v", got)
	}
}

func TestTypedTextIsParsedToAValue(t *testing.T) {
	for _, tc := range []struct{ key, text, want string }{
		{"agentStack.runtimeConfig.browser.headed", " On ", "true"},
		{"agentStack.runtimeConfig.browser.headed", "no", "false"},
		{"agentStack.runtimeConfig.browser.headed", "maybe", `"maybe"`},
		{"agentStack.runtimeConfig.browser.localBrowserAgent.maxStepsPerTask", "12", "12"},
		{"agentStack.runtimeConfig.browser.localBrowserAgent.maxStepsPerTask", "a dozen", `"a dozen"`},
		{"agentStack.runtimeConfig.browser.localBrowserAgent.stepTimeoutMs", "20000", "20000"},
		{"agentStack.runtimeConfig.browser.localBrowserAgent.stepTimeoutMs", "1m30s", "90000"},
		{"agentStack.runtimeConfig.browser.localBrowserAgent.maxStepsPerTask", "3s", `"3s"`},
		{"interaction.brain.model", "openai:gpt-5.6", `"openai:gpt-5.6"`},
	} {
		f, ok := settings.FindField(tc.key)
		if !ok {
			t.Fatalf("no field %s", tc.key)
		}
		check.Equal(t, fmt.Sprintf("%s from %q", tc.key, tc.text), string(f.ParseText(tc.text)), tc.want)
	}
}

func TestValuesAreShownAsPeopleReadThem(t *testing.T) {
	s := settings.Defaults()
	s.StepTimeout = 1500 * time.Millisecond
	for key, want := range map[string]string{
		"agentStack.runtimeConfig.browser.enabled":                         "on",
		"agentStack.runtimeConfig.browser.headed":                          "off",
		"agentStack.runtimeConfig.browser.localBrowserAgent.stepTimeoutMs": "1500 ms",
		"interaction.tasks.timeoutMs":                                      "10 min",
		"interaction.brain.model":                                          "empty",
		"interaction.stop.allowedTo":                                       "The requester and moderators",
		"interaction.tasks.maxAtOnce":                                      "4",
		"DISCORD_TOKEN":                                                    "",
	} {
		f, _ := settings.FindField(key)
		check.Equal(t, key+" shows", f.FormatValue(s), want)
	}
}

func FuzzAValueIsAppliedOrRefusedButNeverHalf(f *testing.F) {
	for _, seed := range []string{
		"true", "12", "-1", "1e400", `"plain:steps"`, `"http://a b"`, "null", "[1]", `{"a":1}`,
		"\"\u0000\"", "9007199254740993",
	} {
		for i := range settings.Fields() {
			f.Add(i, seed)
		}
	}
	fields := settings.Fields()
	f.Fuzz(func(t *testing.T, i int, raw string) {
		if !json.Valid([]byte(raw)) {
			t.Skip("no JSON")
		}
		field := fields[((i%len(fields))+len(fields))%len(fields)]
		store := &memory{}
		l := open(t, store)
		_, _, err := l.Update(t.Context(), map[string]json.RawMessage{field.Key: json.RawMessage(raw)}, "")
		if err != nil {
			if l.Current() != settings.Defaults() || store.values != nil {
				t.Fatalf("%s = %s was refused (%v) and applied", field.Key, raw, err)
			}
			return
		}
		if again := open(t, store); again.Current() != l.Current() || again.State().Problems != nil {
			t.Fatalf("%s = %s reads back as something else", field.Key, raw)
		}
	})
}

func TestListsOfWordsAreSplit(t *testing.T) {
	b := settings.Browser{ExtraArgs: " --lang=de\n\n--mute-audio --a=b\t"}
	check.Diff(t, "b.Args()", b.Args(), []string{"--lang=de", "--mute-audio", "--a=b"})
	v := settings.Voice{
		Names: "robo,  Frau Clank ,,x", AllowedChannels: "123456789012345678",
		BlockedChannels: "223456789012345678 323456789012345678",
	}
	check.Diff(t, "v.NameList()", v.NameList(), []string{"robo", "Frau Clank", "x"})
	if allowed, blocked := v.Channels(); len(allowed) != 1 || len(blocked) != 2 {
		t.Errorf("%v, %v", allowed, blocked)
	}
}

var update = flag.Bool("update", false, "write testdata/fields.txt anew")

// A limit or a default that changes must be meant: it changes this file, too.
func TestLimitsAndDefaultsAreThoseOfTheList(t *testing.T) {
	var b strings.Builder
	for _, f := range settings.Fields() {
		fmt.Fprintf(&b, "%s\t%s\t%s", f.Key, f.Kind, f.JSON(settings.Defaults()))
		if f.Min != 0 || f.Max != 0 {
			fmt.Fprintf(&b, "\t%d to %d", f.Min, f.Max)
		}
		if f.MaxLen != 0 {
			fmt.Fprintf(&b, "\tat most %d characters", f.MaxLen)
		}
		for _, o := range f.Options {
			fmt.Fprintf(&b, "\t%s", o.Value)
		}
		if f.Optional {
			b.WriteString("\tmay be empty")
		}
		b.WriteString("\n")
	}
	const path = "testdata/fields.txt"
	if *update {
		check.Must(t, os.WriteFile(path, []byte(b.String()), 0o600))
	}
	want, err := os.ReadFile(path)
	check.Must(t, err)
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(b.String(), "\n")); diff != "" {
		t.Errorf("fields (-want +got; -update writes them anew):\n%s", diff)
	}
}

func TestALimitHoldsAtItsEnds(t *testing.T) {
	for _, f := range settings.Fields() {
		if f.Kind != settings.KindNumber && f.Kind != settings.KindDuration {
			continue
		}
		l := open(t, &memory{})
		for value, fits := range map[int]bool{f.Min: true, f.Max: true, f.Min - 1: false, f.Max + 1: false} {
			_, _, err := l.Update(t.Context(), map[string]json.RawMessage{f.Key: json.RawMessage(strconv.Itoa(value))},
				l.State().Version)
			var invalid *settings.InvalidError
			if refused := errors.As(err, &invalid) &&
				slices.ContainsFunc(invalid.Fields, func(e settings.FieldError) bool {
					return e.Key == f.Key && strings.Contains(e.Why, "must be")
				}); refused == fits {
				t.Errorf("%s = %d: %v, want it to fit: %v", f.Key, value, err, fits)
			}
		}
	}
}

// isPlace reports whether e says where in the settings a value is, as the table does.
func isPlace(e ast.Expr) bool {
	if s, ok := e.(*ast.SelectorExpr); ok {
		return isPlace(s.X)
	}
	root, ok := e.(*ast.Ident)
	return ok && root.Name == "at"
}

// A setting that nothing reads promises what is not so.
func TestEverySettingIsReadSomewhere(t *testing.T) {
	read := map[string]bool{}
	check.Must(t, filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "test", !strings.HasSuffix(path, ".go"), strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err == nil {
			ast.Inspect(file, func(n ast.Node) bool {
				s, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				read[s.Sel.Name] = read[s.Sel.Name] || !isPlace(s)
				return !isPlace(s)
			})
		}
		return err
	}))
	var leaves func(path string, in reflect.Type)
	leaves = func(path string, in reflect.Type) {
		for f := range in.Fields() {
			if f.Type.Kind() == reflect.Struct {
				leaves(path+f.Name+".", f.Type)
			} else if !read[f.Name] && path != "Approval." { // whose rules are read by the names of their classes
				t.Errorf("nothing reads %s%s", path, f.Name)
			}
		}
	}
	leaves("", reflect.TypeFor[settings.Settings]())
}
