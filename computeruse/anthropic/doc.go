// Package anthropic is Claude as a Mind: it offers the vendor's tools for a screen or for a browser, reads its actions,
// and keeps the conversation with its thinking blocks, unchanged, as the vendor wants it back.
//
// How the vendor is called is in llm/anthropic.
package anthropic
