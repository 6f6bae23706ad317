// Package anthropic talks to Anthropic's Messages API and gateways that speak it. It has its own types: the
// vendor's library costs 8 MB and is used in tests with the build tag peers.
//
// Calls are streamed. Thinking is kept as it came and sent back unchanged; prompts are marked for the
// vendor's cache. Computer use is in computeruse/anthropic.
package anthropic
