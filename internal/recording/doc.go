// Package recording keeps what happened in a task as a bundle: steps, questions, answers, page states, pictures and
// times, without the vault's secrets. It also replays a bundle on live pages, and makes scripts of it.
//
// A bundle is a directory with run.jsonl and pictures by their SHA-256; lines are only added, except a
// password found out later. It stands around backend, model and browser like the budget does. A replay
// gives the recorded answers to the same loop, and says where a page differs; it needs no model. A script
// is text that people edit, with parameters for what was typed.
package recording
