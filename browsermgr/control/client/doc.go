// Package client speaks to a control server: it finds the server and its secret, sends one request for each call, and
// says truly why there is no answer. It is for the command line and for other programs of ours that use a browser which
// a server keeps. It is not for serving, and it does not touch the files whose paths the server answers with: these lie
// on the server's machine.
package client
