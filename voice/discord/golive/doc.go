// Package golive shows video as a Go Live stream, which is requested over the main gateway and sent over a second voice
// connection with its own encryption.
//
// Discord does not allow bots to do this, so it uses an account of the operator's, never the bot's token, and is off by
// default. A refusal is detected within ten seconds, and a link is offered instead. The account is in the call but does
// not count as a participant. If UDP is blocked, Discord's WebRTC mode is used. The preview is a frame of the stream,
// updated every five minutes; the stream does not depend on it.
package golive

// Warning is shown to the operator wherever Go Live is switched on.
const Warning = "Go Live uses an account of its own. Discord does not let bots go live, and its rules forbid " +
	"programs to work an account of a person: Discord may end that account at any time. Leave this off unless Discord " +
	"has allowed it for the account."
