// Package pageorigin distinguishes requests of local programs and of our own pages from those of other web pages, for
// every HTTP server of clank, and sets the headers that isolate our pages from others. Authorization is the task of
// sessions/access. It imports no other package of clank, because every command line uses it.
package pageorigin
