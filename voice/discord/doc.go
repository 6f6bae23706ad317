// Package discord implements calls in Discord's voice channels: it knows who is where, joins over the main gateway, and
// provides our end of the call.
//
// discordgo only transmits the request to join (op 4) and its two answers. The voice connection is our own, because
// Discord closes voice connections without DAVE (close code 4017) and discordgo has neither DAVE nor gateway v8. The
// close code decides what happens next: resume, identify again, wait for a move, or give up.
package discord
