// Package dashboard is the operator's web interface and its API: a chat for people without Discord, settings,
// budgets, watches and the call page.
//
// It listens on loopback and authenticates every request. A signed-in browser stores its key in the storage of the
// page's origin and sends it with each request: there is no cookie that servers on other ports could read or replace.
// All routes are in one table. A change of settings names the version it is based on, so two people cannot overwrite
// each other's changes. The dashboard runs no tasks itself; it passes them to the Manager.
package dashboard
