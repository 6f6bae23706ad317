// Package dave implements version 1 of Discord's end-to-end encryption of calls: a group that agrees on keys over MLS
// (RFC 9420) with the help of the voice gateway, and the encryption of frames.
//
// It uses only exported functions of mls-go. That library copies group extensions into the Welcome's GroupInfo, where
// strict members refuse them, so we create the GroupInfo ourselves: a Welcome for a probe whose key we have yields the
// joiner's secrets, which are then encrypted to the new members. One commit covers adds and removes. When a transition
// is executed, we send with the new keys; for receiving, old keys are kept for ten seconds. Meanwhile frames wait, and
// none is sent unencrypted. A failed handshake is reported to the gateway (op 31) and repeated. The package opens no
// sockets.
package dave
