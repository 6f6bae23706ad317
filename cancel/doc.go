// Package cancel stops work that people asked for: it knows which work runs in which channel, who may stop
// it, what counts as "stop", and carries the reason to everything the work has started, as the cause of its
// context.
//
// Phrases exist in English, Spanish, German, French, Portuguese and Japanese, and are never mixed. It sends
// no messages.
package cancel
