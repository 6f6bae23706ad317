// Package discord is calls in Discord's voice channels: who is where, how we join over the main gateway,
// and our end of the call.
//
// discordgo only carries the wish to join (op 4) and the two answers; the voice leg is ours, because
// Discord closes voice connections without DAVE (close code 4017) and discordgo has neither DAVE nor
// gateway v8. Each close code means something: resume, begin anew, wait to be moved, give up.
package discord
