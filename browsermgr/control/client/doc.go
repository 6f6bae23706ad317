// Package client speaks to a control server: it finds the server and its secret, sends one request per call, and says
// why there is no answer. It is for commands and for nodes.
//
// Files whose paths the server answers with lie on the server's machine.
package client
