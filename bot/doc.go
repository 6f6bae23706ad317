// Package bot is the Discord front end: the /clank commands, conversations with people who mention the bot or write to
// it, progress messages, buttons, stop words and files.
//
// It serves the servers, channels and people that the access rules allow, and checks them for each action. Work is
// registered in cancel.Scopes before anything else, so a stop finds it even while it is queued. Messages are checked
// for stop phrases before anything else. A private task is only visible to one person. Messages are plain text with
// rows of buttons, which every client shows and notifications quote. Only the list of sessions uses Discord's newer
// components, because each text in it needs its own buttons. The package knows no models and no browsers. It does not
// handle calls, but provides its gateway connection to them.
package bot
