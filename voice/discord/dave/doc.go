// Package dave is Discord's end-to-end encryption of calls, version 1: a group that agrees on keys over MLS
// (RFC 9420) with the help of the voice gateway, and the encryption of frames.
//
// It uses exported functions of mls-go only. That library copies group extensions into the Welcome's
// GroupInfo, where strict members refuse them, so we make the GroupInfo ourselves: a Welcome for a probe
// whose key we have gives the joiner's secrets, which are then encrypted to those who join. One commit
// covers adds and removes. Keys change at the executed transition for what we send and are kept ten seconds
// for what we get; meanwhile frames wait, none is sent in the clear. A failed handshake is told to the
// gateway (op 31) and begins anew by itself. It opens no sockets.
package dave
