// Package dashboard is the operator's web page and its API: a chat that is the channel for people without
// Discord, the settings, budgets, watches and the call page.
//
// It listens on loopback and asks everybody who they are. A browser that has signed in keeps a key in the storage of
// the page's origin and sends it with each request: there is no cookie for other ports to learn or replace. The list of
// routes is one table. Settings carry the version they were made from, so two people cannot overwrite each other. It
// runs nothing itself: tasks belong to the Manager.
package dashboard
