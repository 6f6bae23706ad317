// Package conversation implements the conversation in one call: who speaks to us, what is answered, who may interrupt
// and stop it, and who has opted out. It also keeps the open calls, ends them, and has the texts for people.
//
// One loop owns all state of a call; slow work runs in other goroutines and returns as a message. Speech is for us if
// it has our name, if its speaker is alone in the call, or if it follows an answer within some seconds. Answers are
// spoken sentence by sentence while the model writes; what is unfit for speech is written to the chat, and the way the
// answer is split into pieces changes nothing. Speech during an answer pauses it immediately; 400 ms of speech ends it.
// Our own speech that comes back through a microphone is recognized by words and time. A stop ends everything in the
// channel if it names us or only one person is there; otherwise it ends what its speaker asked for. A reply can be
// stopped until the loop handles its result. What is heard is not stored unless the operator enables that.
package conversation
