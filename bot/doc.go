// Package bot is the Discord front end: the /clank commands, conversations with people who mention the bot
// or write to it, messages that show progress, buttons, stop words and files.
//
// It works for the servers, channels and people that the access rules allow, and asks again for each
// action. Work is registered in cancel.Scopes before anything else, so a stop finds it while it is queued.
// A message that is a stop phrase is checked before all else. A private task is shown to one person only.
// Messages are plain text with rows of buttons, which every client shows and notifications quote. The list of
// sessions alone is laid out with Discord's newer components: there each text needs its own buttons.
// It knows no model and no browser. Calls are not its business, but it lends them its gateway connection.
package bot
