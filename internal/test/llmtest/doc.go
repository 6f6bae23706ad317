// Package llmtest is scripted model servers over real HTTP and SSE, in the dialects of OpenAI, Anthropic,
// Gemini and Realtime, which misbehave on demand. All dialects share one player; each brings its wire
// format and what its vendor refuses.
package llmtest
