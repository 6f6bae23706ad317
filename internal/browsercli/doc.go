// Package browsercli is the command line of the managed browser: `clank browser …` and the shell completions. One table
// describes every command: its arguments and flags, the request it makes, what it prints. Parsing, help and completion
// are made from that table. Each command sends one request to a control server and prints its answer. The package is not
// for starting servers or browsers itself.
package browsercli
