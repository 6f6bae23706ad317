// Package actiontable describes every browser action once: its kind, its fields with their types and limits, its time
// limit, and its documentation. The control API and its OpenAPI document, the browser tool, the agents' tools, the
// command line and clients' timeouts are generated from [Specs]. To add an action, add a row and the code that performs
// it.
//
// The package performs nothing and does not depend on a browser, so that clients can link it.
package actiontable
