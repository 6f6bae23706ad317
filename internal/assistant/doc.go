// Package assistant talks with people: given a conversation it decides whether a browser is needed, sends
// the agent off, and answers in words and pictures. The bot, the dashboard and calls use it.
//
// Reading a page without a browser and searching are its tools, so no browser starts where that is enough.
// "continue" and "now the second one" find the session of that person in that channel. It writes while its
// model writes, so calls can speak early. It does not know where a conversation takes place.
package assistant
