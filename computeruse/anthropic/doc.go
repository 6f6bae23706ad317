// Package anthropic implements computer use with Claude: it offers the vendor's tools for a screen or for a browser,
// decodes their actions, and keeps the conversation with its thinking blocks, unchanged, as the vendor requires.
//
// Requests are made by llm/anthropic.
package anthropic
