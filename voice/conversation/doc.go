// Package talk is the conversation in one call: who is spoken to, what is answered and said, who may interrupt and stop
// it, and who is not heard at all.
//
// A [Talk] sits between a [voice.Line] and a [Replier]. It does not know what carries the call, how speech is
// recognised or made, or how a browser is worked, and it keeps nothing of what it hears unless it is told to.
package conversation
