// Package hub is the emulator's world and its main gateway: who is connected, what they are told of changes, and what they may ask
// for there, voice states and streams included.
//
// It is not for requests, which package rest answers with it, nor for tests, which speak to package discordtest.
package hub
