package sessionstest

import (
	"context"

	"clank/llm"
	"clank/sessions"
)

// AssistantHost provides an assistant with a model, or none. It implements assistant.Host.
type AssistantHost struct{ LLM llm.Model }

// Model implements assistant.Host.
func (h AssistantHost) Model(context.Context) (llm.Model, error) { return h.LLM, nil }

// Tools implements assistant.Host.
func (AssistantHost) Tools(context.Context, sessions.Origin) []sessions.Tool { return nil }

// SingleCallTools implements assistant.Host.
func (AssistantHost) SingleCallTools(context.Context, sessions.Origin) []sessions.Tool { return nil }

// Disabled implements assistant.Host.
func (AssistantHost) Disabled() string { return "" }

// Instructions implements assistant.Host.
func (AssistantHost) Instructions() string { return "" }
