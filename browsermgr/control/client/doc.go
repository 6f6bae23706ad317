// Package client is a client for control servers: it finds the server and its secret, sends one request per call, and
// explains missing responses. It is used by commands and by nodes.
//
// Paths of files in responses are on the server's machine.
package client
