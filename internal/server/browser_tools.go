package server

import (
	"context"
	"encoding/json"
	"fmt"
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

// BrowserTools creates the tool "browser" for the assistant and for MCP clients.
type BrowserTools struct {
	ControlAPI *browsertool.APIClient // of this machine
	HostTarget *browsertool.Target    // the same, as a target of the tool
	Settings   SettingsSource
	Getenv     func(string) string // the environment and the vault's service keys
	Callers    *ToolCallers        // on whose behalf the tool is used

	receivedDir string // folder for files from nodes and the sandbox

	mu       sync.Mutex
	sessions map[string]*toolConversation // by conversationKey
}

// NewBrowserTools returns BrowserTools for the control API at url. home is the directory of its files.
func NewBrowserTools(home, url, token string) *BrowserTools {
	api := &browsertool.APIClient{URL: url, Token: token}
	return &BrowserTools{
		ControlAPI: api,
		HostTarget: &browsertool.Target{
			API: api,
			Media: []string{
				filepath.Join(home, picturesFolder), filepath.Join(home, downloadsFolder), filepath.Join(home, tracesFolder),
			},
		},
		receivedDir: filepath.Join(home, lentFolder),
		sessions:    map[string]*toolConversation{},
	}
}

// NewTool returns the tool with the current settings.
func (b *BrowserTools) NewTool(context.Context) (*browsertool.Tool, error) {
	s := b.Settings.Current()
	t := &browsertool.Tool{
		Targets: browsertool.Targets{
			Host: b.HostTarget, AllowHostControl: s.BrowserTool.AllowHost, NodeMode: s.BrowserTool.NodeMode,
			Node: s.BrowserTool.Node,
		},
		Settings: browserSettings{b.Settings},
	}
	if err := b.addRemoteTargets(t, s); err != nil {
		return nil, err
	}
	return t, nil
}

// addRemoteTargets adds the sandbox and the nodes as targets.
func (b *BrowserTools) addRemoteTargets(t *browsertool.Tool, s settings.Settings) error {
	if s.BrowserTool.SandboxURL != "" {
		token, err := settings.ReadSecret("CLANK_SANDBOX_TOKEN", b.Getenv)
		if err != nil {
			return err
		}
		t.Targets.Sandbox = &browsertool.Target{API: &browsertool.APIClient{
			URL:   s.BrowserTool.SandboxURL,
			Token: token.Reveal(),
		}, Media: []string{b.receivedDir}}
	}
	nodes := s.BrowserTool.NodeList()
	if len(nodes) == 0 {
		return nil
	}
	token, err := settings.ReadSecret("CLANK_NODE_TOKEN", b.Getenv)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(b.receivedDir, 0o700); err != nil {
		return err
	}
	t.Targets.Nodes = func(context.Context) ([]browsertool.Target, error) {
		if !token.IsSet() {
			return nil, fmt.Errorf("%w for this clank: set it to the same secret as on the nodes", errNoNodeToken)
		}
		var out []browsertool.Target
		for _, n := range nodes {
			caller := &browsertool.NodeClient{
				Proxy: &browsertool.APIClient{URL: n.URL, Token: token.Reveal()},
				Dir:   b.receivedDir,
			}
			out = append(out, browsertool.Target{
				ID: n.Name, Name: n.Name, API: caller, Media: []string{b.receivedDir},
				Slack: browsertool.NodeSlack,
			})
		}
		return out, nil
	}
	return nil
}

// AssistantTools returns the tool for the assistant, if enabled. Its calls are restricted to the profiles of the
// requester and to tabs of their own.
func (b *BrowserTools) AssistantTools(ctx context.Context, o sessions.Origin) []sessions.Tool {
	if !b.Settings.Current().AssistantBrowser {
		return nil
	}
	if _, err := b.profile(o, ""); err != nil {
		return nil
	}
	t, err := b.NewTool(ctx)
	if err != nil {
		return nil // the assistant works without this tool; it can still browse
	}
	return []sessions.Tool{{
		Tool: t.Definition(),
		Call: func(ctx context.Context, o sessions.Origin, input json.RawMessage) (string, []llm.Image, error) {
			if !b.Settings.Current().AssistantBrowser {
				return "", nil, toolError("the browser tool was switched off in the settings")
			}
			t, err := b.NewTool(ctx) // the settings may have changed during the conversation
			if err != nil {
				return "", nil, err
			}
			ctx, leave := b.Callers.Register(ctx, ToolCaller{Origin: o, Session: "conversation " + conversationKey(o)})
			defer leave()
			guest := &browsertool.Guest{Profile: func(want string) (string, error) { return b.profile(o, want) }}
			r, err := b.sessionFor(ctx, o).RunAs(ctx, t, guest, input)
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

// profile returns the profile for a person who asks for want, or for none; its error is the refusal.
func (b *BrowserTools) profile(o sessions.Origin, want string) (string, error) {
	return toolProfile(b.Settings.For(o.Guild), o, want)
}

// toolError is a failure described by the tool.
type toolError string

func (e toolError) Error() string { return string(e) }

// toolConversation is the tabs of a conversation and the time of their last use.
type toolConversation struct {
	*browsertool.Session
	used time.Time
}

// conversationLife is how long a conversation keeps its tabs without using them.
const conversationLife = 2 * time.Hour

// sessionFor returns the session of a conversation, and closes those that have expired.
func (b *BrowserTools) sessionFor(ctx context.Context, o sessions.Origin) *browsertool.Session {
	b.mu.Lock()
	key, now := conversationKey(o), time.Now()
	c := b.sessions[key]
	if c == nil {
		c = &toolConversation{Session: &browsertool.Session{}}
		b.sessions[key] = c
	}
	c.used = now
	var idle []*toolConversation
	for k, other := range b.sessions {
		if now.Sub(other.used) > conversationLife {
			idle = append(idle, other)
			delete(b.sessions, k)
		}
	}
	b.mu.Unlock()
	for _, other := range idle {
		_ = other.Close(ctx) // most tabs are already closed
	}
	return c.Session
}

// conversationKey identifies the person and place of a conversation with the assistant: people in the same channel do
// not share tabs or approvals.
func conversationKey(o sessions.Origin) string {
	return strings.Join([]string{string(o.Kind), o.Guild, o.Channel, o.User}, "/")
}

// maxQuestionsPerCall is the maximum number of questions that one call of the tool waits for.
const maxQuestionsPerCall = 3

// Close closes the tabs of all conversations and removes received files.
func (b *BrowserTools) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.sessions {
		_ = s.Close(ctx) // the browsers close anyway
	}
	return os.RemoveAll(b.receivedDir)
}
