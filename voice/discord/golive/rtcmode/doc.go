// Package rtcmode is the transport of a voice connection in Discord's WebRTC mode, for one that only publishes: a Go Live stream. The
// gateway is given a few lines of our offer and answers with a few lines of its own, from which each side makes up the session
// description that it needs.
//
// It encrypts nothing from end to end and knows no operation of the gateway: package media does. It takes no media of others, so nobody
// can listen by it.
package rtcmode
