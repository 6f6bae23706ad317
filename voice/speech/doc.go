// Package speech turns words into sound and sound into words: OpenAI's audio API and servers that speak it, and
// espeak-ng, a process for each text.
//
// A server of the operator's is never sent OpenAI's key. Retries are visible, as for models (llm/transport). What is
// worth hearing or saying, and what of a text can be spoken, is decided by voice/conversation.
package speech
