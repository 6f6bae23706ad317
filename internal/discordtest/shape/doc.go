// Package shape is what Discord's objects look like, on the wire and in the emulator's memory, and what the API refuses: limits of
// messages, components and commands, permissions, errors. It decides without knowing what else exists, and sends nothing.
//
// Tests find its names in package discordtest.
package shape
