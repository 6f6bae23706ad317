// Package cancel stops work that people asked for: it records which work runs in which channel, who may stop it and
// which phrases mean "stop", and passes the reason on as the cause of the work's context.
//
// Phrases exist in English, Spanish, German, French, Portuguese and Japanese, and are never mixed. The package sends
// no messages.
package cancel
