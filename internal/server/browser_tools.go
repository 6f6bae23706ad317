package server

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"clank/browseagent/browsertool"
	"clank/internal/settings"
	"clank/llm"
	"clank/sessions"
)

// BrowserTools makes the tool "browser" for brains and for MCP clients.
type BrowserTools struct {
	ControlAPI *browsertool.APIClient // the control API of this machine
	HostTarget *browsertool.Target    // the same, as a place for the tool
	Settings   func() settings.Settings
	Secret     func(name string) (settings.SecretValue, error)
	Model      func(ctx context.Context, name string) (llm.Model, error)
	// RegisterCaller makes the calls with a context those on behalf of a speaker.
	RegisterCaller func(ctx context.Context, sp ToolCaller) (call context.Context, leave func())
	// MayUseProfile says whether somebody may work in the profile that the tool uses for brains.
	MayUseProfile func(o sessions.Origin) bool

	receivedDir string // folder for files that nodes and the sandbox send

	mu       sync.Mutex
	sessions map[string]*browsertool.Session // by conversation
}

// NewBrowserTools makes one for a control API at url. home is where its files lie.
func NewBrowserTools(home, url, token string) *BrowserTools {
	api := &browsertool.APIClient{URL: url, Token: token}
	return &BrowserTools{
		ControlAPI: api,
		HostTarget: &browsertool.Target{
			API:   api,
			Media: []string{filepath.Join(home, "pictures"), filepath.Join(home, "downloads"), filepath.Join(home, "traces")},
		},
		receivedDir: filepath.Join(home, "lent"),
		sessions:    map[string]*browsertool.Session{},
	}
}

// NewTool returns the tool as the settings have it now.
func (b *BrowserTools) NewTool(ctx context.Context) (*browsertool.Tool, error) {
	s := b.Settings()
	t := &browsertool.Tool{
		Targets: browsertool.Targets{
			Host: b.HostTarget, AllowHostControl: s.BrowserTool.AllowHost, NodeMode: s.BrowserTool.NodeMode, Node: s.BrowserTool.Node,
		},
		EvaluateEnabled: func() bool { return b.Settings().Browser.EvaluateEnabled },
		SnapshotMode:    func() string { return b.Settings().Browser.SnapshotMode },
		ApprovalWait:    func() time.Duration { return maxQuestionsPerCall * b.Settings().Approval.Wait },
	}
	if err := b.addRemoteTargets(t, s); err != nil {
		return nil, err
	}
	if s.BrowserTool.VisionModel == "" {
		return t, nil
	}
	m, err := b.Model(ctx, s.BrowserTool.VisionModel)
	if err != nil {
		return nil, err
	}
	t.Vision = &browsertool.Vision{Model: m, Prompt: s.BrowserTool.VisionPrompt, MaxBytes: s.BrowserTool.VisionBytes}
	return t, nil
}

// addRemoteTargets adds the sandbox and the nodes.
func (b *BrowserTools) addRemoteTargets(t *browsertool.Tool, s settings.Settings) error {
	if s.BrowserTool.SandboxURL != "" {
		token, err := b.Secret("CLANK_SANDBOX_TOKEN")
		if err != nil {
			return err
		}
		t.Targets.Sandbox = &browsertool.Target{API: &browsertool.APIClient{URL: s.BrowserTool.SandboxURL, Token: token.Reveal()}, Media: []string{b.receivedDir}}
	}
	nodes := s.BrowserTool.NodeList()
	if len(nodes) == 0 {
		return nil
	}
	token, err := b.Secret("CLANK_NODE_TOKEN")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(b.receivedDir, 0o700); err != nil {
		return err
	}
	t.Targets.Nodes = func(context.Context) ([]browsertool.Target, error) {
		var out []browsertool.Target
		for _, n := range nodes {
			caller := &browsertool.NodeClient{Proxy: &browsertool.APIClient{URL: n.URL, Token: token.Reveal()}, Dir: b.receivedDir}
			out = append(out, browsertool.Target{ID: n.Name, Name: n.Name, API: caller, Media: []string{b.receivedDir}, Slack: browsertool.NodeSlack})
		}
		return out, nil
	}
	return nil
}

// AssistantTools offers the tool to the brain, if the setting says so.
func (b *BrowserTools) AssistantTools(ctx context.Context, o sessions.Origin) []sessions.Tool {
	if !b.Settings().AssistantBrowser || !b.MayUseProfile(o) {
		return nil
	}
	t, err := b.NewTool(ctx)
	if err != nil {
		return nil // the model asked for pictures is not there; the browse remains
	}
	return []sessions.Tool{{
		Tool: t.Definition(),
		Call: func(ctx context.Context, o sessions.Origin, input json.RawMessage) (string, []llm.Image, error) {
			ctx, leave := b.RegisterCaller(ctx, ToolCaller{Origin: o, Session: "conversation " + conversationKey(o)})
			defer leave()
			r, err := b.sessionFor(t, o).Run(ctx, input)
			if err != nil {
				return "", nil, err
			}
			if r.IsError {
				return "", nil, toolError(r.Text)
			}
			return r.Text, r.Images, nil
		},
	}}
}

// toolError is a failure that the tool has put into words.
type toolError string

func (e toolError) Error() string { return string(e) }

// sessionFor returns the one of a conversation: its tabs stay until the program ends or they are swept for idleness.
func (b *BrowserTools) sessionFor(t *browsertool.Tool, o sessions.Origin) *browsertool.Session {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := conversationKey(o)
	s := b.sessions[key]
	if s == nil {
		s = &browsertool.Session{Tool: t}
		b.sessions[key] = s
	}
	return s
}

// conversationKey names where somebody speaks with the brain, and who: what one person has allowed, or has open, is no
// other's in the same channel.
func conversationKey(o sessions.Origin) string {
	return strings.Join([]string{string(o.Kind), o.Guild, o.Channel, o.User}, "/")
}

// maxQuestionsPerCall is how many questions one call of the tool may wait for.
const maxQuestionsPerCall = 3

// Close closes the tabs of all conversations, and forgets the files that others sent.
func (b *BrowserTools) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.sessions {
		_ = s.Close(ctx) // the browsers end anyway
	}
	return os.RemoveAll(b.receivedDir)
}
