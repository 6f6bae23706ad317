// Package actiontable describes every action on a browser once: its kind, its fields with their types and limits, how long
// it may take, and the words that explain it. The control API and its OpenAPI document, the browser tool, the agent's
// tools, the command line and the waits of clients are made from [Specs]. To add an action, add a row and what performs it.
//
// It performs nothing and knows no browser, so that clients can link it.
package actiontable
