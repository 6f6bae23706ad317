// Package browseagent is the backend in which a language model works a browser with small tools: it opens, clicks,
// types and reads, sees after each action what changed, and answers when it knows enough.
//
// The loop is in run.go: ask, act, record, check the budget. A tool's failure goes back to the model; our own failure
// ends the run. An action is judged and done in one look if it sets nothing off; else people are asked, and what they
// agreed to is what is done. What people say meanwhile reaches the model before its next question. It speaks to no
// browser and no vendor. Models that look at pictures belong in computeruse.
package browseagent
