// Package pageorigin tells requests of this machine's programs and of our own pages from those that web pages from elsewhere
// have made, for every HTTP server here, and sets the headers that keep our pages apart from others. Who may do what is
// sessions/access's task. It imports nothing of ours: the command line has it in every start.
package pageorigin
