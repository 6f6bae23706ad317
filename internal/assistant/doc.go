// Package assistant talks with people: given a conversation it decides whether a browser is needed, starts the agent,
// and answers with text and images. The bot, the dashboard and calls use it.
//
// Reading a page without a browser and searching are among its tools, so no browser starts if they suffice.
// "continue" and "now the second one" refer to the session of that person in that channel. It streams its text, so
// calls can start speaking early. It does not know where a conversation takes place.
package assistant
