// Package endurance is a network in memory and calls held over it for simulated hours: joins, moves, broken
// sockets, loss. Nothing may grow, and nothing may stutter but what the network lost.
package endurance
