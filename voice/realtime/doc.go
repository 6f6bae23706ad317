// Package realtime lets a model that hears and speaks by itself take part in a call, over OpenAI's Realtime API.
//
// It replaces transcription, assistant and synthesis, with the same tools; the keyword spotter continues to work. How
// much of an interrupted answer was heard is known from what was played. The server hears a mix of all speakers, so the
// package records who could be heard at each position of the stream and names the people who may have said an
// utterance; a stop that several people may have said counts. After a lost connection the conversation continues on a
// new one.
package realtime
