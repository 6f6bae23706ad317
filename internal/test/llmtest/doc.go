// Package llmtest provides scripted model servers over real HTTP and SSE, in the formats of OpenAI, Anthropic, Gemini
// and the Realtime API, with faults on demand. All formats share one player; each adds its wire format and its
// vendor's checks.
package llmtest
