// Package realtime lets a model that hears and speaks by itself take part in a call, over OpenAI's Realtime
// API.
//
// It stands in for transcription, assistant and synthesis, with the same tools; the keyword spotter continues
// beside it. What had been heard when it was interrupted is counted by what was played. The server hears a
// mix, so the package remembers who could be heard at which place of the stream and names those who may
// have said an utterance; a stop that several may have said counts. A lost connection is made again with
// the conversation.
package realtime
