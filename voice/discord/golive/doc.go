// Package golive shows pictures as a Go Live stream: asked for over the main gateway, sent over a second
// voice connection with encryption of its own.
//
// Discord lets no bot do this, so it uses an account of the operator's, never the bot's token, and is off
// by default. A refusal is found out within ten seconds, and a link is given instead. The account sits in
// the call but counts as nobody. Where UDP does not get through, Discord's WebRTC mode is the other way.
// The preview is a frame of the stream, renewed every five minutes; the stream does not depend on it.
package golive

// Warning is what the operator is told wherever Go Live is switched on.
const Warning = "Go Live uses an account of its own. Discord does not let bots go live, and its rules forbid " +
	"programs to work an account of a person: Discord may end that account at any time. Leave this off unless Discord " +
	"has allowed it for the account."
