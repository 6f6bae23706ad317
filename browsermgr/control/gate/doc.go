// Package gate decides who may speak to the control API: programs of this machine that know its secret, and no web page.
//
// Host holds off pages whose name was pointed here, Mutations those that send what they cannot read the answer of, and
// Secrets those who do not know the secret. The package knows no routes.
package gate
