// Package browseagent is the backend in which a language model operates a browser with small tools: it opens, clicks,
// types and reads, sees what changed after each action, and answers when it knows enough.
//
// The loop is in run.go: ask, act, record, check the budget. Tool failures are returned to the model; internal
// failures end the run. Actions that need no approval are judged and performed in one call to the page; for the
// others people are asked, and exactly what they approved is performed. Notes from people reach the model before its
// next call. The package talks to no browser and no vendor directly. Models that work from screenshots belong in
// computeruse.
package browseagent
