// Package conversation is the conversation in one call: who is spoken to, what is answered, who may
// interrupt and stop it, who is left out; plus which calls are open, when one ends by itself, and what it
// says of itself.
//
// One loop owns all state of a call; what takes time runs beside it and comes back as a message. Who is
// spoken to is decided by name, by being alone in the call, or by going on within some seconds of an
// answer. Answers are spoken sentence by sentence while the model writes; what is unfit for speech is read
// as one piece or many with the same result. Somebody who speaks into it pauses us at once; 400 ms of
// speech makes us give way. Our own speech, back through a microphone, is known by words and time. Who
// names us, or is the only person there, stops everything of the channel; others what they asked for. A
// reply can be stopped until the loop takes in its outcome. It keeps nothing it hears unless told to.
package conversation
