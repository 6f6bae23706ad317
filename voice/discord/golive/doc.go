// Package golive shows pictures as a Go Live stream in a voice channel of Discord: the stream is asked for over the main gateway, and its
// pictures go over a second voice connection with an end-to-end encryption of its own.
//
// Discord lets no bot do this. It needs an account of the operator's, with a credential of its own that is never the bot's, and it is
// off unless the operator switches it on: see [Warning]. A refusal is found out within seconds and told, so that something else can be
// shown instead. What the pictures are is not known here.
package golive

// Warning is what the operator is told wherever Go Live is switched on.
const Warning = "Go Live uses an account of its own. Discord does not let bots go live, and its rules forbid programs to work an account of a person: " +
	"Discord may end that account at any time. Leave this off unless Discord has allowed it for the account."
