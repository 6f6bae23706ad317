// Package senders knows who sends what we hear on one voice connection: whose
// a source of packets is, how well it comes through (RFC 3550), and how much
// work one person may make.
//
// It reads no packets and decrypts none. It has no lock: its owner has one.
package senders
