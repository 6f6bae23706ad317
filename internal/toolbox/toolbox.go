// Package toolbox makes the tool "browser" for brains and for programs that speak the Model Context Protocol: at which browsers,
// with which eyes, as the settings have it. What the tool does is package browsertool's business.
package toolbox

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"clank/brain"
	"clank/browsertool"
	"clank/browsertool/node"
	"clank/browsertool/remote"
	"clank/internal/asking"
	"clank/llm"
	"clank/sessions"
	"clank/settings"
)

// Box makes the tool "browser" for brains and for MCP clients.
type Box struct {
	Control  *remote.Caller      // the control API of this machine
	Host     *browsertool.Target // the same, as a place for the tool
	Settings func() settings.Settings
	Secret   func(name string) (settings.SecretValue, error)
	Model    func(ctx context.Context, name string) (llm.Model, error)
	// Speak makes the calls with a context those on behalf of a speaker.
	Speak func(ctx context.Context, sp asking.Speaker) (call context.Context, leave func())
	// MayUse says whether somebody may work in the profile that the tool uses for brains.
	MayUse func(o sessions.Origin) bool

	lent string // folder for files that nodes and the sandbox send

	mu       sync.Mutex
	sessions map[string]*browsertool.Session // by conversation
}

// New makes one for a control API at url. home is where its files lie.
func New(home, url, token string) *Box {
	api := &remote.Caller{URL: url, Token: token}
	return &Box{
		Control: api,
		Host: &browsertool.Target{
			Caller: api,
			Media:  []string{filepath.Join(home, "pictures"), filepath.Join(home, "downloads"), filepath.Join(home, "traces")},
		},
		lent:     filepath.Join(home, "lent"),
		sessions: map[string]*browsertool.Session{},
	}
}

// Tool is the tool as the settings have it now.
func (b *Box) Tool(ctx context.Context) (*browsertool.Tool, error) {
	s := b.Settings()
	t := &browsertool.Tool{
		Targets: browsertool.Targets{
			Host: b.Host, AllowHostControl: s.Tool.AllowHost, NodeMode: s.Tool.NodeMode, Node: s.Tool.Node,
		},
		EvaluateEnabled: func() bool { return b.Settings().Browser.EvaluateEnabled },
		SnapshotMode:    func() string { return b.Settings().Browser.SnapshotMode },
		Thinking:        func() time.Duration { return maxQuestions * b.Settings().Asking.Wait },
	}
	if err := b.addPlaces(t, s); err != nil {
		return nil, err
	}
	if s.Tool.VisionModel == "" {
		return t, nil
	}
	m, err := b.Model(ctx, s.Tool.VisionModel)
	if err != nil {
		return nil, err
	}
	t.Vision = &browsertool.Vision{Describer: browsertool.ModelDescriber{Model: m}, Prompt: s.Tool.VisionPrompt, MaxBytes: s.Tool.VisionBytes}
	return t, nil
}

// addPlaces adds the sandbox and the nodes.
func (b *Box) addPlaces(t *browsertool.Tool, s settings.Settings) error {
	if s.Tool.SandboxURL != "" {
		token, err := b.Secret("CLANK_SANDBOX_TOKEN")
		if err != nil {
			return err
		}
		t.Targets.Sandbox = &browsertool.Target{Caller: &remote.Caller{URL: s.Tool.SandboxURL, Token: token.Reveal()}, Media: []string{b.lent}}
	}
	nodes := s.Tool.NodeList()
	if len(nodes) == 0 {
		return nil
	}
	token, err := b.Secret("CLANK_NODE_TOKEN")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(b.lent, 0o700); err != nil {
		return err
	}
	t.Targets.Nodes = func(context.Context) ([]browsertool.Target, error) {
		var out []browsertool.Target
		for _, n := range nodes {
			caller := &node.Client{Proxy: &remote.Caller{URL: n.URL, Token: token.Reveal()}, Dir: b.lent}
			out = append(out, browsertool.Target{ID: n.Name, Name: n.Name, Caller: caller, Media: []string{b.lent}, Slack: node.Slack})
		}
		return out, nil
	}
	return nil
}

// BrainTools offers the tool to the brain, if the setting says so.
func (b *Box) BrainTools(ctx context.Context, o sessions.Origin) []brain.Tool {
	if !b.Settings().BrainBrowser || !b.MayUse(o) {
		return nil
	}
	t, err := b.Tool(ctx)
	if err != nil {
		return nil // the model asked for pictures is not there; the browse remains
	}
	return []brain.Tool{{
		Tool: t.Definition(browsertool.Capability{}),
		Call: func(ctx context.Context, o sessions.Origin, input json.RawMessage) (string, []llm.Image, error) {
			ctx, leave := b.Speak(ctx, asking.Speaker{Origin: o, Session: "conversation " + conversation(o)})
			defer leave()
			r, err := b.session(t, o).Run(ctx, input)
			if err != nil {
				return "", nil, err
			}
			out := r.ForModel("")
			if out.IsError {
				return "", nil, toolError(out.Text)
			}
			return out.Text, out.Images, nil
		},
	}}
}

// toolError is a failure that the tool has put into words.
type toolError string

func (e toolError) Error() string { return string(e) }

// session is the one of a conversation: its tabs stay until the program ends or they are swept for idleness.
func (b *Box) session(t *browsertool.Tool, o sessions.Origin) *browsertool.Session {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := conversation(o)
	s := b.sessions[key]
	if s == nil {
		s = &browsertool.Session{Tool: t}
		b.sessions[key] = s
	}
	return s
}

// conversation names where somebody speaks with the brain.
func conversation(o sessions.Origin) string {
	return strings.Join([]string{string(o.Kind), o.Guild, o.Channel}, "/")
}

// maxQuestions is how many questions one call of the tool may wait for.
const maxQuestions = 3

// Close closes the tabs of all conversations, and forgets the files that others sent.
func (b *Box) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.sessions {
		_ = s.Close(ctx) // the browsers end anyway
	}
	return os.RemoveAll(b.lent)
}
