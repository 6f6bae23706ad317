// Package recording stores what happened in a task as a bundle: steps, model calls, page states, images and times,
// without the vault's secrets. It also replays a bundle on live pages and converts it to a script.
//
// A bundle is a directory with run.jsonl and images named by their SHA-256; lines are only appended, except when a
// password is found out later. The recorder wraps backend, model and browser, as the budget does. A replay feeds the
// recorded answers to the same loop and reports where pages differ; it needs no model. A script is editable text,
// with parameters for typed texts.
package recording
